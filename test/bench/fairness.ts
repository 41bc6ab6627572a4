import { spawn } from 'node:child_process'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Attack, type StartAttack, sendRequests } from '#test/attack/attack.ts'
import { type Attacked, LARGE_REFS, LARGE_SIZES, makeAttacked, visitFirst } from '#test/attack/attacked.ts'
import { largeRefs } from '#test/attack/large-refs.ts'
import { largeTables } from '#test/attack/large-tables.ts'
import { madeUpNames } from '#test/attack/made-up-names.ts'
import { manyRefs } from '#test/attack/many-refs.ts'
import { slowConnections } from '#test/attack/slow-connections.ts'
import { stalledReaders } from '#test/attack/stalled-readers.ts'
import { unknownHashes } from '#test/attack/unknown-hashes.ts'
import { startFakeGitHub } from '#test/support/fake-github/server.ts'
import { type Service, startService } from '#test/support/service.ts'
import { callPaths } from './calls.ts'
import { ask, type Visit, type Waited } from './fairness-visitor.ts'
import { median, printTable } from './measure.ts'
import { diskFlushes, type ServiceTime, serviceTime } from './processor-time.ts'
import { busyTime, keepTo } from './processors.ts'

/**
 * What an ordinary visitor waits while somebody attacks, beside what the same visitor waits without. Visitor, attacker and git host have
 * processors of their own, as they would be other machines: what counts is the work that the service does for the attacker. The service, its jobs
 * and its git share the other half, since they are one machine in life, too.
 *
 * Calm visits and attacks take turns in rounds, so that what the machine does beside them meets both. Of a figure the median of the rounds counts.
 */
const ROUNDS = 3
const SECONDS = 6
const FRESH_EACH = 5
/** The next visit begins when so many calls in a row took less than so many milliseconds, and no job is left. */
const RECOVERED = { calls: 20, milliseconds: 40 }
const LONGEST_RECOVERY_MS = 60_000
const CROWD = 16
const VISITOR = join(import.meta.dirname, 'fairness-visitor.ts')
const PREFERRED = -10
/** An ordinary visitor waits at most so many times longer, by the 99th percentile; a repository that is first opened is ready within so long, by the median. */
const TARGET = { ratio: 3, readyMs: 3_000 }

/** A visit, and what the service did meanwhile. */
interface Watched {
  waited: Waited
  seconds: number
  used: ServiceTime
  /** Milliseconds in which others had the processors of the service. Where that is not little, the figures tell more of them than of the service. */
  strangers: number
  /** Milliseconds of a flush of the disk. A job waits for some fourteen: where each takes long, new repositories tell of the disk. */
  flush: number
  /** Of the event loop, as the service itself measures it. */
  loopDelay: { p99: number; max: number }
}

/** The visits of all rounds during one attack. */
interface Visits {
  attack: string
  seen: Watched[]
}

/** @param only names of attacks. Default: all */
export async function measureFairness(root: string, only: readonly string[] = []): Promise<void> {
  const github = await startFakeGitHub({ root })
  const isMeant = ({ name }: NamedAttack) => only.length === 0 || only.includes(name)
  const names = ATTACKS.filter(isMeant).length
  const attacked = makeAttacked(root, { ...LARGE_SIZES, fresh: FRESH_EACH * (1 + ROUNDS * (1 + names)) })
  // What the service starts is kept where the service is, from its first process on.
  const isApart = keepTo('service', process.pid)
  const service = await startService({
    MOUNTGLASS_GITHUB_URL: github.origins.web,
    MOUNTGLASS_GITHUB_API_URL: github.origins.api,
    MOUNTGLASS_LOCAL_REPOSITORIES: root,
    MOUNTGLASS_LOG: 'error',
  })
  keepTo('others', process.pid)
  try {
    const paths = [`/api/v1/mounts${attacked.visited}`, ...(await callPaths(service, attacked.visited))]
    await visitFirst(service, attacked)
    const visit = async (seconds: number, attack?: Attack) => {
      const fresh = attacked.freshNames.splice(0, FRESH_EACH)
      const seen = watch(service, { origin: service.baseUrl, paths, fresh, seconds })
      return await seen.finally(() => attack?.stop()).finally(() => recover(service, paths))
    }
    await visit(SECONDS / 2)
    const [calm, ...attacks]: Visits[] = ['nothing', ...ATTACKS.filter(isMeant).map(({ name }) => name)].map(attack => ({
      attack,
      seen: [],
    }))
    for (let round = 0; round < ROUNDS; round++) {
      calm?.seen.push(await visit(SECONDS))
      for (const { attack, seen } of attacks) {
        const { start } = ATTACKS.find(({ name }) => name === attack) as NamedAttack
        seen.push(await visit(SECONDS, start(attacked, round)(service.baseUrl)))
      }
    }
    if (calm) print(calm, attacks, isApart)
  } finally {
    keepTo('both', process.pid)
    await service.stop()
    await github.close()
  }
}

interface NamedAttack {
  name: string
  start(attacked: Attacked, round: number): StartAttack
}

/** Of the large refs: new ones in each round, since an indexed ref is an ordinary address. One takes longer to index than a visit lasts. */
const REFS_EACH = LARGE_REFS / ROUNDS

/** The first is no attack: it shows what as many ordinary requests cost. */
const ATTACKS: readonly NamedAttack[] = [
  {
    name: 'an ordinary crowd',
    start:
      ({ visited }) =>
      origin =>
        sendRequests(origin, CROWD, () => `/api/v1/mounts${visited}`),
  },
  { name: 'unknown hashes', start: ({ history }) => unknownHashes(history.address, history.lost) },
  {
    name: 'many large refs',
    start: ({ large }, round) => largeRefs(large.address, large.refs.slice(round * REFS_EACH, (round + 1) * REFS_EACH)),
  },
  { name: 'made-up names', start: () => madeUpNames },
  { name: 'many long refs', start: ({ visited }) => manyRefs(visited) },
  { name: 'stalled readers', start: ({ rawPath }) => stalledReaders(rawPath) },
  { name: 'slow connections', start: () => slowConnections },
  { name: 'large tables', start: ({ tables }) => largeTables(tables.address, tables.paths) },
]

async function watch(service: Service, visit: Omit<Visit, 'service'>): Promise<Watched> {
  const pid = service.process.pid ?? 0
  await loopDelayOf(service) // which begins anew with each look
  const [before, busyBefore, flushed, startedAt] = [serviceTime(pid), busyTime('service'), diskFlushes(), performance.now()]
  const waited = await visitFor({ ...visit, service: pid })
  const [after, busy, seconds] = [serviceTime(pid), busyTime('service') - busyBefore, (performance.now() - startedAt) / 1000]
  const used = {
    main: { ran: after.main.ran - before.main.ran, queued: after.main.queued - before.main.queued },
    otherThreads: after.otherThreads - before.otherThreads,
    below: after.below - before.below,
    starts: after.starts - before.starts,
  }
  const strangers = Math.max(0, busy - used.main.ran - used.otherThreads - used.below)
  const flushes = diskFlushes()
  const flush = (flushes.milliseconds - flushed.milliseconds) / Math.max(1, flushes.count - flushed.count)
  return { waited, seconds, used, strangers, flush, loopDelay: await loopDelayOf(service) }
}

/** Milliseconds since the last look. */
async function loopDelayOf({ baseUrl }: Service): Promise<Watched['loopDelay']> {
  const metrics = await ask(`${baseUrl}/metrics`)
  const lag = (name: string) => 1000 * figureIn(metrics, `nodejs_eventloop_lag_${name}_seconds`)
  return { p99: lag('p99'), max: lag('max') }
}

function figureIn(metrics: string, name: string): number {
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(metrics)?.[1] ?? Number.NaN)
}

async function visitFor(visit: Visit): Promise<Waited> {
  const child = spawn(process.execPath, [VISITOR], { stdio: ['pipe', 'pipe', 'inherit'] })
  if (child.pid !== undefined) {
    keepTo('others', child.pid)
    prefer(child.pid)
  }
  child.stdin.end(JSON.stringify(visit))
  return JSON.parse(await text(child.stdout)) as Waited
}

/**
 * The visitor stands for another machine: it takes no processor from the service, and does not wait for one that the attacker has. Only an
 * administrator may have it so.
 */
function prefer(pid: number): void {
  try {
    setPriority(pid, PREFERRED)
  } catch {
    // Its waits for a processor count as waits for the service; the second table tells them.
  }
}

/** Waits until the work of a visit has ended, its jobs too, so that it does not count against the next one; for `LONGEST_RECOVERY_MS` at most. */
async function recover(service: Service, paths: readonly string[]): Promise<void> {
  const endsAt = performance.now() + LONGEST_RECOVERY_MS
  for (let calm = 0; calm < RECOVERED.calls && performance.now() < endsAt; ) {
    const startedAt = performance.now()
    await ask(`${service.baseUrl}${paths[0]}`)
    const isCalm = performance.now() - startedAt < RECOVERED.milliseconds
    calm = isCalm && figureIn(await ask(`${service.baseUrl}/metrics`), 'mountglass_jobs_running') === 0 ? calm + 1 : 0
    await sleep(RECOVERED.milliseconds)
  }
}

function print(calm: Visits, attacks: readonly Visits[], isApart: boolean): void {
  const where = isApart
    ? 'attacker and git host on processors of their own'
    : 'attacker and git host on the processors of the service'
  const all = [calm, ...attacks]
  printTable(
    `An ordinary visitor while one client attacks: medians of ${ROUNDS} rounds of ${SECONDS} s each, one process, ${where}`,
    all.map(visits => rowOf(visits, calm)),
  )
  printTable('Where the slowest calls of the visitor spent their time: the slowest fiftieth, mean ms', all.map(slowRowOf))
  printTable('What the service did meanwhile: its event loop, and percent of one processor', all.map(useRowOf))
}

const medianOf = ({ seen }: Visits, figure: (watched: Watched) => number) => median(seen.map(figure))
const longestOf = ({ seen }: Visits, figure: (watched: Watched) => number) => Math.max(...seen.map(figure))
const p99 = ({ waited }: Watched) => waited.p99
const fresh = ({ waited }: Watched) => waited.fresh
const longestFresh = ({ waited }: Watched) => waited.longestFresh

function rowOf(visits: Visits, calm: Visits): Record<string, string | number> {
  const p99s = visits.seen.map(p99)
  return {
    attack: visits.attack,
    'p50 ms': medianOf(visits, ({ waited }) => waited.p50),
    'p99 ms': medianOf(visits, p99),
    'from to': [Math.min(...p99s), Math.max(...p99s)].map(Math.round).join('–'),
    'p99 / calm': medianOf(visits, p99) / medianOf(calm, p99),
    'fresh ms': medianOf(visits, fresh),
    'fresh / calm': medianOf(visits, fresh) / medianOf(calm, fresh),
    'longest ms': longestOf(visits, longestFresh),
    target: visits === calm ? '' : verdict(visits, calm),
  }
}

function slowRowOf(visits: Visits): Record<string, string | number> {
  const of = (figure: (slowest: Waited['slowest']) => number) => medianOf(visits, ({ waited }) => figure(waited.slowest))
  return {
    attack: visits.attack,
    'took ms': of(({ took }) => took),
    'loop ran': of(({ loop }) => loop.ran),
    'loop without a processor': of(({ loop }) => loop.queued),
    'loop asleep': of(({ took, loop }) => Math.max(0, took - loop.ran - loop.queued)),
    'visitor ran': of(({ visitor }) => visitor.ran),
    'visitor without a processor': of(({ visitor }) => visitor.queued),
  }
}

function useRowOf(visits: Visits): Record<string, string | number> {
  const percent = (figure: (watched: Watched) => number) =>
    Math.round(medianOf(visits, watched => figure(watched) / watched.seconds / 10))
  return {
    attack: visits.attack,
    'loop delay p99 ms': medianOf(visits, ({ loopDelay }) => loopDelay.p99),
    'longest ms': longestOf(visits, ({ loopDelay }) => loopDelay.max),
    'loop %': percent(({ used }) => used.main.ran),
    'loop without a processor %': percent(({ used }) => used.main.queued),
    'other threads %': percent(({ used }) => used.otherThreads),
    'jobs and git %': percent(({ used }) => used.below),
    'strangers %': percent(({ strangers }) => strangers),
    'disk flush ms': medianOf(visits, ({ flush }) => flush),
    'starts on the machine / s': medianOf(visits, ({ used, seconds }) => used.starts / seconds),
  }
}

function verdict(visits: Visits, calm: Visits): string {
  const isMet = medianOf(visits, p99) <= TARGET.ratio * medianOf(calm, p99) && medianOf(visits, fresh) <= TARGET.readyMs
  const target = `<= ${TARGET.ratio}x, ready in <= ${TARGET.readyMs} ms`
  return isMet ? target : `${target}: MISSED`
}
