import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { median, spread } from './measure.ts'
import { mainThreadTime, type ThreadTime } from './processor-time.ts'

/** What a visitor does, in a process of its own, so that its clock is not held up by the attacker's. */
export interface Visit {
  origin: string
  /** Process of the service. */
  service: number
  paths: readonly string[]
  /** Addresses of repositories that are opened for the first time. */
  fresh: readonly string[]
  seconds: number
}

/** Milliseconds. */
export interface Waited {
  p50: number
  p99: number
  /** What the repositories took from their first request until they were ready: the median, and the longest. */
  fresh: number
  longestFresh: number
  /** Where the slowest calls spent their time. */
  slowest: SlowCall
}

/** Milliseconds of a call, in which these things overlap. What remains of the time, the service waited: for a turn, git, a disk or a host. */
export interface SlowCall {
  took: number
  /** The event loop of the service had a processor, whoever it worked for. */
  loop: ThreadTime
  /** The event loop of the visitor: not the service's fault. */
  visitor: ThreadTime
}

/** Longer waits count as this. */
const LONGEST_MS = 20_000
/** Some calls of a visit have to be slower than their 99th percentile. */
const CALL_EVERY_MS = 20
const POLL_MS = 25
/** Of all calls: the slowest, which are looked at. */
const SLOWEST = 0.02

/** Prints what the visit on standard input waited, as JSON. */
if (import.meta.main) {
  const visit = JSON.parse(await text(process.stdin)) as Visit
  process.stdout.write(JSON.stringify(await makeVisit(visit)))
}

/** Calls come evenly, whatever became of those before: the time of one counts from when it was due. */
async function makeVisit({ origin, service, paths, fresh, seconds }: Visit): Promise<Waited> {
  const made: SlowCall[] = []
  // The first call of a process loads its HTTP client.
  await ask(`${origin}${paths[0]}`)
  const startedAt = performance.now()
  const opened = openFresh(origin, fresh, seconds)
  const calls: Promise<void>[] = []
  for (let call = 0; call * CALL_EVERY_MS < seconds * 1000; call++) {
    const dueAt = startedAt + call * CALL_EVERY_MS
    await sleep(Math.max(0, dueAt - performance.now()))
    const watched = { dueAt, loop: mainThreadTime(service), visitor: mainThreadTime(process.pid) }
    calls.push(ask(`${origin}${paths[call % paths.length]}`).then(() => void made.push(callOf(watched, service))))
  }
  await Promise.all(calls)
  const times = await opened
  return {
    ...spread(made.map(call => call.took)),
    fresh: median(times),
    longestFresh: Math.max(...times),
    slowest: slowestOf(made),
  }
}

function callOf({ dueAt, loop, visitor }: { dueAt: number; loop: ThreadTime; visitor: ThreadTime }, service: number): SlowCall {
  return {
    took: performance.now() - dueAt,
    loop: since(loop, mainThreadTime(service)),
    visitor: since(visitor, mainThreadTime(process.pid)),
  }
}

function since(before: ThreadTime, after: ThreadTime): ThreadTime {
  return { ran: after.ran - before.ran, queued: after.queued - before.queued }
}

/** The mean of the slowest calls. */
function slowestOf(made: readonly SlowCall[]): SlowCall {
  const slow = [...made].sort((left, right) => right.took - left.took).slice(0, Math.ceil(made.length * SLOWEST))
  const mean = (figure: (call: SlowCall) => number) => slow.reduce((sum, call) => sum + figure(call), 0) / slow.length
  const thread = (which: 'loop' | 'visitor') => ({ ran: mean(call => call[which].ran), queued: mean(call => call[which].queued) })
  return { took: mean(call => call.took), loop: thread('loop'), visitor: thread('visitor') }
}

/** The first at once, the others evenly over the visit, whatever became of those before. */
function openFresh(origin: string, addresses: readonly string[], seconds: number): Promise<number[]> {
  return Promise.all(
    addresses.map(async (address, number) => {
      await sleep((number * seconds * 1000) / addresses.length)
      return untilReady(`${origin}/api/v1/mounts${address}`)
    }),
  )
}

async function untilReady(url: string): Promise<number> {
  const startedAt = performance.now()
  while (!(await isReady(url)) && performance.now() - startedAt < LONGEST_MS) await sleep(POLL_MS)
  return performance.now() - startedAt
}

async function isReady(url: string): Promise<boolean> {
  return /"index":\{"status":"ready"/.test(await ask(url))
}

/** The body of an answer of any status: what is measured is how long the visitor waits. */
export async function ask(url: string): Promise<string> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(LONGEST_MS) }).catch(() => null)
  return (await answer?.text().catch(() => '')) ?? ''
}
