import type { SearchBuilder } from '../search/builder.ts'

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

/** The share of its processor time that a job has used: 1 at the end. */
export type UsedTime = () => number

/**
 * Until these shares are used: `skills` are parsed; every file is read; each `SKILL.md` is read. What follows takes the rest: links, digests, tables.
 * Required reading of skills, and the manifests, are read in any case.
 */
export const TIME_SHARES = { parsedSkills: 1 / 4, files: 1 / 2, skills: 3 / 4 } as const

/** Measures this process, with all of its threads, from now on. */
export function startUsedTime(processorSeconds: number): UsedTime {
  const before = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(before)
    return (user + system) / (processorSeconds * 1_000_000)
  }
}

/** Without a limit. */
export const NO_TIME_USED: UsedTime = () => 0
