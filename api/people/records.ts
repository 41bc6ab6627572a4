import { createHmac } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { createFairGate, ONE_BY_ONE } from '#core/concurrency/fair-gate.ts'
import { ServiceError } from '#core/errors.ts'
import type { JsonValue, StateStore } from '#core/ports/state-store.ts'
import type { Clock } from '#core/ports/system.ts'
import { grantKey, grantsPrefix, PEOPLE_PREFIX, personKey } from '#core/snapshot/store-keys.ts'
import { RECORD_ID_BYTES, type RecordId } from './token-text.ts'

const Instant = z.string()
const Hash = z.string()

const Session = z.object({
  id: z.string(),
  h: Hash,
  createdAt: Instant,
  /** At most an hour behind. */
  seenAt: Instant,
  /** The session ends then at the latest. */
  exp: Instant,
  /** Absent for a browser without a known name. */
  browser: z.object({ name: z.string(), system: z.string().nullable() }).optional(),
})
export type Session = z.infer<typeof Session>

const AgentToken = z.object({
  id: z.string(),
  h: Hash,
  /** `/gh/<owner>/<name>`, in the host's spelling when the token was made. */
  address: z.string(),
  /** See `HostRepository.id`. */
  repoId: z.string(),
  label: z.string(),
  createdAt: Instant,
  expiresAt: Instant,
  lastUsedAt: Instant.nullable(),
})
export type AgentToken = z.infer<typeof AgentToken>

/** What the host gave for the sign-in of a person. One for all sessions, tokens and grants: a host allows few, and ends the oldest. */
const StoredCredential = z.object({
  /** A seal of the purpose `host-token`. Each is unique, so it tells whether the credential is still the same. */
  sealed: z.string(),
  /** `null`: does not expire. */
  exp: Instant.nullable(),
  refreshExp: Instant.nullable(),
  /** When the host gave it. */
  at: Instant,
  /** The process that refreshes it now. */
  lease: z.object({ by: z.string(), until: Instant }).optional(),
})
export type StoredCredential = z.infer<typeof StoredCredential>

export const PersonRecord = z.object({
  v: z.literal(1),
  uk: z.string(),
  /** Random, new when the record is created again after the person had it deleted, so that earlier approvals are void. */
  since: z.string(),
  /** The account at the host; `null`: the operator, who has none. */
  host: z
    .object({
      kind: z.literal('gh'),
      /** See `HostPerson.id`. */
      id: z.string(),
      login: z.string(),
      name: z.string().nullable(),
      avatar: z.string(),
      /** When the host said so. */
      seenAt: Instant,
    })
    .nullable(),
  /** `null`: signed out at the host. */
  cred: StoredCredential.nullable(),
  /** The attempt that last ended the sign-in for the host. It recognizes itself by this, whatever the store said of its write. */
  endedBy: z.string().optional(),
  /** When the person had everything deleted while the host could not be asked: of the record only what ends their authorization there is left. */
  forgottenAt: Instant.optional(),
  /** Newest first. */
  sessions: z.array(Session),
  /** Newest first. */
  tokens: z.array(AgentToken),
})
export type PersonRecord = z.infer<typeof PersonRecord>

/** The access and refresh tokens of one installation of an app: those of its other installations go on when these end. */
const Family = z.object({
  fid: z.string(),
  createdAt: Instant,
  /** The family ends then at the latest. */
  exp: Instant,
  /** It ends then without a refresh. */
  idleExp: Instant,
  /** Number of refreshes. */
  gen: z.int().min(0),
  /** Hash of the current refresh token. */
  rh: Hash,
  /** Hashes of earlier ones, newest first. */
  old: z.array(Hash),
  /** The refresh token before the current one: within the grace it is given the same answer again. `until`, `exp`: seconds since 1970. */
  prev: z.object({ h: Hash, until: z.number(), next: z.string() }).nullable(),
  /** Access tokens. */
  at: z.array(z.object({ h: Hash, exp: z.number() })),
})
export type Family = z.infer<typeof Family>

/** What a person lets one app read: one repository. */
export const GrantRecord = z.object({
  v: z.literal(1),
  id: z.string(),
  uk: z.string(),
  /** See `HostPerson.id`. */
  uid: z.string(),
  client: z.object({
    h: Hash,
    id: z.string(),
    /** Both are the client's own words. */
    name: z.string(),
    uri: z.string().nullable(),
    kind: z.enum(['cimd', 'dcr']),
  }),
  address: z.string(),
  repoId: z.string(),
  scope: z.string(),
  createdAt: Instant,
  lastUsedAt: Instant.nullable(),
  /** How often the person ended the grant: codes that were approved before start no family afterwards. */
  ended: z.int().min(0),
  families: z.array(Family),
  /** The record may be removed then. */
  exp: Instant,
})
export type GrantRecord = z.infer<typeof GrantRecord>

/** The records of people and grants, in the state store. */
export interface Records {
  people: RecordsOf<PersonRecord>
  grants: RecordsOf<GrantRecord>
  /** The grants of a person, at most `limit`, in the order of their ids. @throws ServiceError `auth.unavailable` */
  grantsOf(person: RecordId, limit: number): Promise<GrantRecord[]>
  /** People whose record ids follow, in their order. @throws ServiceError `auth.unavailable` */
  peopleAfter(person: RecordId | null, limit: number): Promise<RecordId[]>
}

/** Records of one kind. Every method throws `ServiceError` `auth.unavailable` when the store does not answer. */
export interface RecordsOf<Value> {
  read(...ids: RecordId[]): Promise<Value | null>
  /**
   * Replaces a record by the result of `change`. After a conflict, `change` is called again with the new record. So it has to be pure, and to
   * recognize its own earlier result: a store may report that a write failed although it was done.
   *
   * @param change returns the record that it was given, or `null` for none, to leave everything as it is
   * @returns the record as it is now; `null` when there is none
   */
  update(ids: readonly RecordId[], change: (record: Value | null) => Value | null): Promise<Value | null>
  remove(...ids: RecordId[]): Promise<void>
  /** Removes a record if `isIt` accepts its current value. The sweep removes the mark that stays in its place. */
  removeIf(ids: readonly RecordId[], isIt: (record: Value) => boolean): Promise<void>
}

export function openRecords(states: StateStore): Records {
  const people = recordsOf(states, PersonRecord, ([person = '']) => personKey(person))
  const grants = recordsOf(states, GrantRecord, ([person = '', grant = '']) => grantKey(person, grant))
  return {
    people,
    grants,
    async grantsOf(person, limit) {
      const keys = await answered(states.list(grantsPrefix(person), { limit }))
      const read = await Promise.all(keys.map(key => grants.read(person, key.slice(grantsPrefix(person).length))))
      return read.filter(grant => grant !== null)
    },
    async peopleAfter(person, limit) {
      const after = person === null ? {} : { after: personKey(person) }
      const keys = await answered(states.list(PEOPLE_PREFIX, { limit, ...after }))
      return keys.map(key => key.slice(PEOPLE_PREFIX.length))
    },
  }
}

/** Attempts of one change. Writers of the same process take turns, so that only those of other processes interfere. */
const ATTEMPTS = 60
const BACK_OFF_MS = { first: 2, most: 100 } as const

/**
 * What stands in place of a record while it is removed. A bucket has no removal that depends on the version: some servers drop one that meets
 * a write, and the record would stay. Where the removal itself does not come to pass, the sweep does it: `exp` is over.
 */
const Removed = z.object({ removed: z.literal(true), exp: Instant })
type Removed = z.infer<typeof Removed>

const REMOVED: Removed = { removed: true, exp: '1970-01-01T00:00:00.000Z' }

function isRemoved(value: unknown): value is Removed {
  return Removed.safeParse(value).success
}

function recordsOf<Schema extends z.ZodType<JsonRecord>>(
  states: StateStore,
  schema: Schema,
  keyOf: (ids: readonly RecordId[]) => string,
): RecordsOf<z.infer<Schema>> {
  type Value = z.infer<Schema>
  const inTurn = createFairGate(ONE_BY_ONE)

  async function read(key: string): Promise<{ record: Value | null; etag: string | null }> {
    const stored = await answered(states.read(key))
    if (stored === null) return { record: null, etag: null }
    return { record: isRemoved(stored.value) ? null : schema.parse(stored.value), etag: stored.etag }
  }

  async function attempt(
    key: string,
    change: (record: Value | null) => Value | Removed | null,
  ): Promise<{ value: Value | null } | null> {
    const { record, etag } = await read(key)
    const after = change(record)
    if (after === record || after === null) return { value: record }
    const body = after as JsonValue
    const written = await answered(etag === null ? states.create(key, body) : states.replace(key, body, etag))
    if (written.status !== 'written') return null
    return { value: isRemoved(after) ? null : after }
  }

  /** The record as it is after the change. */
  async function update(key: string, change: (record: Value | null) => Value | Removed | null): Promise<Value | null> {
    for (let attempts = 1; attempts <= ATTEMPTS; attempts++) {
      const done = await attempt(key, change)
      if (done) return done.value
      const longest = Math.min(BACK_OFF_MS.most, BACK_OFF_MS.first * 2 ** Math.min(attempts, 10))
      await sleep(Math.random() * longest)
    }
    throw new ServiceError('auth.unavailable', { cause: new Error('a record is written too often') })
  }

  return {
    read: async (...ids) => (await read(keyOf(ids))).record,
    update: (ids, change) => inTurn(keyOf(ids), () => update(keyOf(ids), change)),
    removeIf: async (ids, isIt) => {
      await inTurn(keyOf(ids), () => update(keyOf(ids), record => (record && isIt(record) ? REMOVED : record)))
    },
    remove: (...ids) =>
      inTurn(keyOf(ids), async () => {
        await update(keyOf(ids), record => record && REMOVED)
        await answered(states.remove(keyOf(ids)))
      }),
  }
}

interface JsonRecord {
  [key: string]: unknown
}

/** @throws ServiceError `auth.unavailable` instead of what the store throws */
async function answered<Value>(asked: Promise<Value>): Promise<Value> {
  try {
    return await asked
  } catch (cause) {
    throw new ServiceError('auth.unavailable', { cause })
  }
}

/** Grants of one person that are read at most. Those that ended are there until a sweep removes them. */
export const RECORDS_PER_PERSON = 1_000

/** Whether an app can still read in the name of the person. */
export async function hasActiveGrant(
  { records, clock }: { records: Pick<Records, 'grantsOf'>; clock: Clock },
  person: RecordId,
): Promise<boolean> {
  const now = clock.now()
  return (await records.grantsOf(person, RECORDS_PER_PERSON)).some(grant => isActive(grant, now))
}

/** Whether some app can still read by the grant. Of one that ended, a record without families may be left. */
export function isActive(record: GrantRecord, now: Date): boolean {
  return activeFamilies(record, now).length > 0
}

export function activeFamilies({ families }: GrantRecord, now: Date): Family[] {
  return families.filter(family => endOf(family) > now.getTime())
}

/** When the family ends, unless it is refreshed. Milliseconds since 1970. */
export function endOf({ exp, idleExp }: Family): number {
  return Math.min(Date.parse(exp), Date.parse(idleExp))
}

/**
 * Where the records of people and grants lie, by what identifies them. The same person, and the same app for the same repository, always has
 * the same place, so that neither needs an index. The places are keyed hashes: without the id key, an account does not lead to its record.
 */
export interface RecordIds {
  /** @param accountId see `HostPerson.id` */
  person(accountId: string): RecordId
  /** The operator of this deployment, whose tokens read local repositories. */
  operator(): RecordId
  /** @param clientHash of the client's id @param repository its address, in one spelling of all that name it */
  grant(person: RecordId, clientHash: string, repository: string): RecordId
}

/** @param key the id key of the deployment, which is never changed: with another key, everybody is a stranger */
export function createRecordIds(key: Uint8Array): RecordIds {
  const locate = (text: string) => createHmac('sha256', key).update(text).digest().subarray(0, RECORD_ID_BYTES).toString('hex')
  return {
    person: accountId => locate(`user|${accountId}`),
    operator: () => locate('operator'),
    grant: (person, clientHash, repository) => locate(`grant|${person}|${clientHash}|${repository}`),
  }
}

/** Parses the value of `MOUNTGLASS_ID_KEY`; `null` when it is not 32 bytes in base64url. */
export function parseIdKey(text: string): Uint8Array | null {
  return /^[A-Za-z0-9_-]{43}$/.test(text) ? new Uint8Array(Buffer.from(text, 'base64url')) : null
}

/** The text of `MOUNTGLASS_ID_KEY`. */
export function formatIdKey(key: Uint8Array): string {
  return Buffer.from(key).toString('base64url')
}
