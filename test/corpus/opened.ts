import type { CommitSha } from '#core/commit-sha.ts'
import type { CorpusApp } from '#test/support/corpus.ts'

/** A real repository that is indexed, as `/local/<owner>/<name>`. Tests ask, and change nothing. */
export interface Opened {
  service: CorpusApp
  /** Where the service listens. */
  origin: string
  commit: CommitSha
}
