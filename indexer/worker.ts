import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { type IndexerDeps, runIndexJob } from './run-index-job.ts'

export interface Worker {
  /** A job was left: look now instead of at the next turn. */
  wake(): void
  /** Resolves when the worker has stopped. */
  stopped: Promise<void>
}

/** Takes jobs one after another until `signal` stops it. A store that fails is asked again later. */
export function startWorker(deps: IndexerDeps, signal: AbortSignal): Worker {
  const name = `${hostname()}:${process.pid}:${randomUUID()}`
  let rest = new AbortController()

  async function run(): Promise<void> {
    while (!signal.aborted) {
      rest = new AbortController()
      const lease = await deps.queue.take(name).catch((error: unknown) => {
        deps.log.error({ err: error }, 'the job queue cannot be read')
        return null
      })
      if (lease) await runIndexJob(deps, lease, signal).catch(error => deps.log.error({ err: error }, 'a job could not be ended'))
      else await sleep(POLL_MILLISECONDS, undefined, { signal: AbortSignal.any([signal, rest.signal]) }).catch(() => {})
    }
  }

  return { wake: () => rest.abort(), stopped: run() }
}

/** How long a job waits at most when nobody tells of it. */
const POLL_MILLISECONDS = 1_000
