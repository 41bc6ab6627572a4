import type { IndexJob } from '#core/ports/job-queue.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import type { Progress } from '#indexer/pipeline/progress.ts'
import { type SnapshotDeps, writeSnapshot } from '#indexer/pipeline/write-snapshot.ts'
import { createSearchThreads } from '#indexer/search/search-thread.ts'
import { lastIndexedOf } from '#indexer/snapshot/earlier-snapshot.ts'
import type { HostNotes } from './remembered-host.ts'

export { errorCodeOf } from '#indexer/pipeline/index-error.ts'

interface IndexingDeps extends Pick<SnapshotDeps, 'blobs' | 'hosts'> {
  states: StateStore
  /** Receives the commit, and names the one to build on. */
  notes: Pick<HostNotes, 'indexed'>
}

/** Indexes a commit in this process, on what is kept of the commit before. @throws as `writeSnapshot` */
export async function indexOnce(
  { blobs, states, hosts, notes }: IndexingDeps,
  job: IndexJob,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<void> {
  if (notes.indexed !== null) await lastIndexedOf(states, job.repository).write(notes.indexed)
  const deps = { blobs, states, hosts, searchThreads: createSearchThreads() }
  await writeSnapshot(deps, job, signal, onProgress)
  notes.indexed = job.commit
}
