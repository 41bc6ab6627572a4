import { LRUCache } from 'lru-cache'
import type { IndexJob } from '#core/ports/job-queue.ts'
import type { JobEnd } from './job-runner.ts'

/**
 * Two lanes, so that long jobs do not hold up short ones. Decision 0135.
 *
 * A job is long once it has used `LONG_JOB_SECONDS` of a processor, or from its start if the last job of its repository was long. A long job runs at
 * a lower priority, and leaves an idle process to the others. Its process ends with it: only an administrator could raise the priority again.
 */

/** Processor time after which a job is long. Most repositories take less. */
export const LONG_JOB_SECONDS = 2
const REMEMBERED_REPOSITORIES = 1_000

export class LongJobs {
  /** Repositories whose last job was long, by id. */
  readonly #repositories = new LRUCache<string, true>({ max: REMEMBERED_REPOSITORIES })

  isExpected({ repository }: IndexJob): boolean {
    return this.#repositories.has(repository.id)
  }

  note({ repository }: IndexJob, { end, isLong }: { end: JobEnd; isLong: boolean }): void {
    if (isLong) this.#repositories.set(repository.id, true)
    // A job that was stopped, failed or found its snapshot does not show how long the next one takes.
    else if (end.status === 'indexed' && end.objects > 0) this.#repositories.delete(repository.id)
  }
}

/**
 * Takes a process for a job out of the idle ones, whose last is the one that was used most recently.
 *
 * @param kept how many idle processes there are at rest
 * @returns `undefined`: a new process has to start
 */
export function takeIdle<Process>(idle: Process[], isLong: boolean, kept: number): Process | undefined {
  if (!isLong) return idle.pop()
  return idle.length < kept ? undefined : idle.shift()
}
