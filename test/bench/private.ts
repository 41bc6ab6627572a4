import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { type FakeGitHub, startFakeGitHub } from '#test/support/fake-github/server.ts'
import type { Account, App } from '#test/support/fake-github/world.ts'
import { mistyped } from '#test/support/mistyped.ts'
import { type Service, startService } from '#test/support/service.ts'
import { appSettings, makeToken, signInAt } from '#test/support/signed-in.ts'
import { until } from '#test/support/until.ts'
import { median, printTable, spread, spreadOf } from './measure.ts'
import type { BenchRepository } from './repositories.ts'

const CALLS = 1_000
const ROUNDS = 3
/** Names that are asked for once each, so that no answer about them is cached. */
const UNSEEN = 200
const TARGET = 1.5
const PEOPLE = 300
/** Requests of each of them, one after another, once everything is warm. */
const EACH = 10

/** What the host answers about what is not to be seen. */
const NOTHING = {
  git: { status: 401, headers: { 'content-type': 'text/plain' }, body: 'Repository not found.\n' },
  api: { status: 404, body: '{"message":"Not Found"}' },
} as const

type Headers = Readonly<Record<string, string>>

/**
 * What it takes to read as somebody, beside reading as anybody; what a check of a credential takes; how many people at once fare; and whether the
 * time of an answer betrays that a private repository exists.
 */
export async function measurePrivate(root: string, repositories: readonly BenchRepository[]): Promise<void> {
  const subject = repositories.find(({ name }) => name === 'superpowers') ?? repositories[0]
  if (subject === undefined) throw new Error('there is no repository')
  const github = await startFakeGitHub({ root })
  const ada = github.user('ada')
  const bob = github.user('bob')
  const owner = github.organization('closed-org', { members: new Map([[ada, 'member']]) })
  const app = github.app('reader', { owner: github.user('maker') })
  github.install(app, owner)
  const { gitDir } = await github.shown(subject.owner, subject.name)
  for (const name of ['copy', ...Array.from({ length: 2 * UNSEEN }, (_, index) => `hidden-${index}`)])
    github.repository({ owner: 'closed-org', name, gitDir }, { visibility: 'private' })
  for (const kind of ['anonymous', 'user', 'installation', 'app'] as const) github.limits.set(kind, 1_000_000)
  const store = join(root, 'private-store')
  const service = await startService({
    ...appSettings(github, app),
    MOUNTGLASS_STORE: `disk:${store}`,
    MOUNTGLASS_LOCAL_REPOSITORIES: root,
    MOUNTGLASS_LOG: 'warn',
  })
  try {
    const cookie = await signInAt(service.baseUrl, github, app, ada)
    const stranger = await signInAt(service.baseUrl, github, app, bob)
    const address = '/gh/closed-org/copy'
    const ask = askerOf(service)
    const open = `/api/v1/mounts/gh/${subject.owner}/${subject.name}`
    await service.get('mounts', `/gh/${subject.owner}/${subject.name}`)
    await until(async () => (await ask(`/api/v1/mounts${address}`, { cookie })).includes('"status":"ready"'))
    const token = await makeToken(service.baseUrl, cookie, address)
    const anonymous = { path: open, headers: {} }
    await measureBeside(ask, [
      { name: 'session', path: `/api/v1/mounts${address}`, headers: { cookie }, beside: anonymous },
      { name: 'token', path: `/api/v1/mounts${address}`, headers: { authorization: `Bearer ${token}` }, beside: anonymous },
      { name: 'session, public', path: open, headers: { cookie }, beside: anonymous },
    ])
    await measureChecks(ask, { token, cookie })
    await measureCrowd(service, github, app, { address, owner })
    // A member has opened all of them, and the host answers strangers at the same pace whether there is something or not.
    for (let index = 0; index < 2 * UNSEEN; index++) await ask(`/api/v1/mounts/gh/closed-org/hidden-${index}`, { cookie })
    github.faults.choose(({ host, path }) =>
      /closed-org\/(hidden|absent)-/.test(path) ? NOTHING[host === 'web' ? 'git' : 'api'] : null,
    )
    await measureTelling(ask, stranger)
  } finally {
    await service.stop()
    await github.close()
  }
}

type Ask = (path: string, headers: Headers) => Promise<string>

function askerOf({ baseUrl }: Pick<Service, 'baseUrl'>, agent = new Agent({ keepAlive: true, maxSockets: 1 })): Ask {
  return (path, headers) =>
    new Promise((resolve, reject) => {
      const sent = request(`${baseUrl}${path}`, { headers, agent }, answer => {
        let text = ''
        answer.setEncoding('utf8')
        answer.on('data', chunk => (text += chunk))
        answer.on('end', () => resolve(text))
      })
      sent.on('error', reject).end()
    })
}

interface Beside {
  name: string
  path: string
  headers: Headers
  beside: { path: string; headers: Headers }
}

async function measureBeside(ask: Ask, cases: readonly Beside[]): Promise<void> {
  const rows = []
  for (const { name, path, headers, beside } of cases) {
    const rounds: { ours: number; theirs: number; p99: number }[] = []
    for (let round = 0; round < ROUNDS + 1; round++) {
      const times: Record<'ours' | 'theirs', number[]> = { ours: [], theirs: [] }
      // Alternating, so that whatever else the machine does is in both.
      for (let call = 0; call < CALLS; call++) {
        times.theirs.push(await timeOf(() => ask(beside.path, beside.headers)))
        times.ours.push(await timeOf(() => ask(path, headers)))
      }
      const ours = spread(times.ours)
      // The first round warms both.
      if (round > 0) rounds.push({ ours: ours.p50, theirs: spread(times.theirs).p50, p99: ours.p99 })
    }
    const ratio = median(rounds.map(({ ours, theirs }) => ours / theirs))
    rows.push({
      'warm mount': name,
      'p50 ms': median(rounds.map(({ ours }) => ours)),
      'p99 ms': median(rounds.map(({ p99 }) => p99)),
      'anonymous p50 ms': median(rounds.map(({ theirs }) => theirs)),
      ratio,
      target: `<= ${TARGET}${ratio > TARGET ? ': MISSED' : ''}`,
    })
  }
  printTable(`A mount that is read as somebody, beside one that anybody reads (median of ${ROUNDS} rounds)`, rows)
}

/** Requests that do little more than find out who asks. */
async function measureChecks(ask: Ask, { token, cookie }: { token: string; cookie: string }): Promise<void> {
  const [me, other] = ['/api/v1/me', '/api/v1/mounts/gh/closed-org/none']
  const changed = mistyped(token, 20)
  const bearer = (value: string) => ({ authorization: `Bearer ${value}` })
  const rows = []
  for (const [name, path, headers] of [
    ['none: nobody is looked up', me, {}],
    ['a session: its record is read', me, { cookie }],
    ['a mistyped token: no record is read', other, bearer(changed)],
    ['a good token, of another repository: its record is read', other, bearer(token)],
  ] as const) {
    // Warms it.
    await spreadOf(CALLS / 4, () => ask(path, headers))
    const { p50, p99 } = await spreadOf(CALLS, () => ask(path, headers))
    rows.push({ credential: name, 'p50 ms': p50, 'p99 ms': p99 })
  }
  printTable('Checking a credential', rows)
}

/** Many people who read a private repository at once, every other one of them with a token. */
async function measureCrowd(
  { baseUrl }: Service,
  github: FakeGitHub,
  app: App,
  { address, owner }: { address: string; owner: Account },
): Promise<void> {
  const credentials: Headers[] = []
  for (let index = 0; index < PEOPLE; index++) {
    const person = github.user(`person-${index}`)
    owner.members.set(person, 'member')
    const cookie = await signInAt(baseUrl, github, app, person)
    const isAgent = index % 2 === 1
    credentials.push(isAgent ? { authorization: `Bearer ${await makeToken(baseUrl, cookie, address)}` } : { cookie })
  }
  const agent = new Agent({ keepAlive: true, maxSockets: PEOPLE })
  const ask = askerOf({ baseUrl }, agent)
  const path = `/api/v1/mounts${address}`
  // Connections and code are warm, and nothing is known of what these people see.
  await Promise.all(credentials.map(() => ask('/healthz', {})))
  const rows = []
  for (const [name, turns] of [
    ['the first request of each: the host is asked', 1],
    [`${EACH} requests of each, one after another`, EACH],
  ] as const) {
    const startedAt = performance.now()
    github.log.clear()
    const times = await Promise.all(credentials.map(headers => timesOf(turns, () => ask(path, headers))))
    const seconds = (performance.now() - startedAt) / 1_000
    const answers = times.flat()
    const { p50, p99 } = spread(answers.map(({ ms }) => ms))
    const refused = answers.filter(({ text }) => !text.includes('"visibility":"private"')).length
    rows.push({
      [`${PEOPLE} people at once`]: name,
      'p50 ms': p50,
      'p99 ms': p99,
      'requests/s': answers.length / seconds,
      'questions to the host': github.log.all.length,
      'not answered': refused,
    })
  }
  agent.destroy()
  printTable('Many people who read a private repository at once, half of them with a token', rows)
}

async function timesOf(turns: number, call: () => Promise<string>): Promise<{ ms: number; text: string }[]> {
  const times = []
  for (let turn = 0; turn < turns; turn++) {
    const startedAt = performance.now()
    const text = await call()
    times.push({ ms: performance.now() - startedAt, text })
  }
  return times
}

/** Medians of alternating requests: they should differ by less than the spread of each. */
async function measureTelling(ask: Ask, cookie: string): Promise<void> {
  const rows = []
  for (const [asker, headers, from] of [
    ['anybody', {}, 0],
    ['a stranger who is signed in', { cookie }, UNSEEN],
  ] as const) {
    const times: Record<'hidden' | 'absent', number[]> = { hidden: [], absent: [] }
    for (let index = from; index < from + UNSEEN; index++)
      for (const kind of ['hidden', 'absent'] as const) {
        times[kind].push(await timeOf(() => ask(`/api/v1/mounts/gh/closed-org/${kind}-${index}`, headers)))
      }
    const difference = Math.abs(median(times.hidden) - median(times.absent))
    const within = Math.min(quartilesOf(times.hidden), quartilesOf(times.absent))
    rows.push({
      asker,
      'private p50 ms': median(times.hidden),
      'missing p50 ms': median(times.absent),
      'difference ms': difference,
      'spread ms': within,
      target: `difference < spread${difference < within ? '' : ': MISSED'}`,
    })
  }
  printTable(`Whether time tells a private repository from nothing (${UNSEEN} of each, alternating)`, rows)
}

async function timeOf(call: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await call()
  return performance.now() - startedAt
}

/** Between the first and the third quartile. */
function quartilesOf(times: readonly number[]): number {
  const sorted = [...times].sort((left, right) => left - right)
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
  return at(0.75) - at(0.25)
}
