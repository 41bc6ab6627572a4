import type { CommitSha } from '#core/commit-sha.ts'
import type { Diagnostic } from '#core/contract/shared.ts'
import { withMessage } from '#core/finding-messages.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { listIndexed } from '#indexer/jobs/run-index-job.ts'
import { type ReadableHost, writeSnapshot } from '#indexer/pipeline/write-snapshot.ts'
import { readHeader } from '#indexer/snapshot/read-header.ts'
import { openCommit } from '#infra/worktree/commit.ts'
import { findWorktree } from '#infra/worktree/place.ts'

/**
 * The clone of a workflow as a host of one repository. It reads the objects of the commit, never the files of the work tree, which earlier
 * steps may have changed.
 *
 * @param folder the folder of the clone
 * @throws Error when git is missing, or the folder is not a clone
 */
async function openCheckout(folder: string, repository: HostRepository): Promise<ReadableHost> {
  const gitDir = await requireClone(folder)
  return { segment: repository.host, isRemote: false, open: (_repository, commit, limits) => openCommit(gitDir, commit, limits) }
}

/** The git dir of a clone. @throws Error when the folder is not one */
export async function requireClone(folder: string): Promise<string> {
  const { gitDir } = await findWorktree(folder)
  if (gitDir === null) throw new Error(`${folder} is not a clone: run actions/checkout in an earlier step`)
  return gitDir
}

interface BuildOptions {
  repository: HostRepository
  commit: CommitSha
  /** Asks whether the commit is the tip of the default branch. */
  askIsTip(): Promise<boolean>
  /** The folder of the clone. */
  folder: string
}

interface Built {
  /** Objects that this build created; 0 when the commit was indexed already. */
  objects: number
  bytes: number
  skills: number
  documents: number
  isPartial: boolean
  diagnostics: readonly Diagnostic[]
}

/**
 * Indexes a commit from its clone into the store of a deployment, as a worker of the deployment does: the same commit gives the same answers.
 * The header is written last, and then the entries that point to it. Objects are removed only if the snapshot is damaged, or a sweep removed
 * one of its packs meanwhile.
 *
 * @throws Error when the clone is incomplete, or the store cannot be written
 */
export async function build(stores: { blobs: BlobStore; states: StateStore }, options: BuildOptions): Promise<Built> {
  const { repository, commit, askIsTip, folder } = options
  const job = { repository, commit }
  const host = await openCheckout(folder, repository)
  const written = await writeSnapshot({ ...stores, hosts: [host] }, job, new AbortController().signal)
  await listIndexed(stores, job, askIsTip)
  const header = written?.header ?? (await readHeader(stores.blobs, repository, commit))
  if (header === null) throw new Error('another process removed the index while this one read it: run the job again')
  const { folder: root, diagnostics } = header.root
  return {
    objects: written?.objects ?? 0,
    bytes: written?.bytes ?? 0,
    ...root.counts,
    isPartial: header.truncated,
    diagnostics: diagnostics.map(withMessage),
  }
}
