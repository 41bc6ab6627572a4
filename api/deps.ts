import type { CommitSha } from '#core/commit-sha.ts'
import type { OwnerListings } from '#core/owner-listings.ts'
import type { Fallbacks } from '#core/ports/fallbacks.ts'
import type { GitHost, HostRepository } from '#core/ports/git-host.ts'
import type { IndexJob, JobQueue } from '#core/ports/job-queue.ts'
import type { RawFile, RawFileReader } from '#core/ports/raw-file.ts'
import type { Clock } from '#core/ports/system.ts'
import type { OAuthDeps } from './oauth/oauth.ts'
import type { OperatorContent } from './operator/operator-content.ts'
import type { RepositoryRule } from './operator/repository-rule.ts'
import type { LogRedaction } from './people/log-redaction.ts'
import type { People } from './people/people.ts'
import type { PurposeKeys } from './purpose-keys.ts'
import type { HiddenNotes } from './snapshot/hidden-notes.ts'
import type { SnapshotReader } from './snapshot/snapshot-reader.ts'

/** The dependencies of the use cases. */
export interface Deps {
  hosts: readonly GitHost[]
  snapshots: SnapshotReader
  queue: Pick<JobQueue, 'offer' | 'peek'>
  listings: OwnerListings
  hidden: HiddenNotes
  operator: OperatorContent
  clock: Clock
  cursorKeys: PurposeKeys
  /** Who sends requests; `null`: everybody is anonymous. */
  people: People | null
  /** How the log names repositories. */
  names: LogRedaction
  /** The authorization server; `null` where sign-in is not set up. */
  oauth: OAuthDeps | null
  /** Repositories that this deployment serves (`null`: all) and refuses. */
  allow: readonly RepositoryRule[] | null
  deny: readonly RepositoryRule[]
  /** What the raw route of local repositories does with files that no license permits to copy. */
  localSource: 'withheld' | 'open'
  /** Timeouts in milliseconds for one featured card, and for all listings of an account. Default: those of `api/cards`. */
  patienceMs?: { card: number; listings: number }
  /** Told of failures that fail no answer. Default: not counted. */
  fallbacks?: Fallbacks
  /** Called when a job was offered, so that an indexer in this process starts without polling. */
  onOffered(job: IndexJob): void
  /** Receives work that continues after an answer was sent. The promise never rejects. Default: ignored. */
  onWorking?(work: Promise<void>): void
  /**
   * Reads a file of a commit of the local host, whose raw files this process serves; `null` without a local host.
   * Resolves to `null` when the commit has no such file. @throws RawFileError
   */
  readRawFile:
    | ((repository: HostRepository, commit: CommitSha, path: string, reader: RawFileReader) => Promise<RawFile | null>)
    | null
  /** Resolves when the stores answer; rejects with the reason within two seconds when they do not. */
  checkReady(): Promise<void>
}
