import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { startFakeGitHub } from '#test/support/fake-github/server.ts'
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

/** What the host answers about what is not to be seen. */
const NOTHING = {
  git: { status: 401, headers: { 'content-type': 'text/plain' }, body: 'Repository not found.\n' },
  api: { status: 404, body: '{"message":"Not Found"}' },
} as const

type Headers = Readonly<Record<string, string>>

/** What it takes to read as somebody, beside reading as anybody; and whether the time of an answer betrays that a private repository exists. */
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
    await measureRefusals(ask, token)
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

function askerOf({ baseUrl }: Service): Ask {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
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

async function measureRefusals(ask: Ask, token: string): Promise<void> {
  const path = '/api/v1/mounts/gh/closed-org/none'
  const changed = `${token.slice(0, 20)}${token[20] === 'a' ? 'b' : 'a'}${token.slice(21)}`
  const rows = []
  for (const [name, value] of [
    ['mistyped: no look at the store', changed],
    ['good, of another repository', token],
  ] as const) {
    const { p50, p99 } = await spreadOf(CALLS, () => ask(path, { authorization: `Bearer ${value}` }))
    rows.push({ 'refused token': name, 'p50 ms': p50, 'p99 ms': p99 })
  }
  printTable('Refusing a token', rows)
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
