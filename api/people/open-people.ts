import type { IncomingHttpHeaders } from 'node:http'
import { ServiceError } from '#core/errors.ts'
import type { GitHost, HostRepository } from '#core/ports/git-host.ts'
import type { PeopleHost, PersonAccess, PersonAnswer } from '#core/ports/people-host.ts'
import { type AccountOptions, createAccount } from './account.ts'
import { activeTokens } from './agent-tokens.ts'
import { createPeopleContext, type PeopleContext, type PeopleContextOptions } from './context.ts'
import { cookiesOf } from './cookies.ts'
import { createHostCredentials, type HostCredentials } from './host-credentials.ts'
import { keepSignInsAlive } from './keep-alive.ts'
import type { People } from './people.ts'
import type { GrantRecord, PersonRecord } from './records.ts'
import { carriedSession, sessionOf } from './sessions.ts'
import { createSignIn } from './sign-in.ts'
import { isTokenOfHash, parseToken, type RecordId } from './token-text.ts'
import { ANONYMOUS, type KeyedViewer, type TokenRepository, type TokenViewer, type Viewer } from './viewer.ts'

export interface PeopleOptions extends PeopleContextOptions, Pick<AccountOptions, 'isServed'> {
  /** The host whose accounts sign in, and the same host as it answers anonymous requests; `null`: sign-in is not set up. */
  host: { people: PeopleHost; git: Pick<GitHost, 'segment' | 'repository'> } | null
  /** See `HostCredentialsOptions`. */
  leaseMs?: number
  /** Finds the viewer of an access token that an app holds. Default: there are none. */
  readAccess?: ReadAccess
}

/** The viewer of an access token, and when its grant was last used; `null` when it is not valid. */
export type ReadAccess = (
  context: Pick<People['context'], 'records' | 'clock'>,
  token: string,
) => Promise<{ viewer: TokenViewer & { id: RecordId }; lastUsedAt: string | null } | null>

/** The people of a deployment, over its state store. */
export function openPeople(options: PeopleOptions): People {
  const context = createPeopleContext(options)
  const { host, leaseMs } = options
  const credentials =
    host && createHostCredentials({ ...context, host: host.people, ...(leaseMs === undefined ? {} : { leaseMs }) })
  const { readAccess = async () => null } = options
  const lookup = new Lookup(context, createLastUsed(context), cookiesOf(context.origin), readAccess)
  const see = seeing(lookup, credentials, host?.people ?? null)
  return {
    context,
    signIn:
      host && credentials ? createSignIn({ context, host: host.people, credentials, cookies: cookiesOf(context.origin) }) : null,
    account:
      host && credentials
        ? createAccount({
            context,
            host: host.people,
            gitHost: host.git,
            credentials,
            recordOf: viewer => lookup.recordOf(viewer),
            isServed: options.isServed,
          })
        : null,
    bySession: headers => lookup.bySession(headers),
    byBearer: token => lookup.byBearer(token),
    ...see,
    keepAlive: async () => {
      if (host && credentials) await keepSignInsAlive({ context, host: host.people, credentials })
    },
    close: () => lookup.close(),
  }
}

/** Finds who sends a request. */
class Lookup {
  readonly #context: Pick<People['context'], 'records' | 'clock'>
  readonly #lastUsed: LastUsed
  readonly #cookies: ReturnType<typeof cookiesOf>
  readonly #readAccess: ReadAccess
  /** The records of viewers whose requests are running, so that each is read once for a request. */
  readonly #known = new WeakMap<KeyedViewer, PersonRecord>()

  constructor(
    context: Pick<People['context'], 'records' | 'clock'>,
    lastUsed: LastUsed,
    cookies: ReturnType<typeof cookiesOf>,
    readAccess: ReadAccess,
  ) {
    this.#context = context
    this.#lastUsed = lastUsed
    this.#cookies = cookies
    this.#readAccess = readAccess
  }

  async bySession(headers: IncomingHttpHeaders): Promise<Viewer> {
    const carried = carriedSession(this.#cookies.session, headers)
    const record = carried && (await this.#context.records.people.read(carried.person))
    const session = carried && record ? sessionOf(record, carried, this.#context.clock.now()) : null
    if (record === null || session === null) return ANONYMOUS
    this.#lastUsed.note(record.uk, 'session', session.id, session.seenAt)
    return this.#remembered({ kind: 'person', key: record.uk, sessionId: session.id }, record)
  }

  async byBearer(text: string): Promise<Viewer> {
    const token = parseToken(text)
    const viewer = token && (token.kind === 'agent' ? await this.#byAgentToken(token, text) : await this.#byAccessToken(text))
    if (viewer === null) throw new ServiceError('auth.required')
    return viewer
  }

  async recordOf(viewer: KeyedViewer): Promise<PersonRecord | null> {
    return this.#known.get(viewer) ?? (await this.#context.records.people.read(viewer.key))
  }

  close(): Promise<void> {
    return this.#lastUsed.close()
  }

  #remembered<Known extends KeyedViewer>(viewer: Known, record: PersonRecord): Known {
    this.#known.set(viewer, record)
    return viewer
  }

  async #byAgentToken({ person, id }: { person: RecordId; id: RecordId }, text: string): Promise<TokenViewer | null> {
    const record = await this.#context.records.people.read(person)
    const token = record && activeTokens(record.tokens, this.#context.clock.now()).find(one => one.id === id)
    const repository = token && repositoryOf(token)
    if (!record || !token || !repository || !isTokenOfHash(text, token.h)) return null
    this.#lastUsed.note(person, 'token', id, token.lastUsedAt)
    return this.#remembered({ kind: 'token', key: person, of: 'agent', id, repository }, record)
  }

  async #byAccessToken(text: string): Promise<TokenViewer | null> {
    const found = await this.#readAccess(this.#context, text)
    if (found === null) return null
    const { viewer, lastUsedAt } = found
    this.#lastUsed.note(viewer.key, 'grant', viewer.id, lastUsedAt)
    return viewer
  }
}

/** @param address `/<host>/<owner>/<name>` */
function repositoryOf({ address, repoId }: { address: string; repoId: string }): TokenRepository | null {
  const [, host, owner, name] = address.split('/')
  return host === undefined || owner === undefined || name === undefined ? null : { host, owner, name, id: repoId }
}

function seeing(
  lookup: Lookup,
  credentials: HostCredentials | null,
  host: PeopleHost | null,
): Pick<People, 'see' | 'seeOwn' | 'seeAs'> {
  type Looked = Promise<PersonAnswer<HostRepository>>

  async function seeFor(viewer: KeyedViewer, look: (host: PeopleHost, access: PersonAccess) => Looked) {
    if (credentials === null || host === null) return MISSING
    const record = await lookup.recordOf(viewer)
    const answer = await credentials.ask(viewer.key, access => look(host, access), record)
    if (answer.status === 'signed_out') {
      if (viewer.kind === 'token') throw new ServiceError('auth.required')
      return MISSING
    }
    const isOther = viewer.kind === 'token' && answer.status === 'ok' && answer.value.id !== viewer.repository.id
    return isOther ? MISSING : answer
  }

  return {
    see: (viewer, owner, name) => seeFor(viewer, (host, access) => host.repository(access, owner, name)),
    seeOwn: viewer => seeFor(viewer, (host, access) => host.repositoryById(access, viewer.repository.id)),
    async seeAs(person, owner, name) {
      if (credentials === null || host === null) return MISSING
      return await credentials.ask(person, access => host.repository(access, owner, name))
    },
  }
}

const MISSING = { status: 'missing' } as const

/** Notes when sessions, tokens and grants were used, beside the requests: an instant is at most an hour old, and a lost one costs nothing. */
interface LastUsed {
  /** @param before the instant that is stored now; `null`: none */
  note(person: RecordId, what: 'session' | 'token' | 'grant', id: RecordId, before: string | null): void
  /** Waits for the notes that are being written. */
  close(): Promise<void>
}

const NOTED_EVERY_MS = 60 * 60_000

function createLastUsed({ records, clock, fallbacks }: Pick<PeopleContext, 'records' | 'clock' | 'fallbacks'>): LastUsed {
  const noting = new Map<string, Promise<void>>()
  const isDue = (before: string | null, now: Date) => before === null || now.getTime() - Date.parse(before) >= NOTED_EVERY_MS

  function write(person: RecordId, what: 'session' | 'token' | 'grant', id: RecordId, at: string): Promise<unknown> {
    if (what === 'grant') return records.grants.update([person, id], record => record && withGrantUsed(record, at))
    const note = what === 'session' ? withSessionSeen : withTokenUsed
    return records.people.update([person], record => record && note(record, id, at))
  }

  return {
    note(person, what, id, before) {
      const key = `${what} ${id}`
      const now = clock.now()
      if (!isDue(before, now) || noting.has(key)) return
      const written = write(person, what, id, now.toISOString())
        .then(
          () => {},
          error => fallbacks.note('last_used', error),
        )
        .finally(() => noting.delete(key))
      noting.set(key, written)
    },
    async close() {
      await Promise.all(noting.values())
    },
  }
}

function withSessionSeen(record: PersonRecord, id: RecordId, seenAt: string): PersonRecord {
  const found = record.sessions.find(session => session.id === id)
  if (!found || found.seenAt >= seenAt) return record
  return { ...record, sessions: record.sessions.map(session => (session === found ? { ...session, seenAt } : session)) }
}

function withTokenUsed(record: PersonRecord, id: RecordId, lastUsedAt: string): PersonRecord {
  const found = record.tokens.find(token => token.id === id)
  if (!found || (found.lastUsedAt ?? '') >= lastUsedAt) return record
  return { ...record, tokens: record.tokens.map(token => (token === found ? { ...token, lastUsedAt } : token)) }
}

function withGrantUsed(record: GrantRecord, lastUsedAt: string): GrantRecord {
  return (record.lastUsedAt ?? '') >= lastUsedAt ? record : { ...record, lastUsedAt }
}
