import type { SearchBuilder } from '../search/builder.ts'

/** Where a job is. `total` is `null` while it is not known. */
export interface Progress {
  stage: 'tree' | 'policy' | 'content' | 'write'
  done: number
  total: number | null
}

export interface IndexOptions {
  /** Takes what can be searched; without it nothing can. */
  search?: SearchBuilder
  onProgress?: (progress: Progress) => void
  /** Aborted when the job must stop: out of time, or no longer ours. Its reason is thrown. */
  signal?: AbortSignal
}
