import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { spread } from './measure.ts'

/** What a visitor does, in a process of its own, so that its clock is not held up by the attacker's. */
export interface Visit {
  origin: string
  paths: readonly string[]
  /** Addresses of repositories that are opened for the first time. */
  fresh: readonly string[]
  seconds: number
}

/** Milliseconds. */
export interface Waited {
  p50: number
  p99: number
  /** The longest that a repository took from its first request until it was ready. */
  fresh: number
}

/** Longer waits count as this. */
export const LONGEST_MS = 20_000
export const CALL_EVERY_MS = 40
const POLL_MS = 25

/** Prints what the visit on standard input waited, as JSON. */
if (import.meta.main) {
  const visit = JSON.parse(await text(process.stdin)) as Visit
  process.stdout.write(JSON.stringify(await makeVisit(visit)))
}

/** Calls come evenly, whatever became of those before: the time of one counts from when it was due. */
async function makeVisit({ origin, paths, fresh, seconds }: Visit): Promise<Waited> {
  const times: number[] = []
  const startedAt = performance.now()
  const opened = openFresh(origin, fresh, seconds)
  const calls: Promise<void>[] = []
  for (let call = 0; call * CALL_EVERY_MS < seconds * 1000; call++) {
    const dueAt = startedAt + call * CALL_EVERY_MS
    await sleep(Math.max(0, dueAt - performance.now()))
    calls.push(ask(`${origin}${paths[call % paths.length]}`).then(() => void times.push(performance.now() - dueAt)))
  }
  await Promise.all(calls)
  return { ...spread(times), fresh: Math.max(...(await opened)) }
}

async function openFresh(origin: string, addresses: readonly string[], seconds: number): Promise<number[]> {
  const times: number[] = []
  for (const address of addresses) {
    const startedAt = performance.now()
    while (!(await isReady(`${origin}/api/v1/mounts${address}`)) && performance.now() - startedAt < LONGEST_MS)
      await sleep(POLL_MS)
    times.push(performance.now() - startedAt)
    await sleep((seconds / addresses.length) * 1000)
  }
  return times
}

async function isReady(url: string): Promise<boolean> {
  return /"index":\{"status":"ready"/.test(await ask(url))
}

/** The body of an answer of any status: what is measured is how long the visitor waits. */
export async function ask(url: string): Promise<string> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(LONGEST_MS) }).catch(() => null)
  return (await answer?.text().catch(() => '')) ?? ''
}
