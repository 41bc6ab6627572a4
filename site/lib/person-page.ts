import type { MyGrants, MyRepositories, MyTokens } from '#core/contract/people.ts'
import type { ApiClient, ApiError, ApiResult } from './api-client.ts'
import type { SessionItem, Visitor } from './visitor.ts'

/** A part of the page, or why it cannot be shown. */
export type Part<Value> = { ok: true; value: Value } | { ok: false; error: ApiError | null }

/** The data of the page of a person. */
export type PersonPage =
  | { kind: 'signed_out'; status: 401 }
  | {
      kind: 'person'
      status: 200
      /** `null` when that cannot be told now. */
      login: string | null
      repositories: Part<MyRepositories>
      tokens: Part<MyTokens>
      grants: Part<MyGrants>
      sessions: Part<SessionItem[]>
    }

/** Fetches everything that a person sees of themselves. What one part lacks does not keep the others away. */
export async function loadPersonPage(client: ApiClient, visitor: Visitor): Promise<PersonPage> {
  const sessions = readSessions(visitor)
  const [repositories, tokens, grants, user] = await Promise.all([
    client.get('myRepositories', '', {}),
    client.get('myTokens', '', {}),
    client.get('myGrants', '', {}),
    visitor.user,
  ])
  // The session may outlive the sign-in at the host. These answers ask the host, so 401 means that it has ended the sign-in.
  if ([repositories, tokens, grants].some(result => !result.ok && result.status === 401)) return SIGNED_OUT
  return {
    kind: 'person',
    status: 200,
    login: user?.login ?? null,
    repositories: partOf(repositories),
    tokens: partOf(tokens),
    grants: partOf(grants),
    sessions: await sessions,
  }
}

const SIGNED_OUT = { kind: 'signed_out', status: 401 } as const

function partOf<Name extends 'myRepositories' | 'myTokens' | 'myGrants'>(
  result: ApiResult<Name>,
): Part<Extract<ApiResult<Name>, { ok: true }>['answer']> {
  return result.ok ? { ok: true, value: result.answer } : { ok: false, error: result.error }
}

async function readSessions(visitor: Visitor): Promise<Part<SessionItem[]>> {
  try {
    const sessions = await visitor.sessions()
    return sessions === null ? { ok: false, error: null } : { ok: true, value: sessions }
  } catch {
    return { ok: false, error: null }
  }
}

/** Days after which a token may expire, as the form offers them. */
export const EXPIRIES = [7, 30, 90, 180, 366] as const
export const USUAL_EXPIRY = 30
