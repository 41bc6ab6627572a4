import { setTimeout as sleep } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { createSingleFlight } from '#core/concurrency/single-flight.ts'
import type { HostCredential, PeopleHost, PersonAccess, PersonAnswer } from '#core/ports/people-host.ts'
import type { PeopleContext } from './context.ts'
import type { PersonRecord, StoredCredential } from './records.ts'
import { newRecordId, type RecordId } from './token-text.ts'

/** The credentials that the host gave for people: sealed, in their records, and refreshed by one process at a time. */
export interface HostCredentials {
  /**
   * Asks the host with the person's credential. When the host no longer accepts it, the person is signed out.
   *
   * @param known the person's record, if it was just read
   */
  ask<Value>(
    person: RecordId,
    question: (access: PersonAccess) => Promise<PersonAnswer<Value>>,
    known?: PersonRecord | null,
  ): Promise<PersonAnswer<Value>>
  /** What a record keeps of a credential. */
  seal(person: RecordId, credential: HostCredential): Promise<StoredCredential>
  /** `null` when it cannot be opened: its key was taken away. */
  open(person: RecordId, stored: StoredCredential): Promise<PersonAccess | null>
  /** Refreshes the credential of a record now, unless it was replaced since the record was read. `signed_out`: the host refuses it. */
  refresh(known: PersonRecord): Promise<PersonAnswer<null>>
}

export interface HostCredentialsOptions extends Pick<PeopleContext, 'records' | 'seals' | 'audit' | 'clock' | 'random'> {
  host: PeopleHost
  /** How long another process may take for what it has begun. Default: `LEASE_MS`. */
  leaseMs?: number
}

/** A credential is refreshed before it ends, so that it lasts for a request. */
const REFRESH_BEFORE_MS = 5 * 60_000
/** Clock skew between processes. If the host refuses a credential this shortly before its end, it may have expired, so it is refreshed first. */
const CLOCK_SKEW_MS = 15 * 60_000
/** A refresh is one request to the host and one write. */
const LEASE_MS = 15_000
const LEASE_TRIES = 3
/** Share of a lease. For this time a process whose refresh was refused polls for the credential of another process, which may have refreshed first. */
const REFUSED_WAIT_SHARE = 0.1
/** Interval of that polling, chosen at random. */
const POLL_MS = { least: 40, most: 160 } as const

/** Tokens of the host that are kept unsealed in memory, and for how long. */
const UNSEALED = 1_000
const UNSEALED_MS = 60_000

interface Tokens {
  accessToken: string
  refreshToken: string | null
}

interface Opened extends Tokens {
  record: PersonRecord
  stored: StoredCredential
}

interface Leased {
  person: RecordId
  stored: StoredCredential
  refreshToken: string
  by: string
}

/** Another process changed the credential. */
interface Changed {
  status: 'changed'
  record: PersonRecord | null
}

type Ready = { status: 'ok'; value: Opened }
type Failure = Exclude<PersonAnswer<never>, { status: 'ok' }>
const SIGNED_OUT = { status: 'signed_out' } as const

export function createHostCredentials(options: HostCredentialsOptions): HostCredentials {
  return new StoredCredentials(options)
}

class StoredCredentials implements HostCredentials {
  readonly #options: HostCredentialsOptions
  readonly #leaseMs: number
  readonly #refreshing = createSingleFlight<Ready | Failure | Changed>()
  /** By the sealed text: what was opened a moment ago. Every request of a person asks for it, and opening takes longer than the rest of a warm one. */
  readonly #unsealed = new LRUCache<string, Tokens>({ max: UNSEALED, ttl: UNSEALED_MS })

  constructor(options: HostCredentialsOptions) {
    this.#options = options
    this.#leaseMs = options.leaseMs ?? LEASE_MS
  }

  async ask<Value>(
    person: RecordId,
    question: (access: PersonAccess) => Promise<PersonAnswer<Value>>,
    known?: PersonRecord | null,
  ): Promise<PersonAnswer<Value>> {
    const first = await this.#ready(known === undefined ? await this.#read(person) : known)
    if (first.status !== 'ok') return first
    const answer = await question({ key: person, accessToken: first.value.accessToken })
    if (answer.status !== 'signed_out') return answer
    const second = await this.#afterRefusal(person, first.value)
    if (second.status !== 'ok') return second
    const again = await question({ key: person, accessToken: second.value.accessToken })
    return again.status === 'signed_out' ? await this.#signOut(person, second.value.stored) : again
  }

  async seal(person: RecordId, credential: HostCredential): Promise<StoredCredential> {
    const { seals, clock } = this.#options
    const { accessToken, refreshToken, expiresAt, refreshExpiresAt } = credential
    const sealed = await seals.seal('host-token', { sub: person, at: accessToken, rt: refreshToken }, null)
    return { sealed, exp: expiresAt, refreshExp: refreshExpiresAt, at: clock.now().toISOString() }
  }

  async open(person: RecordId, stored: StoredCredential): Promise<PersonAccess | null> {
    const opened = await this.#unseal(person, stored)
    return opened && { key: person, accessToken: opened.accessToken }
  }

  async refresh(known: PersonRecord): Promise<PersonAnswer<null>> {
    const opened = known.cred && (await this.#opened(known, known.cred))
    if (opened === null) return SIGNED_OUT
    // An App may have its tokens never expire; they cannot be refreshed, and need not be.
    if (opened.refreshToken === null) return { status: 'ok', value: null }
    const refreshed = await this.#refreshed(opened)
    return refreshed.status === 'ok' ? { status: 'ok', value: null } : refreshed
  }

  #read(person: RecordId): Promise<PersonRecord | null> {
    return this.#options.records.people.read(person)
  }

  async #unseal(person: RecordId, { sealed }: StoredCredential): Promise<Tokens | null> {
    const key = `${person} ${sealed}`
    const known = this.#unsealed.get(key)
    if (known) return known
    const claims = await this.#options.seals.open('host-token', sealed)
    if (claims?.sub !== person || typeof claims.at !== 'string') return null
    const tokens = { accessToken: claims.at, refreshToken: typeof claims.rt === 'string' ? claims.rt : null }
    this.#unsealed.set(key, tokens)
    return tokens
  }

  async #opened(record: PersonRecord, stored: StoredCredential): Promise<Opened | null> {
    const tokens = await this.#unseal(record.uk, stored)
    return tokens && { record, stored, ...tokens }
  }

  /** The credential of the record, refreshed if it is about to end. */
  async #ready(record: PersonRecord | null): Promise<Ready | Failure> {
    if (record === null || record.cred === null) return SIGNED_OUT
    const opened = await this.#opened(record, record.cred)
    if (opened === null) return await this.#signOut(record.uk, record.cred)
    const left = this.#leftMs(record.cred)
    if (left > REFRESH_BEFORE_MS || opened.refreshToken === null) return { status: 'ok', value: opened }
    const refreshed = await this.#refreshed(opened)
    const isTrouble = refreshed.status !== 'ok' && refreshed.status !== 'signed_out'
    return isTrouble && left > 0 ? { status: 'ok', value: opened } : refreshed
  }

  #leftMs({ exp }: StoredCredential): number {
    return exp === null ? Number.POSITIVE_INFINITY : Date.parse(exp) - this.#options.clock.now().getTime()
  }

  /**
   * What to do after the host refused a credential. Another process may have refreshed it, which ends the old one at once. So the record is read
   * again, and the person is signed out only if it still holds the refused credential.
   */
  async #afterRefusal(person: RecordId, refused: Opened): Promise<Ready | Failure> {
    const record = await this.#settled(person, refused.stored, { whileLeased: true, forMs: this.#leaseMs })
    if (record === null || record.cred === null) return SIGNED_OUT
    if (record.cred.sealed !== refused.stored.sealed) return await this.#ready(record)
    if (refused.refreshToken !== null && this.#leftMs(refused.stored) < CLOCK_SKEW_MS) return await this.#refreshed(refused)
    return await this.#signOut(person, refused.stored)
  }

  async #refreshed(opened: Opened): Promise<Ready | Failure> {
    const key = `${opened.record.uk} ${opened.stored.sealed}`
    const answer = await this.#refreshing.run(key, () => this.#refresh(opened))
    return answer.status === 'changed' ? await this.#ready(answer.record) : answer
  }

  /** Refreshes under a lease. A process that does not get the lease waits for the one that holds it. */
  async #refresh(opened: Opened): Promise<Ready | Failure | Changed> {
    const { records, random } = this.#options
    const { record: before, stored, refreshToken } = opened
    const person = before.uk
    if (refreshToken === null) return await this.#signOut(person, stored)
    const by = newRecordId(random)
    for (let tries = 0; tries < LEASE_TRIES; tries++) {
      const record = await records.people.update([person], known => this.#withLease(known, stored, by))
      if (record?.cred?.sealed !== stored.sealed) return { status: 'changed', record }
      if (record.cred.lease?.by === by) return await this.#refreshLeased({ person, stored, refreshToken, by })
      const settled = await this.#settled(person, stored, { whileLeased: true, forMs: this.#leaseMs })
      if (settled?.cred?.sealed !== stored.sealed) return { status: 'changed', record: settled }
    }
    return { status: 'unavailable', retryAfterSeconds: null }
  }

  async #refreshLeased(leased: Leased): Promise<Ready | Failure | Changed> {
    const { records, host } = this.#options
    const { person, stored, refreshToken, by } = leased
    const answer = await host.refresh(refreshToken)
    if (answer.status === 'ok') return await this.#keep(person, stored, answer.value)
    if (answer.status !== 'refused') {
      await records.people.update([person], record => withoutLease(record, by))
      return answer
    }
    // A process whose clock is ahead takes a lease over too early, and both refresh: the one that came first is about to write.
    const record = await this.#settled(person, stored, { whileLeased: false, forMs: this.#leaseMs * REFUSED_WAIT_SHARE })
    if (record?.cred?.sealed !== stored.sealed) return { status: 'changed', record }
    return await this.#signOut(person, stored)
  }

  #withLease(record: PersonRecord | null, stored: StoredCredential, by: string): PersonRecord | null {
    if (record?.cred?.sealed !== stored.sealed) return record
    if (record.cred.lease?.by === by || this.#isLeased(record.cred)) return record
    const until = new Date(this.#options.clock.now().getTime() + this.#leaseMs).toISOString()
    return { ...record, cred: { ...record.cred, lease: { by, until } } }
  }

  async #keep(person: RecordId, over: StoredCredential, credential: HostCredential): Promise<Ready | Changed> {
    const stored = await this.seal(person, credential)
    const record = await this.#options.records.people.update([person], known =>
      known?.cred?.sealed === over.sealed ? { ...known, cred: stored } : known,
    )
    if (record?.cred?.sealed === stored.sealed) {
      const { accessToken, refreshToken } = credential
      return { status: 'ok', value: { record, stored, accessToken, refreshToken } }
    }
    // The person signed in or out meanwhile, so the record has no use for the refreshed credential.
    void this.#options.host.revoke({ key: person, accessToken: credential.accessToken })
    return { status: 'changed', record }
  }

  /** Polls until the record has another credential, or `forMs` has passed; `whileLeased`: or no process holds the lease. @returns the record as last read */
  async #settled(person: RecordId, { sealed }: StoredCredential, wait: { whileLeased: boolean; forMs: number }) {
    const endsAt = performance.now() + wait.forMs
    for (;;) {
      const record = await this.#read(person)
      if (record?.cred?.sealed !== sealed || performance.now() > endsAt) return record
      if (wait.whileLeased && !this.#isLeased(record.cred)) return record
      await sleep(POLL_MS.least + Math.random() * (POLL_MS.most - POLL_MS.least))
    }
  }

  #isLeased({ lease }: StoredCredential): boolean {
    return lease !== undefined && Date.parse(lease.until) > this.#options.clock.now().getTime()
  }

  /** Ends the sign-in of the person, unless they have another credential by now. Tokens and grants stay: signing in again revives them. */
  async #signOut(person: RecordId, stored: StoredCredential): Promise<Failure> {
    const { records, random, audit } = this.#options
    const by = newRecordId(random)
    const after = await records.people.update([person], record =>
      record?.cred?.sealed === stored.sealed ? { ...record, cred: null, sessions: [], endedBy: by } : record,
    )
    if (after?.endedBy === by) audit.note('host.revoked', { person })
    return SIGNED_OUT
  }
}

function withoutLease(record: PersonRecord | null, by: string): PersonRecord | null {
  if (record?.cred?.lease?.by !== by) return record
  const { lease: _, ...cred } = record.cred
  return { ...record, cred }
}
