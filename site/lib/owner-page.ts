import type { OwnerName } from '#core/address.ts'
import type { OwnerPage } from '#core/contract/owner.ts'
import type { ApiError } from './api-client.ts'
import { ACCOUNT_HOST, ownerHref } from './links.ts'
import { readOwner } from './read-address.ts'
import { loadRows, type RepositoryRow } from './repository-rows.ts'

type Sources = Parameters<typeof loadRows>[0]

/** The data of an account page. `status` is the HTTP status of the API's answer. */
export type AccountPage =
  /** A redirect: the host spells the login differently, or the account was renamed. */
  | { kind: 'moved'; location: string }
  /** `restartHref`: the first page, when another one was requested. `asked`: what the API was asked for. `missing`: it does not exist. */
  | { kind: 'problem'; status: number; error: ApiError; restartHref?: string; asked?: OwnerName; missing?: OwnerName }
  /** Local repositories of one owner that everyone may open. */
  | { kind: 'local'; owner: string; rows: RepositoryRow[] }
  /** `number`: of the page, counted from 1. */
  | { kind: 'account'; page: OwnerPage; number: number }

/**
 * Fetches one page of an account from the API, or the local repositories of an owner.
 *
 * @param raw `<host>/<owner>`, percent-encoded, as in the request
 */
export async function loadAccountPage(sources: Sources, raw: string, query: URLSearchParams): Promise<AccountPage> {
  const { client, hosts } = sources
  const asked = readOwner(raw, hosts)
  if ('error' in asked) return { kind: 'problem', ...asked }
  if (asked.host !== ACCOUNT_HOST) return await loadLocalOwner(sources, asked)
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

/** An owner whose repositories not everyone may open is as one who does not exist. */
async function loadLocalOwner(sources: Sources, asked: OwnerName): Promise<AccountPage> {
  const start = `/local/${asked.owner}/`.toLowerCase()
  const listed = (await sources.listLocal()).filter(address => address.toLowerCase().startsWith(start))
  const owners = new Set(listed.map(address => address.split('/')[2] ?? ''))
  const [only] = owners
  if (only === undefined || (owners.size > 1 && !owners.has(asked.owner))) {
    const error = { code: 'owner.not_found', message: 'there is no such owner, or no repository of theirs is open to everyone' }
    return { kind: 'problem', status: 404, error, missing: asked }
  }
  const owner = owners.has(asked.owner) ? asked.owner : only
  if (owner !== asked.owner) return { kind: 'moved', location: ownerHref(owner, 1, asked.host) }
  const own = listed.filter(address => address.startsWith(`/local/${owner}/`))
  return { kind: 'local', owner, rows: await loadRows({ ...sources, listLocal: async () => own }, []) }
}
