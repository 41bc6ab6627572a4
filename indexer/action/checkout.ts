import { type HostRepository, ReadError, type RepositoryReader, type TreeEntry } from '#core/ports/git-host.ts'
import { requireGit } from '#infra/git/process.ts'
import { openReader } from '#infra/git/reader.ts'
import { openView } from '#infra/git/view.ts'
import { findWorktree } from '#infra/worktree/place.ts'
import type { ReadableHost } from '../pipeline/write-snapshot.ts'

/**
 * The clone of a workflow as a host of one repository. Read are the objects of the commit, never the files of the work tree:
 * these may differ by line ends, by filters, and by what the workflow did to them before.
 *
 * @param folder of the clone
 * @throws Error when there is no git, or no clone
 */
export async function openCheckout(folder: string, repository: HostRepository): Promise<ReadableHost> {
  await requireGit()
  const { gitDir } = await findWorktree(folder)
  if (gitDir === null) throw new Error(`${folder} holds no clone: let actions/checkout come first`)
  return {
    segment: repository.host,
    isRemote: false,
    async open(_repository, commit, limits) {
      const view = await openView(gitDir)
      return whole(await openReader({ gitDir: view.gitDir, commit, limits, release: () => view.remove() }))
    },
  }
}

/** A clone made with a filter lacks blobs, which must not look like files that nobody can read. */
function whole(reader: RepositoryReader): RepositoryReader {
  async function* entries(): AsyncGenerator<TreeEntry> {
    for await (const entry of reader.entries()) {
      if (entry.sizeBytes === null && entry.mode !== '160000')
        throw new ReadError(
          'index.fetch_failed',
          'the clone lacks files of this commit: let actions/checkout bring all of it, without a filter',
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
