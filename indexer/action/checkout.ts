import { type HostRepository, ReadError, type RepositoryReader, type TreeEntry } from '#core/ports/git-host.ts'
import { requireGit } from '#infra/git/process.ts'
import { openReader } from '#infra/git/reader.ts'
import { openLiveView } from '#infra/git/view.ts'
import { findWorktree } from '#infra/worktree/place.ts'
import type { ReadableHost } from '../pipeline/write-snapshot.ts'

/**
 * The clone of a workflow as a host of one repository. It reads the objects of the commit, never the files of the work tree, which may differ
 * by line ends, filters and earlier steps.
 *
 * @param folder the folder of the clone
 * @throws Error when git is missing, or the folder is not a clone
 */
export async function openCheckout(folder: string, repository: HostRepository): Promise<ReadableHost> {
  await requireGit()
  const { gitDir } = await findWorktree(folder)
  if (gitDir === null) throw new Error(`${folder} is not a clone: run actions/checkout in an earlier step`)
  return {
    segment: repository.host,
    isRemote: false,
    async open(_repository, commit, limits) {
      const view = await openLiveView(gitDir)
      return requireBlobs(await openReader({ gitDir: view.gitDir, commit, limits, release: () => view.remove() }))
    },
  }
}

/** Fails where a clone with a filter lacks a blob, which would otherwise count as an unreadable file. */
function requireBlobs(reader: RepositoryReader): RepositoryReader {
  async function* entries(): AsyncGenerator<TreeEntry> {
    for await (const entry of reader.entries()) {
      if (entry.sizeBytes === null && entry.mode !== '160000')
        throw new ReadError(
          'index.fetch_failed',
          'the clone lacks files of this commit: remove `filter` and `sparse-checkout` from actions/checkout',
        )
      yield entry
    }
  }
  return {
    entries,
    get cut() {
      return reader.cut
    },
    read: (oids, maxBytes) => reader.read(oids, maxBytes),
    close: () => reader.close(),
  }
}
