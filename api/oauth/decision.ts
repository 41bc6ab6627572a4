import type { OAuthDecision, OAuthRequest, OAuthRequestQuery } from '#core/contract/oauth.ts'
import { ServiceError } from '#core/errors.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import type { PersonAnswer } from '#core/ports/people-host.ts'
import type { Acting } from '../people/account.ts'
import type { RecordId } from '../people/token-text.ts'
import type { PersonViewer, Viewer } from '../people/viewer.ts'
import { AuthorizationRequest, RefusedRequest } from './authorization-request.ts'
import { codeLocation, refusalLocation } from './authorize.ts'
import { OAUTH_LIFETIMES, type OAuthDeps } from './oauth.ts'
import { parseRedirectUri } from './redirect-uri.ts'
import { identityOf, repositoryOf } from './resource.ts'
import type { CodeClaims } from './token-endpoint.ts'

/** `GET /api/v1/oauth/request`: what a person is asked to approve. */
export async function describeRequest(
  deps: OAuthDeps,
  { request: sealed }: OAuthRequestQuery,
  viewer: Viewer,
): Promise<OAuthRequest> {
  const request = await openRequest(deps, sealed)
  const { client, redirectUri, address, scope } = request
  const redirect = parseRedirectUri(redirectUri)
  const seen = viewer.kind === 'person' ? await see(deps, viewer.key, address) : { status: 'signed_out' as const }
  const account = viewer.kind === 'person' && seen.status !== 'signed_out' ? await accountOf(deps, viewer) : null
  return {
    client: {
      name: client.name,
      uri: client.uri,
      redirectHost: redirect?.host ?? '',
      redirectKind: redirect?.kind ?? 'web',
      loopback: redirect?.kind === 'loopback',
    },
    address,
    scope,
    user: account && { host: account.kind, login: account.login, name: account.name, avatar: account.avatar },
    visible: account && VISIBLE[seen.status],
    installUrl: deps.installUrl,
  }
}

/** `null`: the host cannot say now. */
const VISIBLE = { ok: true, missing: false, rate_limited: null, unavailable: null, signed_out: null } as const

async function accountOf({ records }: OAuthDeps, { key }: PersonViewer) {
  const record = await records.people.read(key)
  return record?.host ? { ...record.host, since: record.since } : null
}

/**
 * `POST /api/v1/oauth/decision`: where the browser goes once a person has decided.
 *
 * @throws ServiceError `oauth.invalid_request`, `mount.unavailable`, `oauth.not_visible`, `auth.required` when the host has ended the sign-in
 */
export async function decide(
  deps: OAuthDeps,
  decision: OAuthDecision,
  { viewer, origin }: Acting,
): Promise<{ redirect: string }> {
  const request = await openRequest(deps, decision.request)
  const { client, address } = request
  if (!decision.approve) {
    deps.audit.note('oauth.deny', { origin, person: viewer.key, client: client.h, address })
    return { redirect: refusalLocation(deps, request, new RefusedRequest('access_denied', 'the person refused')) }
  }
  const repository = await requireVisible(deps, viewer.key, address)
  const account = await accountOf(deps, viewer)
  if (account === null) throw new ServiceError('auth.required')
  const grant = await deps.records.grants.read(viewer.key, deps.recordIds.grant(viewer.key, client.h, identityOf(address)))
  const claims: CodeClaims = {
    ...request,
    uk: viewer.key,
    uid: account.id,
    since: account.since,
    repoId: repository.id,
    ended: grant?.ended ?? 0,
  }
  const code = await deps.seals.seal('oauth-code', claims, OAUTH_LIFETIMES.codeSeconds)
  return { redirect: codeLocation(deps, request, code) }
}

async function openRequest({ seals }: OAuthDeps, sealed: string): Promise<AuthorizationRequest> {
  const opened = AuthorizationRequest.safeParse(await seals.open('oauth-request', sealed))
  if (!opened.success) throw new ServiceError('oauth.invalid_request')
  return opened.data
}

async function requireVisible(deps: OAuthDeps, person: RecordId, address: string): Promise<HostRepository> {
  const seen = await see(deps, person, address)
  switch (seen.status) {
    case 'ok':
      return seen.value
    case 'missing':
      throw new ServiceError('oauth.not_visible')
    case 'signed_out':
      throw new ServiceError('auth.required')
    case 'rate_limited':
    case 'unavailable':
      throw new ServiceError('mount.unavailable', seen.retryAfterSeconds === null ? {} : { retryAfter: seen.retryAfterSeconds })
  }
}

/** The repository as the person sees it. One that this deployment does not serve is `missing`: a grant for it would permit nothing. */
async function see(deps: OAuthDeps, person: RecordId, address: string): Promise<PersonAnswer<HostRepository>> {
  const repository = repositoryOf(address)
  if (!deps.isServed(repository)) return { status: 'missing' }
  return await deps.people.seeAs(person, repository.owner, repository.name)
}
