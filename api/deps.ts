import type { CommitSha } from '#core/commit-sha.ts'
import type { OwnerListings } from '#core/owner-listings.ts'
import type { GitHost, HostRepository } from '#core/ports/git-host.ts'
import type { JobQueue } from '#core/ports/job-queue.ts'
import type { Clock } from '#core/ports/system.ts'
import type { OperatorContent } from './operator/operator-content.ts'
import type { RepositoryRule } from './operator/repository-rule.ts'
import type { PurposeKeys } from './purpose-keys.ts'
import type { SnapshotReader } from './snapshot/snapshot-reader.ts'
import type { Uses } from './snapshot/uses.ts'

/** What every use case receives. */
export interface Deps {
  hosts: readonly GitHost[]
  snapshots: SnapshotReader
  queue: JobQueue
  listings: OwnerListings
  uses: Uses
  operator: OperatorContent
  clock: Clock
  cursorKeys: PurposeKeys
  /** Repositories that this deployment serves (`null`: all) and refuses. */
  allow: readonly RepositoryRule[] | null
  deny: readonly RepositoryRule[]
  /** How long a visitor waits for a card, and for all listings of an account, in milliseconds; the usual times when left out. */
  patienceMs?: { card: number; listings: number }
  /** A job was left: an indexer may start at once. */
  onOffered(): void
  /** Is told of work that goes on behind an answer. It never rejects. Default: nobody is told. */
  onWorking?(work: Promise<void>): void
  /**
   * A file of a commit of the host whose raw files this process serves itself; `null` when there is no such host.
   * Answers `null` when there is no such file. @throws ReadError
   */
  readRawFile: ((repository: HostRepository, commit: CommitSha, path: string) => Promise<RawFile | null>) | null
  /** Resolves when this process can do its work; rejects with the reason within two seconds when it cannot. */
  checkReady(): Promise<void>
}

/** One file of a commit. Whoever takes it reads `bytes` to the end, or closes it. */
export interface RawFile {
  oid: string
  sizeBytes: number
  bytes: AsyncGenerator<Uint8Array>
}
