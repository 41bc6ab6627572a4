import type { Grant } from '#core/contract/people.ts'
import { ServiceError } from '#core/errors.ts'
import { GRANTS_PER_PERSON } from '#core/limits.ts'
import type { Acting } from '../people/account.ts'
import type { AuditSubject, RequestOrigin } from '../people/audit.ts'
import { activeFamilies, endOf, type Family, type GrantRecord, isActive, RECORDS_PER_PERSON } from '../people/records.ts'
import { isTokenOfHash, parseToken, type RecordId } from '../people/token-text.ts'
import type { PersonViewer, TokenViewer } from '../people/viewer.ts'
import { OAUTH_LIFETIMES, type OAuthDeps } from './oauth.ts'
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

/*
 * What becomes of a grant, as pure functions of its record. Every change recognizes itself: a store may report that a write failed although it was done,
 * and then the same change is asked of the record that it made.
 */

/** Families of one grant. A further one ends the one that was refreshed longest ago. */
const FAMILIES = 10
/** Access tokens of one family. A further one ends the oldest. */
const ACCESS_TOKENS = 8
/** Hashes of earlier refresh tokens that are recognized. */
const EARLIER_TOKENS = 32

/** Hashes of the tokens of one answer. */
export interface TokenHashes {
  refresh: string
  access: string
}

/** A grant with a new family, and what the person approved. @param facts of the grant, as the code has them */
export function withFamily(
  record: GrantRecord | null,
  facts: Omit<GrantRecord, 'createdAt' | 'lastUsedAt' | 'families' | 'exp'>,
  { fid, hashes }: { fid: string; hashes: TokenHashes },
  now: Date,
): GrantRecord {
  if (record?.families.some(family => family.fid === fid)) return record
  // A repository that was made anew under the same name is another one: what was approved for the old one ends.
  const active = record === null || record.repoId !== facts.repoId ? [] : activeFamilies(record, now)
  const family: Family = {
    fid,
    createdAt: now.toISOString(),
    exp: later(now, OAUTH_LIFETIMES.familySeconds),
    idleExp: later(now, OAUTH_LIFETIMES.idleSeconds),
    gen: 0,
    rh: hashes.refresh,
    old: [],
    prev: null,
    at: [{ h: hashes.access, exp: accessEnd(now, later(now, OAUTH_LIFETIMES.familySeconds)) }],
  }
  const families = [family, ...[...active].sort(byRefresh)].slice(0, FAMILIES)
  const isContinued = record !== null && active.length > 0
  const { createdAt, lastUsedAt } = isContinued ? record : { createdAt: now.toISOString(), lastUsedAt: null }
  return dated({ ...facts, createdAt, lastUsedAt, families }, now)
}

export type Refresh =
  /** The presented token was exchanged for the new ones. */
  | { outcome: 'rotated' }
  /** It was exchanged a moment ago: `next` is the sealed answer of then. */
  | { outcome: 'repeated'; next: string }
  /** It was exchanged long ago, so that two hold it. The family has ended. */
  | { outcome: 'reused' }
  /** It is no token of an active family. */
  | { outcome: 'unknown' }

/** What a refresh presents and would give. */
interface Rotation {
  fid: string
  /** Hash of the presented token. */
  presented: string
  hashes: TokenHashes
  /** The new tokens, sealed under the presented one. */
  next: string
  graceSeconds: number
}

/** A grant after a refresh token was presented. */
export function afterRefresh(record: GrantRecord, rotation: Rotation, now: Date): { record: GrantRecord; refresh: Refresh } {
  const { fid, presented, hashes } = rotation
  const family = activeFamilies(record, now).find(one => one.fid === fid)
  if (!family) return { record, refresh: { outcome: 'unknown' } }
  // Written before, by an attempt whose answer was lost; others may have refreshed since then.
  if (family.rh === hashes.refresh || family.old.includes(hashes.refresh)) return { record, refresh: { outcome: 'rotated' } }
  if (family.rh === presented) {
    return { record: withMember(record, rotated(family, rotation, now), now), refresh: { outcome: 'rotated' } }
  }
  const { prev } = family
  if (prev?.h === presented && seconds(now) < prev.until) return { record, refresh: { outcome: 'repeated', next: prev.next } }
  if (family.old.includes(presented)) return { record: withoutFamily(record, fid, now), refresh: { outcome: 'reused' } }
  return { record, refresh: { outcome: 'unknown' } }
}

function rotated(family: Family, { presented, hashes, next, graceSeconds }: Rotation, now: Date): Family {
  const active = family.at.filter(({ exp }) => exp > seconds(now))
  return {
    ...family,
    idleExp: later(now, OAUTH_LIFETIMES.idleSeconds),
    gen: family.gen + 1,
    rh: hashes.refresh,
    old: [presented, ...family.old].slice(0, EARLIER_TOKENS),
    prev: { h: presented, until: seconds(now) + graceSeconds, next },
    at: [{ h: hashes.access, exp: accessEnd(now, family.exp) }, ...active].slice(0, ACCESS_TOKENS),
  }
}

/** The grant after one of its families has ended. */
export function withoutFamily(record: GrantRecord, fid: string, now: Date): GrantRecord {
  if (!record.families.some(family => family.fid === fid)) return record
  return dated({ ...record, families: record.families.filter(family => family.fid !== fid) }, now)
}

/**
 * The grant after the person has ended it. What is left says how often that was done: a code that was approved before starts no family
 * afterwards. The record is returned as it is when nothing of it is alive.
 */
export function ended(record: GrantRecord, now: Date): GrantRecord {
  if (!isActive(record, now)) return record
  return dated({ ...record, ended: record.ended + 1, families: [] }, now)
}

/** Whether the hash is that of a token of the family: of an access token, or of a refresh token, also of an earlier one. */
export function holdsToken(family: Family, hash: string): boolean {
  return family.rh === hash || family.old.includes(hash) || family.at.some(({ h }) => h === hash)
}

/** Whether an access token with this hash is valid. */
function isValidAccess(record: GrantRecord, fid: string, isHash: (kept: string) => boolean, now: Date): boolean {
  const family = activeFamilies(record, now).find(one => one.fid === fid)
  return family?.at.some(({ h, exp }) => exp > seconds(now) && isHash(h)) ?? false
}

/** The family that was refreshed last comes first. */
function byRefresh(left: Family, right: Family): number {
  return Date.parse(right.idleExp) - Date.parse(left.idleExp)
}

function withMember(record: GrantRecord, family: Family, now: Date): GrantRecord {
  const families = activeFamilies(record, now).map(one => (one.fid === family.fid ? family : one))
  return dated({ ...record, families }, now)
}

/** The record with the instant after which it may be removed: when its last family is over, and no code of an earlier approval is left. */
function dated(record: Omit<GrantRecord, 'exp'>, now: Date): GrantRecord {
  const ends = record.families.map(endOf)
  const codes = now.getTime() + OAUTH_LIFETIMES.markerSeconds * 1_000
  return { ...record, exp: new Date(Math.max(codes, ...ends)).toISOString() }
}

/** No access token outlives its family. In seconds since 1970. */
function accessEnd(now: Date, exp: string): number {
  return Math.min(seconds(now) + OAUTH_LIFETIMES.accessSeconds, Date.parse(exp) / 1_000)
}

function later(now: Date, after: number): string {
  return new Date(now.getTime() + after * 1_000).toISOString()
}

function seconds(now: Date): number {
  return now.getTime() / 1_000
}
