import { REPOSITORY_JOBS } from '#core/limits.ts'
import type { ProcessedJob } from './job-process.ts'

/** Remembered repositories. */
const REPOSITORIES = 1_000

/** Remembers the repositories whose next job is expected to be long. Decision 0085. */
export class LongRepositories {
  /** Short jobs since the last long one, by the id of the repository. That with the newest long job comes last. */
  readonly #shortJobs = new Map<string, number>()

  has(id: string): boolean {
    return this.#shortJobs.has(id)
  }

  note(id: string, { end, isLong }: Pick<ProcessedJob, 'end' | 'isLong'>): void {
    if (isLong) this.#remember(id)
    // Any other short job ended before its work did, or found it done.
    else if (end.status === 'indexed' && end.objects > 0) this.#noteShort(id)
  }

  #remember(id: string): void {
    this.#shortJobs.delete(id)
    this.#shortJobs.set(id, 0)
    const [oldest] = this.#shortJobs.keys()
    if (this.#shortJobs.size > REPOSITORIES && oldest !== undefined) this.#shortJobs.delete(oldest)
  }

  /** Of a repository with large and small refs, one small ref after a large one tells nothing of the next. */
  #noteShort(id: string): void {
    const before = this.#shortJobs.get(id)
    if (before === undefined) return
    if (before + 1 >= REPOSITORY_JOBS) this.#shortJobs.delete(id)
    else this.#shortJobs.set(id, before + 1)
  }
}
