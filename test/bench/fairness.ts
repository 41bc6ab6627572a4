import { spawn } from 'node:child_process'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { type StartAttack, sendRequests } from '#test/attack/attack.ts'
import { type Attacked, LARGE_SIZES, makeAttacked, visitFirst } from '#test/attack/attacked.ts'
import { largeRefs } from '#test/attack/large-refs.ts'
import { largeTables } from '#test/attack/large-tables.ts'
import { madeUpNames } from '#test/attack/made-up-names.ts'
import { slowConnections } from '#test/attack/slow-connections.ts'
import { stalledReaders } from '#test/attack/stalled-readers.ts'
import { unknownHashes } from '#test/attack/unknown-hashes.ts'
import { startFakeGitHub } from '#test/support/fake-github/server.ts'
import { type Service, startService } from '#test/support/service.ts'
import { callPaths } from './calls.ts'
import { ask, CALL_EVERY_MS, LONGEST_MS, type Visit, type Waited } from './fairness-visitor.ts'
import { printTable } from './measure.ts'
import { type ServiceTime, serviceTime } from './processor-time.ts'
import { keepTo } from './processors.ts'

/**
 * What an ordinary visitor waits while somebody attacks, beside what the same visitor waits without. Visitor, attacker and git host have
 * processors of their own, as they would be other machines: what counts is the work that the service does for the attacker. The service, its jobs
 * and its git share the other half, since they are one machine in life, too.
 */
const SECONDS = 8
const FRESH_EACH = 5
const CROWD = 16
const VISITOR = join(import.meta.dirname, 'fairness-visitor.ts')
const PREFERRED = -10
const TARGET = { ratio: 3, milliseconds: 1_000 }

/** A visit, and what the service did meanwhile. */
interface Watched {
  waited: Waited
  seconds: number
  used: ServiceTime
  /** Of the event loop, as the service itself measures it. */
  loopDelay: { p99: number; max: number }
}

/** @param only names of attacks. Default: all */
export async function measureFairness(root: string, only: readonly string[] = []): Promise<void> {
  const github = await startFakeGitHub({ root })
  const attacked = makeAttacked(root, LARGE_SIZES)
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
    const visit = (seconds: number) =>
      watch(service, { origin: service.baseUrl, paths, fresh: attacked.freshNames.splice(0, FRESH_EACH), seconds })
    await visit(SECONDS / 3)
    const calm = await visit(SECONDS)
    const visits: [name: string, seen: Watched, target: string][] = [['nothing', calm, '']]
    for (const [name, start] of attacksOn(attacked).filter(([one]) => only.length === 0 || only.includes(one))) {
      const attack = start(service.baseUrl)
      const seen = await visit(SECONDS).finally(() => attack.stop())
      visits.push([name, seen, verdict(seen.waited, calm.waited)])
      await recover(service, paths)
    }
    const where = isApart
      ? 'attacker and git host on processors of their own'
      : 'attacker and git host on the processors of the service'
    printTable(
      `An ordinary visitor while one client attacks: ${SECONDS} s each, one process, ${where}`,
      visits.map(([name, { waited }, target]) => rowOf(name, waited, calm.waited, target)),
    )
    printTable(
      'Where the slowest calls of the visitor spent their time: the slowest fiftieth, mean ms',
      visits.map(([name, { waited }]) => slowRowOf(name, waited)),
    )
    printTable(
      'What the service did meanwhile: its event loop, and percent of one processor',
      visits.map(([name, seen]) => useRowOf(name, seen)),
    )
  } finally {
    keepTo('both', process.pid)
    await service.stop()
    await github.close()
  }
}

/** The first is no attack: it shows what as many ordinary requests cost. */
function attacksOn({ visited, history, large, tables, rawPath }: Attacked): [name: string, start: StartAttack][] {
  return [
    ['an ordinary crowd', origin => sendRequests(origin, CROWD, () => `/api/v1/mounts${visited}`)],
    ['unknown hashes', unknownHashes(history.address, history.lost)],
    ['many large refs', largeRefs(large.address, large.refs)],
    ['made-up names', madeUpNames],
    ['stalled readers', stalledReaders(rawPath)],
    ['slow connections', slowConnections],
    ['large tables', largeTables(tables.address, tables.paths)],
  ]
}

async function watch(service: Service, visit: Omit<Visit, 'service'>): Promise<Watched> {
  const pid = service.process.pid ?? 0
  await loopDelayOf(service) // which begins anew with each look
  const [before, startedAt] = [serviceTime(pid), performance.now()]
  const waited = await visitFor({ ...visit, service: pid })
  const [after, seconds] = [serviceTime(pid), (performance.now() - startedAt) / 1000]
  const used = {
    main: { ran: after.main.ran - before.main.ran, queued: after.main.queued - before.main.queued },
    otherThreads: after.otherThreads - before.otherThreads,
    below: after.below - before.below,
    starts: after.starts - before.starts,
  }
  return { waited, seconds, used, loopDelay: await loopDelayOf(service) }
}

/** Milliseconds since the last look. */
async function loopDelayOf({ baseUrl }: Service): Promise<Watched['loopDelay']> {
  const metrics = await ask(`${baseUrl}/metrics`)
  const figure = (name: string) =>
    1000 * Number(new RegExp(`^nodejs_eventloop_lag_${name}_seconds (\\S+)$`, 'm').exec(metrics)?.[1] ?? Number.NaN)
  return { p99: figure('p99'), max: figure('max') }
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

/** Waits until the work of an attack has ended, so that it does not count against the next one; for `LONGEST_MS` at most. */
async function recover(service: Service, paths: readonly string[]): Promise<void> {
  const endsAt = performance.now() + LONGEST_MS
  for (let calm = 0; calm < 20 && performance.now() < endsAt; ) {
    const startedAt = performance.now()
    await ask(`${service.baseUrl}${paths[0]}`)
    calm = performance.now() - startedAt < CALL_EVERY_MS ? calm + 1 : 0
    await sleep(CALL_EVERY_MS)
  }
}

function rowOf(attack: string, waited: Waited, calm: Waited, target: string): Record<string, string | number> {
  return {
    attack,
    'p50 ms': waited.p50,
    'p99 ms': waited.p99,
    'p99 / calm': waited.p99 / calm.p99,
    'fresh ms': waited.fresh,
    'fresh / calm': waited.fresh / calm.fresh,
    'longest ms': waited.longestFresh,
    target,
  }
}

function slowRowOf(attack: string, { slowest: { took, loop, visitor } }: Waited): Record<string, string | number> {
  return {
    attack,
    'took ms': took,
    'loop ran': loop.ran,
    'loop without a processor': loop.queued,
    'loop asleep': Math.max(0, took - loop.ran - loop.queued),
    'visitor ran': visitor.ran,
    'visitor without a processor': visitor.queued,
  }
}

function useRowOf(attack: string, { seconds, used, loopDelay }: Watched): Record<string, string | number> {
  const percent = (milliseconds: number) => Math.round(milliseconds / seconds / 10)
  return {
    attack,
    'loop delay p99 ms': loopDelay.p99,
    'longest ms': loopDelay.max,
    'loop %': percent(used.main.ran),
    'loop without a processor %': percent(used.main.queued),
    'other threads %': percent(used.otherThreads),
    'jobs and git %': percent(used.below),
    'starts on the machine / s': used.starts / seconds,
  }
}

function verdict(waited: Waited, calm: Waited): string {
  const isMet =
    Math.max(waited.p99, waited.longestFresh) <= TARGET.milliseconds &&
    waited.p99 <= TARGET.ratio * calm.p99 &&
    waited.fresh <= TARGET.ratio * calm.fresh
  const target = `<= ${TARGET.ratio}x, <= ${TARGET.milliseconds} ms`
  return isMet ? target : `${target}: MISSED`
}
