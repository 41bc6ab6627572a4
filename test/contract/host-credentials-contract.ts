import { afterEach, beforeEach, expect, test } from 'vitest'
import { openPeople } from '#api/people/open-people.ts'
import type { People } from '#api/people/people.ts'
import { NO_FALLBACKS } from '#core/ports/fallbacks.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import type { Clock } from '#core/ports/system.ts'
import { personKey } from '#core/snapshot/store-keys.ts'
import { type GitHubHost, openGitHubHost } from '#infra/github/host.ts'
import { systemRandom } from '#infra/system/system.ts'
import { type FakeGitHub, startFakeGitHub } from '#test/support/fake-github/server.ts'
import type { Account, App } from '#test/support/fake-github/world.ts'
import { ID_KEY } from '#test/support/open-test-people.ts'
import { PATIENT } from '#test/support/patient.ts'
import { createRepositories, type TestRepositories } from '#test/support/repository.ts'
import { type StoreDriver, temporaryFolder } from '#test/support/store-drivers.ts'

const ORIGIN = 'https://skills.example.org'
const KEYS = [{ kid: 'a', key: Buffer.alloc(32, 7).toString('base64url') }]
const EIGHT_HOURS = 8 * 3_600

/** One process: its people, and its driver of the host. */
interface Process {
  people: People
  host: GitHubHost
}

/** What holds for the credentials of people in every store, whatever number of processes uses them. */
export function hostCredentialsContract({ open }: StoreDriver<StateStore>): void {
  let repositories: TestRepositories
  let github: FakeGitHub
  let states: StateStore
  let app: App
  let ada: Account
  let processes: Process[]
  let audits: object[]

  beforeEach(async () => {
    repositories = await createRepositories()
    const closed = await repositories.create('acme', 'closed')
    await closed.commit({ 'a.md': 'a' })
    github = await startFakeGitHub({ root: repositories.root })
    // Only `advance` moves it: how long a test takes decides nothing.
    github.clock.stopAt(Date.now())
    states = await open(await temporaryFolder())
    ada = github.user('ada')
    const acme = github.organization('acme', { members: new Map([[ada, 'member']]) })
    await github.shown('acme', 'closed', { visibility: 'private' })
    app = github.app('reader', { owner: acme, callbackUrls: [`${ORIGIN}/auth/callback`] })
    github.install(app, acme)
    audits = []
    processes = [await start(), await start()]
  })

  afterEach(async () => {
    for (const { host } of processes) await host.close()
    await states.close()
    await github.close()
    await repositories.remove()
    expect(github.mistakes).toEqual([])
  })

  /** @param aheadSeconds by which the clock of the process is wrong */
  async function start(aheadSeconds = 0): Promise<Process> {
    const clock: Clock = { now: () => new Date(github.clock.now() + aheadSeconds * 1000) }
    const { web: url, api: apiUrl } = github.origins
    const common = { url, apiUrl, token: null, webhookSecret: null, timeouts: PATIENT }
    const host = await openGitHubHost({ ...common, app: { ...app, id: String(app.id) }, clock, onWarning: () => {} })
    return { people: openPeople(optionsOf({ host, clock })), host }
  }

  function optionsOf({ host, clock }: { host: GitHubHost; clock: Clock }): Parameters<typeof openPeople>[0] {
    return {
      states,
      keys: KEYS,
      idKey: ID_KEY,
      origin: ORIGIN,
      clock,
      random: systemRandom,
      log: { info: fields => void audits.push(fields) },
      fallbacks: NO_FALLBACKS,
      host: { people: host.people ?? failed(), git: host },
      isServed: () => true,
      leaseMs: 20_000,
    }
  }

  /** A process that reads the record of the person once, and goes on when it is told to. */
  function openSlow({ people, host }: Process, person: string) {
    const [hasRead, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const held: StateStore = {
      ...states,
      async read(key) {
        const stored = await states.read(key)
        if (key === personKey(person)) {
          hasRead.resolve()
          await goesOn.promise
        }
        return stored
      },
    }
    const slow = openPeople({ ...optionsOf({ host, clock: people.context.clock }), states: held })
    return { people: slow, hasRead: hasRead.promise, goOn: goesOn.resolve }
  }

  async function signIn({ people }: Process = processes[0] as Process): Promise<string> {
    const begun = await people.signIn?.begin({}, '/')
    github.world.browser = { user: ada, approves: true }
    const back = await fetch(begun?.location ?? '', { redirect: 'manual' })
    const query = Object.fromEntries(new URL(back.headers.get('location') ?? '').searchParams)
    const cookie = begun?.cookies[0]?.split(';')[0] ?? ''
    const ended = await people.signIn?.finish({ cookie }, query, { requestId: '1', ip: '127.0.0.1' })
    if (ended?.status !== 'signed_in') throw new Error(ended?.status)
    return people.context.recordIds.person(`gh-${ada.id}`)
  }

  const see = (person: string, which = processes) => which.map(({ people }) => people.seeAs(person, 'acme', 'closed'))
  const refreshes = () => github.log.all.filter(({ path }) => path === '/login/oauth/access_token').length - 1
  const recordOf = async (person: string) =>
    (await states.read(personKey(person)))?.value as { cred: { sealed: string } | null; sessions: unknown[] }

  test('questions of two processes at once refresh a credential once, and all are answered', async () => {
    const person = await signIn()
    for (let round = 1; round <= 3; round++) {
      github.clock.advance(EIGHT_HOURS - 60)
      const answers = await Promise.all(Array.from({ length: 10 }, () => see(person)).flat())
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set(['ok']))
      expect(refreshes()).toBe(round)
    }
    expect((await recordOf(person)).sessions).toHaveLength(1)
  })

  test('a refusal after another process refreshed the credential signs nobody out', async () => {
    const person = await signIn()
    const [one, other] = processes as [Process, Process]
    await Promise.all(see(person))
    github.clock.advance(60)
    // The other process has read the record, and asks with what it has read while the first one refreshes.
    const slow = openSlow(other, person)
    const asking = slow.people.seeAs(person, 'acme', 'closed')
    await slow.hasRead
    const before = (await recordOf(person)).cred?.sealed
    github.clock.advance(EIGHT_HOURS - 200)
    await one.people.seeAs(person, 'acme', 'closed')
    expect((await recordOf(person)).cred?.sealed).not.toBe(before)
    slow.goOn()
    expect((await asking).status).toBe('ok')
    expect((await recordOf(person)).sessions).toHaveLength(1)
    expect(audits).not.toContainEqual(expect.objectContaining({ audit: 'host.revoked' }))
  })

  test('a person whose authorization ended is signed out once, for any number of requests', async () => {
    const person = await signIn()
    github.world.tokens.clear()
    github.world.refreshTokens.clear()
    const answers = await Promise.all([...see(person), ...see(person)])
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 4 }, () => 'signed_out'))
    expect(await recordOf(person)).toMatchObject({ cred: null, sessions: [] })
    expect(audits.filter(fields => 'audit' in fields && fields.audit === 'host.revoked')).toHaveLength(1)
    await signIn()
    expect((await processes[1]?.people.seeAs(person, 'acme', 'closed'))?.status).toBe('ok')
  })

  test('a refresh that the host refuses signs out, and one that fails does not', async () => {
    const person = await signIn()
    github.clock.advance(EIGHT_HOURS + 60)
    github.faults.add({ match: { path: '/login/oauth/access_token' }, status: 502, body: '' })
    expect((await processes[0]?.people.seeAs(person, 'acme', 'closed'))?.status).toBe('unavailable')
    expect((await recordOf(person)).sessions).toHaveLength(1)
    expect((await processes[1]?.people.seeAs(person, 'acme', 'closed'))?.status).toBe('ok')
    github.clock.advance(EIGHT_HOURS + 60)
    github.world.refreshTokens.clear()
    expect((await processes[0]?.people.seeAs(person, 'acme', 'closed'))?.status).toBe('signed_out')
    expect((await recordOf(person)).sessions).toEqual([])
  })

  test('a credential that is about to expire is used while the host cannot refresh it', async () => {
    const person = await signIn()
    github.clock.advance(EIGHT_HOURS - 120)
    github.faults.add({ match: { path: '/login/oauth/access_token' }, status: 502, body: '' })
    expect((await processes[0]?.people.seeAs(person, 'acme', 'closed'))?.status).toBe('ok')
  })

  test('processes whose clocks differ by minutes sign nobody out', async () => {
    const skewed = [await start(-8 * 60), await start(8 * 60)]
    processes.push(...skewed)
    const person = await signIn(skewed[0])
    for (let round = 0; round < 4; round++) {
      github.clock.advance(EIGHT_HOURS / 2 + 30)
      const answers = await Promise.all([...see(person), ...see(person)])
      expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 'ok'))
    }
    expect((await recordOf(person)).sessions).toHaveLength(1)
  })

  test('a process that dies during a refresh delays others no longer than its lease', async () => {
    const person = await signIn()
    github.clock.advance(EIGHT_HOURS - 60)
    const stored = await states.read(personKey(person))
    const value = stored?.value as { cred: object }
    const until = new Date(github.clock.now() + 10_000).toISOString()
    await states.replace(
      personKey(person),
      { ...value, cred: { ...value.cred, lease: { by: 'dead', until } } },
      stored?.etag ?? '',
    )
    const asking = see(person)
    github.clock.advance(11)
    expect((await Promise.all(asking)).map(({ status }) => status)).toEqual(['ok', 'ok'])
    expect(refreshes()).toBe(1)
  })

  /** Gives the person a token that lives for 300 days. */
  async function actsByToken(person: string): Promise<void> {
    const { records } = (processes[0] as Process).people.context
    const at = (days: number) => new Date(github.clock.now() + days * 86_400_000).toISOString()
    const dates = { createdAt: at(0), expiresAt: at(300), lastUsedAt: null }
    const token = { id: 'a', h: 'h', address: '/gh/acme/closed', repoId: 'gh-1', label: 'x', ...dates }
    await records.people.update([person], record => record && { ...record, tokens: [token] })
  }

  test('a process that read the record before another one refreshed does not refresh again', async () => {
    const person = await signIn()
    await actsByToken(person)
    github.clock.advance(29 * 86_400)
    const [one, other] = processes as [Process, Process]
    const slow = openSlow(other, person)
    const round = slow.people.keepAlive()
    await slow.hasRead
    await one.people.keepAlive()
    slow.goOn()
    await round
    expect(refreshes()).toBe(1)
  })

  test('people with an active token or grant are kept signed in at the host', async () => {
    const person = await signIn()
    const { records } = (processes[0] as Process).people.context
    await actsByToken(person)
    await processes[0]?.people.keepAlive()
    expect(refreshes()).toBe(0)
    github.clock.advance(29 * 86_400)
    await Promise.all(processes.map(({ people }) => people.keepAlive()))
    expect(refreshes()).toBe(1)
    // 184 days after a refresh it could not be refreshed any more.
    for (let months = 0; months < 8; months++) {
      github.clock.advance(29 * 86_400)
      await processes[months % 2]?.people.keepAlive()
    }
    expect((await processes[1]?.people.seeAs(person, 'acme', 'closed'))?.status).toBe('ok')
    await records.people.update([person], record => record && { ...record, tokens: [] })
    await records.grants.update([person, 'b'], () => grantOf(person, new Date(github.clock.now()).toISOString()))
    const before = refreshes()
    github.clock.advance(29 * 86_400)
    await processes[0]?.people.keepAlive()
    expect(refreshes()).toBe(before + 1)
  })

  test('a credential is given back when the last session, token and grant of its person ran out', async () => {
    const person = await signIn()
    const { records } = (processes[0] as Process).people.context
    const stored = async () => (await records.people.read(person))?.cred ?? null
    const rounds = async () => await Promise.all(processes.map(({ people }) => people.keepAlive()))
    const at = (days: number) => new Date(github.clock.now() + days * 86_400_000).toISOString()
    const token = { id: 'a', h: 'h', address: '/gh/acme/closed', repoId: 'gh-1', label: 'x', createdAt: at(0), lastUsedAt: null }
    await records.people.update([person], record => record && { ...record, tokens: [{ ...token, expiresAt: at(20) }] })
    await records.grants.update([person, 'b'], () => grantOf(person, at(0)))
    // The session ran out; token and grant live.
    github.clock.advance(15 * 86_400)
    await rounds()
    expect(await stored()).not.toBeNull()
    // The token ran out; the grant lives.
    github.clock.advance(10 * 86_400)
    await rounds()
    expect(await stored()).not.toBeNull()
    await records.grants.update([person, 'b'], record => record && { ...record, families: [] })
    await rounds()
    expect(await stored()).toBeNull()
    expect([...github.world.tokens.values()].filter(({ kind }) => kind === 'user')).toEqual([])
    expect(audits).not.toContainEqual(expect.objectContaining({ audit: 'host.revoked' }))
    // Who signs in again is as before.
    await signIn()
    await rounds()
    expect(await stored()).not.toBeNull()
  })

  test('a credential that never expires is kept without a refresh', async () => {
    app.expiringTokens = false
    const person = await signIn()
    const { records } = (processes[0] as Process).people.context
    await records.grants.update([person, 'b'], () => grantOf(person, new Date(github.clock.now()).toISOString()))
    github.clock.advance(29 * 86_400)
    await Promise.all(processes.map(({ people }) => people.keepAlive()))
    expect(refreshes()).toBe(0)
    expect((await recordOf(person)).cred).not.toBeNull()
    expect((await processes[1]?.people.seeAs(person, 'acme', 'closed'))?.status).toBe('ok')
  })
}

function grantOf(person: string, createdAt: string) {
  const client = { h: 'h', id: 'c', name: 'An app', uri: null, kind: 'dcr' as const }
  const of = { address: '/gh/acme/closed', repoId: 'gh-1', scope: 'read' }
  const exp = '2099-01-01T00:00:00Z'
  const families = [{ fid: 'f', createdAt, exp, idleExp: exp, gen: 0, rh: 'h', old: [], prev: null, at: [] }]
  return { v: 1 as const, id: 'b', uk: person, uid: 'gh-1', client, ...of, createdAt, lastUsedAt: null, families, ended: 0, exp }
}

function failed(): never {
  throw new Error('no people')
}
