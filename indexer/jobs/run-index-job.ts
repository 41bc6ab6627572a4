import type { IndexProgress, IndexStage } from '#core/contract/shared.ts'
import { createOwnerListings } from '#core/owner-listings.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { GitHost } from '#core/ports/git-host.ts'
import type { IndexJob } from '#core/ports/job-queue.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { errorCodeOf } from '../pipeline/index-error.ts'
import type { Progress } from '../pipeline/progress.ts'
import { type ReadableHost, type SnapshotDeps, writeSnapshot } from '../pipeline/write-snapshot.ts'
import { readHeader } from '../snapshot/read-header.ts'
import type { JobEnd, RunOptions } from './job-runner.ts'

/** The stores and hosts of a job. */
export interface JobDeps extends SnapshotDeps {
  states: StateStore
  hosts: readonly (ReadableHost & Pick<GitHost, 'tip'>)[]
}

/** Runs one job in this process. Never rejects: an error is part of the result. */
export async function runIndexJob(deps: JobDeps, job: IndexJob, { signal, onStage }: RunOptions): Promise<JobEnd> {
  let stage: IndexStage | null = null
  const enter = (next: IndexStage, progress?: IndexProgress) => {
    if (next !== stage || progress !== undefined) onStage(next, progress)
    stage = next
  }
  try {
    enter('open')
    const written = await writeSnapshot(deps, job, signal, progress => enter(progress.stage, countOf(progress)))
    const end = { status: 'indexed', objects: written?.objects ?? 0, bytes: written?.bytes ?? 0 } as const
    // The job succeeded even if the listing failed: the next visit lists the repository.
    return await listIfDefault(deps, job).then(
      () => end,
      (error: unknown) => ({ ...end, notListed: error }),
    )
  } catch (error) {
    return signal.aborted ? { status: 'stopped' } : { status: 'failed', errorCode: errorCodeOf(error), err: error }
  }
}

/** How many files were read. */
function countOf({ stage, done, total }: Progress): IndexProgress | undefined {
  return stage !== 'content' || total === null ? undefined : { done, total }
}

async function listIfDefault(deps: JobDeps, job: IndexJob): Promise<void> {
  const host = job.isDefault && deps.hosts.find(({ segment }) => segment === job.repository.host)
  if (host) await listIndexed(deps, job, () => isTip(host, job))
}

type IndexedCommit = Pick<IndexJob, 'repository' | 'commit'>

/**
 * Lists the repository on the page of its owner if the indexed commit is that of its default branch.
 *
 * @param askIsTip whether it is. Called last: the branch may have moved since the job was offered, and a newer commit may be listed
 * @throws Error when a store fails; the next visit of the default branch lists it
 */
export async function listIndexed(
  { blobs, states }: { blobs: BlobStore; states: StateStore },
  { repository, commit }: IndexedCommit,
  askIsTip: () => Promise<boolean>,
): Promise<void> {
  if (repository.ownerId === undefined) return
  const header = await readHeader(blobs, repository, commit)
  if (header && (await askIsTip())) await createOwnerListings(states).keep({ repository, commit, header })
}

/** Whether the default branch is at the commit now; `false` when the host does not tell: the next visit of the branch lists the repository. */
export async function isTip(host: Pick<GitHost, 'tip'>, { repository, commit }: IndexedCommit): Promise<boolean> {
  const tip = await host.tip(repository)
  return tip.status === 'ok' && tip.value === commit
}
