import type { SearchBuilder } from '../search/builder.ts'
import type { UsedTime } from './used-time.ts'

/** The progress of a job. `total` is `null` while unknown. */
export interface Progress {
  stage: 'tree' | 'policy' | 'content' | 'write'
  done: number
  total: number | null
}

export interface IndexOptions {
  /** Builds the search section; without it the snapshot has none. */
  search?: SearchBuilder
  onProgress?: (progress: Progress) => void
  /** The date of the commit, ISO 8601, UTC; `null`: unknown. */
  committedAt?: string | null
  /** Called before the header is written. Throws when the repository is no longer the one that was read. */
  confirm?: () => Promise<void>
  /** Once most of the time is used, the rest of the repository is left out. Default: there is no limit. */
  usedTime?: UsedTime
  /** Aborted to stop the job: on timeout, or when its lease is lost. Its reason is thrown. */
  signal?: AbortSignal
}
