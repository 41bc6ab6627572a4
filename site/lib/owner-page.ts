import type { OwnerName } from '#core/address.ts'
import type { OwnerPage } from '#core/contract/owner.ts'
import type { ApiClient, ApiError } from './api-client.ts'
import { ownerHref } from './links.ts'
import { readOwner } from './read-address.ts'

/** The data of an account page. `status` is the HTTP status of the API's answer. */
export type AccountPage =
  /** A redirect: the host spells the login differently, or the account was renamed. */
  | { kind: 'moved'; location: string }
  /** `restartHref`: the first page, when another one was requested. `asked`: what the API was asked for. `missing`: it does not exist. */
  | { kind: 'problem'; status: number; error: ApiError; restartHref?: string; asked?: OwnerName; missing?: OwnerName }
  /** `number`: of the page, counted from 1. */
  | { kind: 'account'; page: OwnerPage; number: number }

/**
 * Fetches one page of an account from the API.
 *
 * @param raw `<host>/<owner>`, percent-encoded, as in the request
 */
export async function loadAccountPage(client: ApiClient, raw: string, query: URLSearchParams): Promise<AccountPage> {
  const asked = readOwner(raw)
  if ('error' in asked) return { kind: 'problem', ...asked }
  const page = query.get('page') || undefined
  const result = await client.get('owners', encodeURIComponent(asked.owner), page === undefined ? {} : { page })
  if (!result.ok) {
    const { status, error } = result
    if (error.code === 'owner.not_found') return { kind: 'problem', status, error, missing: asked }
    return { kind: 'problem', status, error, asked, ...(page === undefined ? {} : { restartHref: ownerHref(asked.owner) }) }
  }
  const { login } = result.answer.owner
  const number = Number(page ?? 1)
  if (login !== asked.owner) return { kind: 'moved', location: ownerHref(login, number) }
  return { kind: 'account', page: result.answer, number }
}
