import type { Grant } from '#core/contract/people.ts'
import { ServiceError } from '#core/errors.ts'
import { GRANTS_PER_PERSON } from '#core/limits.ts'
import type { Acting } from '../people/account.ts'
import { isActive, RECORDS_PER_PERSON } from '../people/active-grants.ts'
import type { AuditSubject, RequestOrigin } from '../people/audit.ts'
import type { GrantRecord } from '../people/records.ts'
import { isTokenOfHash, parseToken, type RecordId } from '../people/token-text.ts'
import type { PersonViewer, TokenViewer } from '../people/viewer.ts'
import { ended, isValidAccess } from './grant.ts'
import type { OAuthDeps } from './oauth.ts'
import { repositoryOf } from './resource.ts'

type GrantDeps = Pick<OAuthDeps, 'records' | 'clock'>

/** `GET /api/v1/me/grants` */
export async function listGrants(deps: GrantDeps, { key }: PersonViewer): Promise<{ items: Grant[] }> {
  const active = await activeGrants(deps, key)
  return { items: active.slice(0, GRANTS_PER_PERSON).map(shapeGrant) }
}

/** Newest first. */
async function activeGrants({ records, clock }: GrantDeps, person: RecordId): Promise<GrantRecord[]> {
  const all = await records.grantsOf(person, RECORDS_PER_PERSON)
  const now = clock.now()
  return all
    .filter(record => isActive(record, now))
    .sort((left, right) => Date.parse(right.createdAt) - Date.parse(left.createdAt) || (left.id < right.id ? -1 : 1))
}

function shapeGrant({ id, client, address, createdAt, lastUsedAt }: GrantRecord): Grant {
  return { id, client: { name: client.name, uri: client.uri }, address, createdAt, lastUsedAt }
}

/** `DELETE /api/v1/me/grants/<id>`: ends a grant with all its tokens, at once and everywhere. @throws ServiceError `grant.not_found` */
export async function endGrant(
  deps: GrantDeps & Pick<OAuthDeps, 'audit'>,
  { viewer: { key }, origin }: Acting,
  id: string,
): Promise<void> {
  if (!/^[0-9a-f]{24}$/.test(id)) throw new ServiceError('grant.not_found')
  let wasActive = false
  const record = await deps.records.grants.update([key, id], before => {
    if (before === null) return null
    const now = deps.clock.now()
    // Kept over attempts: a write that was done although the store said that it failed is met again here.
    wasActive ||= isActive(before, now)
    return ended(before, now)
  })
  if (record === null || !wasActive) throw new ServiceError('grant.not_found')
  deps.audit.note('grant.delete', { origin, ...subjectOf(record) })
}

/** How the audit log names a grant. */
export function subjectOf({ uk, client, address, repoId }: GrantRecord): AuditSubject {
  return { person: uk, client: client.h, address, repositoryId: repoId }
}

/** A person who approves more apps than the list shows loses the grant that was used longest ago. */
export async function boundGrants(
  deps: GrantDeps & Pick<OAuthDeps, 'audit'>,
  person: RecordId,
  origin: RequestOrigin | null,
): Promise<void> {
  const active = await activeGrants(deps, person)
  const byUse = [...active].sort((left, right) => lastUse(right) - lastUse(left))
  for (const grant of byUse.slice(GRANTS_PER_PERSON)) {
    await deps.records.grants.update([person, grant.id], record => record && ended(record, deps.clock.now()))
    deps.audit.note('grant.delete', { origin, ...subjectOf(grant), reason: 'limit' })
  }
}

function lastUse({ createdAt, lastUsedAt }: GrantRecord): number {
  return Date.parse(lastUsedAt ?? createdAt)
}

/**
 * The viewer of an access token; `null` when it is not valid. One read of the grant answers, and nothing of it is cached: what has ended on one
 * replica has ended on all.
 */
export async function viewerOfAccess(
  { records, clock }: GrantDeps,
  token: string,
): Promise<{ viewer: TokenViewer; lastUsedAt: string | null } | null> {
  const parsed = parseToken(token)
  if (parsed?.kind !== 'access') return null
  const record = await records.grants.read(parsed.person, parsed.grant)
  if (record === null || !isValidAccess(record, parsed.family, kept => isTokenOfHash(token, kept), clock.now())) return null
  const repository = { ...repositoryOf(record.address), id: record.repoId }
  const viewer: TokenViewer = { kind: 'token', key: parsed.person, of: 'grant', id: parsed.grant, repository }
  return { viewer, lastUsedAt: record.lastUsedAt }
}
