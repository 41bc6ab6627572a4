import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { IndexJob, Lease } from '#core/ports/job-queue.ts'
import { queueKey } from '#core/snapshot/store-keys.ts'
import { type LeaseDeps, runLease } from './run-lease.ts'

export interface Worker {
  /** A job was offered: poll now, unless this worker runs it already. */
  wake(job: IndexJob): void
  /** Resolves when the worker has stopped. */
  stopped: Promise<void>
}

export interface WorkerOptions {
  /** Jobs at once. */
  concurrency: number
  /** Aborted to stop the worker: it takes no new job, and releases jobs that do not end soon. */
  signal: AbortSignal
  /** Milliseconds until the next poll, by the number of failures in a row. Default: `restAfter`. */
  rest?(failures: number): number
}

/**
 * Takes jobs from the queue and runs them until it is stopped. After a failure of the queue or the runner it backs off and polls again.
 * It takes a job only when the job can start without delay.
 */
export function startWorker(deps: LeaseDeps, { concurrency, signal, rest: restOf = restAfter }: WorkerOptions): Worker {
  const { queue, runner, metrics, log } = deps
  const name = `${hostname()}:${process.pid}:${randomUUID()}`
  const running = new Set<Promise<void>>()
  const runningKeys = new Set<string>()
  let rest = new AbortController()
  let failures = 0
  // Every running job adds a listener.
  setMaxListeners(0, signal)
  metrics.beforeRead(() => metrics.record('mountglass_jobs_running', {}, running.size))

  async function takeJob(): Promise<Lease | null> {
    try {
      await runner.ready(signal)
      const lease = await queue.take(name)
      failures = 0
      return lease
    } catch (error) {
      if (signal.aborted) return null
      failures++
      metrics.record('mountglass_queue_errors_total', {}, 1)
      log.error({ err: error }, 'cannot take a job from the queue')
      return null
    }
  }

  function start(lease: Lease): void {
    const job = runLease(deps, lease, signal).catch(error => log.error({ err: error }, 'cannot record the result of a job'))
    const key = keyOf(lease.job)
    const ended = job.finally(() => {
      running.delete(ended)
      runningKeys.delete(key)
    })
    running.add(ended)
    runningKeys.add(key)
  }

  /** Waits for the next poll, or for `wake`, which is throttled to one poll in `MIN_POLL_MILLISECONDS`. */
  async function pause(): Promise<void> {
    const restMilliseconds = restOf(failures)
    await sleep(MIN_POLL_MILLISECONDS, undefined, { signal }).catch(() => {})
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
      const lease = await takeJob()
      if (lease === null) await pause()
      else if (signal.aborted)
        await queue.release(lease).catch(() => {}) // its lease runs out
      else start(lease)
    }
    await Promise.all(running)
    await runner.close()
  }

  return {
    wake(job) {
      // Visitors who wait for a running job ask many times a second.
      if (!runningKeys.has(keyOf(job))) rest.abort()
    },
    stopped: run(),
  }
}

function keyOf({ repository, commit }: IndexJob): string {
  return queueKey(repository, commit)
}

/** Mean pause between polls, in addition to `MIN_POLL_MILLISECONDS`. The queue of a bucket may look less often (`infra/open.ts`). */
const POLL_MILLISECONDS = 1_000
/** Backoff after the first failure in a row, and its maximum. */
const BACKOFF_MILLISECONDS = { first: 1_000, max: 30_000 }
/** Minimum time between two polls. */
const MIN_POLL_MILLISECONDS = 50

/**
 * Milliseconds until the next poll.
 *
 * @param jitter 0 to 1, so that workers that failed together do not poll together
 */
export function restAfter(failures: number, jitter = Math.random()): number {
  const { first, max } = BACKOFF_MILLISECONDS
  const milliseconds = failures === 0 ? POLL_MILLISECONDS : Math.min(max, first * 2 ** (failures - 1))
  return Math.round(milliseconds * (0.75 + jitter / 2))
}
