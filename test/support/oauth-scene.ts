import { hash, randomUUID } from 'node:crypto'
import { authorize } from '#api/oauth/authorize.ts'
import { decide } from '#api/oauth/decision.ts'
import { endGrant as endGrantOf, listGrants, viewerOfAccess } from '#api/oauth/grants.ts'
import { type OAuthDeps, openOAuth } from '#api/oauth/oauth.ts'
import type { TokenAnswer } from '#api/oauth/token-endpoint.ts'
import { answerToken, RefusedToken, revokeToken } from '#api/oauth/token-endpoint.ts'
import type { Acting } from '#api/people/account.ts'
import type { AuditEvent, AuditSubject, RequestOrigin } from '#api/people/audit.ts'
import { createRecordIds, openRecords } from '#api/people/records.ts'
import { createSeals } from '#api/people/seal.ts'
import type { PersonViewer } from '#api/people/viewer.ts'
import type { SealingKeys } from '#api/purpose-keys.ts'
import { ServiceError } from '#core/errors.ts'
import type { Form } from '#core/form.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import type { WebDocuments } from '#core/ports/web-documents.ts'
import { systemRandom } from '#infra/system/system.ts'
import { handClock } from './store-values.ts'

export const ISSUER = 'https://skills.example.org'
export const REDIRECT = 'http://127.0.0.1:33418/callback'
export const VERIFIER = 'a-verifier-of-forty-three-characters-or-more'
export const CHALLENGE = hash('sha256', VERIFIER, 'base64url')
/** The network of the browser. */
export const REQUESTER = '203.0.113.9'
export const REPOSITORY = '/gh/acme/secret'

export const keyOf = (kid: string, byte: number): SealingKeys[number] => ({
  kid,
  key: Buffer.alloc(32, byte).toString('base64url'),
})

/** By it, the records of people are named. */
const ID_KEY: Uint8Array = new Uint8Array(32).fill(7)
/** The request of everything that is asked here. */
export const ORIGIN: RequestOrigin = { requestId: 'request-1', ip: '192.0.2.1' }
export const acting = (viewer: PersonViewer): Acting => ({ viewer, origin: ORIGIN })

const NO_DOCUMENTS: WebDocuments = { read: async () => ({ status: 'refused' }) }

/** What the host answers whoever asks for a repository. The id of a repository that was made anew is another one. */
export interface HostScene {
  repositories: Map<string, { id: string }>
  isAway: boolean
}

export type OAuthScene = Awaited<ReturnType<typeof openOAuthScene>>

/** An authorization server of two replicas over one store, with a person who is signed in and an app that has registered. */
export async function openOAuthScene(
  openStates: (replica: number) => StateStore | Promise<StateStore>,
  { keys = [keyOf('a', 1)], idKey = ID_KEY, documents = NO_DOCUMENTS, graceSeconds = 300 } = {},
) {
  const clock = handClock('2026-11-24T00:00:00Z')
  const events: AuditEvent[] = []
  const noted: (AuditSubject & { event: AuditEvent })[] = []
  const host: HostScene = { repositories: new Map([[REPOSITORY, { id: 'gh-1' }]]), isAway: false }
  const recordIds = createRecordIds(idKey)
  const replicas: OAuthDeps[] = []
  for (const replica of [0, 1]) {
    const states = await openStates(replica)
    const parts = { baseUrl: ISSUER, hosts: ['gh'], clock, random: systemRandom, graceSeconds, installUrl: null, keys, documents }
    replicas.push(
      openOAuth({
        ...parts,
        states,
        recordIds,
        records: openRecords(states),
        seals: createSeals(keys, ISSUER, clock),
        people: { seeAs: async (_person, owner, name) => seen(host, `/gh/${owner}/${name}`) },
        isServed: ({ owner }) => owner !== 'denied',
        audit: {
          note(event, subject) {
            events.push(event)
            noted.push({ event, ...subject })
          },
        },
      }),
    )
  }
  const [first, second] = replicas as [OAuthDeps, OAuthDeps]
  const person = await signIn(first, '583231')
  const clientId = await register(first, { redirect_uris: [REDIRECT], client_name: 'An app' })
  return { first, second, replicas: [first, second] as const, clock, events, noted, host, person, clientId }
}

function seen({ repositories, isAway }: HostScene, address: string) {
  if (isAway) return { status: 'unavailable', retryAfterSeconds: 7 } as const
  const repository = repositories.get(address.toLowerCase())
  return repository ? { status: 'ok' as const, value: repository as HostRepository } : { status: 'missing' as const }
}

/** A person of the host, as their sign-in leaves them. */
export async function signIn({ records, recordIds }: OAuthDeps, account: string): Promise<PersonViewer> {
  const key = recordIds.person(`gh-${account}`)
  const at = '2026-11-24T00:00:00Z'
  await records.people.update([key], record => ({
    ...(record ?? { v: 1, uk: key, since: randomUUID(), sessions: [], tokens: [] }),
    host: { kind: 'gh', id: `gh-${account}`, login: 'mona', name: null, avatar: '', seenAt: at },
    cred: { sealed: account, exp: null, refreshExp: null, at },
  }))
  return { kind: 'person', key, sessionId: '0'.repeat(24) }
}

/** The host no longer accepts the person. */
export async function signOutAtHost({ records }: OAuthDeps, { key }: PersonViewer): Promise<void> {
  await records.people.update([key], record => record && { ...record, cred: null })
}

export async function register({ registrations, clock }: OAuthDeps, metadata: unknown): Promise<string> {
  return (await registrations.register(metadata, clock.now())).client.id
}

export type Parameters = Record<string, string | string[]>

export function requestParameters(clientId: string, over: Parameters = {}): Parameters {
  return {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: REDIRECT,
    code_challenge: CHALLENGE,
    code_challenge_method: 'S256',
    resource: `${ISSUER}/mcp${REPOSITORY}`,
    state: 'the state',
    ...over,
  }
}

/** The sealed request of an app, as the consent page receives it. */
export async function requested(deps: OAuthDeps, clientId: string, over: Parameters = {}): Promise<string> {
  const answer = await authorize(deps, requestParameters(clientId, over), REQUESTER)
  const request = answer.status === 'redirect' ? new URL(answer.location).searchParams.get('request') : null
  if (request === null) throw new Error(`refused: ${JSON.stringify(answer)}`)
  return request
}

/** The code that the app gets once the person approved. */
export async function approved(deps: OAuthDeps, person: PersonViewer, request: string): Promise<string> {
  const { redirect } = await decide(deps, { request, approve: true }, acting(person))
  const code = new URL(redirect).searchParams.get('code')
  if (code === null) throw new Error(`no code in ${redirect}`)
  return code
}

export const form = (fields: Record<string, string | undefined>): Form =>
  new Map(Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])))

export type Told = TokenAnswer | { error: string }

/** What the token endpoint answers: tokens, or the code of an error. */
export async function told(answer: Promise<TokenAnswer>): Promise<Told> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof RefusedToken || error instanceof ServiceError) return { error: error.code }
    throw error
  }
}

export const isTold = (answer: Told): answer is TokenAnswer => 'access_token' in answer

export async function redeemed(
  deps: OAuthDeps,
  clientId: string,
  code: string,
  over: Record<string, string | undefined> = {},
): Promise<Told> {
  const fields = { grant_type: 'authorization_code', client_id: clientId, code, code_verifier: VERIFIER, redirect_uri: REDIRECT }
  return await told(answerToken(deps, form({ ...fields, ...over }), ORIGIN))
}

export async function refreshed(
  deps: OAuthDeps,
  clientId: string,
  token: string,
  over: Record<string, string | undefined> = {},
): Promise<Told> {
  return await told(
    answerToken(deps, form({ grant_type: 'refresh_token', client_id: clientId, refresh_token: token, ...over }), ORIGIN),
  )
}

/** The tokens of an app that a person has just connected. */
export async function connected({ first, person, clientId }: OAuthScene, over: Parameters = {}): Promise<TokenAnswer> {
  const answer = await redeemed(first, clientId, await approved(first, person, await requested(first, clientId, over)))
  if (!isTold(answer)) throw new Error(answer.error)
  return answer
}

export async function isAlive(deps: OAuthDeps, accessToken: string): Promise<boolean> {
  return (await viewerOfAccess(deps, accessToken)) !== null
}

export async function endGrant(deps: OAuthDeps, person: PersonViewer, id: string): Promise<void> {
  await endGrantOf(deps, acting(person), id)
}

export { listGrants, revokeToken }
