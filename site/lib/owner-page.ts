import type { OwnerPage } from '#core/contract/owner.ts'
import type { ApiClient, ApiError } from './api-client.ts'
import { ownerHref } from './links.ts'
import { readOwner } from './read-address.ts'

/** Everything the page of an account shows. `status` is the HTTP status that the API gave. */
export type AccountPage =
  /** The host spells the login otherwise, or the account has another one. */
  | { kind: 'moved'; location: string }
  /** `restartHref`: the first page, where another one was asked for. */
  | { kind: 'problem'; status: number; error: ApiError; restartHref?: string }
  /** `number`: of the page, from 1 on. */
  | { kind: 'account'; page: OwnerPage; number: number }

/**
 * Asks the API for one page of an account.
 *
 * @param raw `<host>/<owner>`, percent-encoded, as it stood in the request
 */
export async function loadAccountPage(client: ApiClient, raw: string, query: URLSearchParams): Promise<AccountPage> {
  const asked = readOwner(raw)
  if ('error' in asked) return { kind: 'problem', ...asked }
  const page = query.get('page') || undefined
  const result = await client.get('owners', encodeURIComponent(asked.owner), page === undefined ? {} : { page })
  if (!result.ok) {
    const { status, error } = result
    return { kind: 'problem', status, error, ...(page === undefined ? {} : { restartHref: ownerHref(asked.owner) }) }
  }
  const { login } = result.answer.owner
  const number = Number(page ?? 1)
  if (login !== asked.owner) return { kind: 'moved', location: ownerHref(login, number) }
  return { kind: 'account', page: result.answer, number }
}
