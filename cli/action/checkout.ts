import type { HostRepository } from '#core/ports/git-host.ts'
import type { ReadableHost } from '#indexer/pipeline/write-snapshot.ts'
import { openCommit } from '#infra/worktree/commit.ts'
import { findWorktree } from '#infra/worktree/place.ts'

/**
 * The clone of a workflow as a host of one repository. It reads the objects of the commit, never the files of the work tree, which earlier
 * steps may have changed.
 *
 * @param folder the folder of the clone
 * @throws Error when git is missing, or the folder is not a clone
 */
export async function openCheckout(folder: string, repository: HostRepository): Promise<ReadableHost> {
  const gitDir = await requireClone(folder)
  return { segment: repository.host, isRemote: false, open: (_repository, commit, limits) => openCommit(gitDir, commit, limits) }
}

/** The git dir of a clone. @throws Error when the folder is not one */
export async function requireClone(folder: string): Promise<string> {
  const { gitDir } = await findWorktree(folder)
  if (gitDir === null) throw new Error(`${folder} is not a clone: run actions/checkout in an earlier step`)
  return gitDir
}
