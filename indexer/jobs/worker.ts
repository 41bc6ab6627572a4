import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Lease } from '#core/ports/job-queue.ts'
import { type LeaseDeps, runLease } from './run-lease.ts'

export interface Worker {
  /** A job was left: look now instead of at the next turn. */
  wake(): void
  /** Resolves when the worker has stopped. */
  stopped: Promise<void>
}

export interface WorkerOptions {
  /** Jobs at once. */
  concurrency: number
  /** Stops the worker: it takes no new job, and hands back those that do not end soon. */
  signal: AbortSignal
}

/**
 * Takes jobs and has them run, until it is stopped. No failure of the queue or of the runner ends it: it looks again later.
 * A job is only taken when it can begin at once.
 */
export function startWorker(deps: LeaseDeps, { concurrency, signal }: WorkerOptions): Worker {
  const { queue, runner, metrics, log } = deps
  const name = `${hostname()}:${process.pid}:${randomUUID()}`
  const running = new Set<Promise<void>>()
  let rest = new AbortController()
  let failures = 0
  // Every job listens to it.
  setMaxListeners(0, signal)
  metrics.beforeRead(() => metrics.record('mountglass_jobs_running', {}, running.size))

  async function look(): Promise<Lease | null> {
    try {
      await runner.ready(signal)
      const lease = await queue.take(name)
      failures = 0
      return lease
    } catch (error) {
      if (signal.aborted) return null
      failures++
      metrics.record('mountglass_queue_errors_total', {}, 1)
      log.error({ err: error }, 'no job can be taken now')
      return null
    }
  }

  function start(lease: Lease): void {
    const job = runLease(deps, lease, signal).catch(error => log.error({ err: error }, 'a job could not be ended'))
    const ended = job.finally(() => running.delete(ended))
    running.add(ended)
  }

  /** Until the next turn, or until a job is left. Who wakes it often is not obeyed at once. */
  async function pause(): Promise<void> {
    const restMilliseconds = restAfter(failures, Math.random())
    await sleep(LOOK_MILLISECONDS, undefined, { signal }).catch(() => {})
    const woken = failures === 0 ? [rest.signal] : []
    await sleep(restMilliseconds, undefined, { signal: AbortSignal.any([signal, ...woken]) }).catch(() => {})
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      if (running.size >= concurrency) {
        await Promise.race(running)
        continue
      }
      rest = new AbortController()
      const lease = await look()
      if (lease === null) await pause()
      else if (signal.aborted)
        await queue.release(lease).catch(() => {}) // its lease runs out
      else start(lease)
    }
    await Promise.all(running)
    await runner.close()
  }

  return { wake: () => rest.abort(), stopped: run() }
}

/** How long a job waits at most when nobody tells of it. */
const POLL_MILLISECONDS = 1_000
/** After the first failure in a row, and after many. */
const TROUBLE_MILLISECONDS = { first: 1_000, max: 30_000 }
/** Between two looks, however many visitors come. */
const LOOK_MILLISECONDS = 50

/** @param chance 0 to 1, so that workers which failed together do not come back together */
export function restAfter(failures: number, chance: number): number {
  const { first, max } = TROUBLE_MILLISECONDS
  const milliseconds = failures === 0 ? POLL_MILLISECONDS : Math.min(max, first * 2 ** (failures - 1))
  return Math.round(milliseconds * (0.75 + chance / 2))
}
