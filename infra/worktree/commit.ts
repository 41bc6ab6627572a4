import { resolve } from 'node:path'
import type { CommitSha } from '#core/commit-sha.ts'
import { ReadError, type ReadLimits, type RepositoryReader, type TreeEntry } from '#core/ports/git-host.ts'
import { requireGit } from '../git/process.ts'
import { openReader } from '../git/reader.ts'
import { readSmallFile } from '../git/safe-open.ts'
import { openLiveView } from '../git/view.ts'

/**
 * Opens a commit of a clone that is trusted. Reads its objects, never the files of the work tree, which may differ by line ends, filters and
 * what was edited.
 *
 * @param gitDir of the clone, or of one of its linked work trees
 * @throws Error when git is missing; ReadError when the commit cannot be read, and later where a partial clone lacks a file
 */
export async function openCommit(gitDir: string, commit: CommitSha, limits: ReadLimits): Promise<RepositoryReader> {
  await requireGit()
  const view = await openLiveView(await commonDirOf(gitDir))
  return requireBlobs(await openReader({ gitDir: view.gitDir, commit, limits, release: () => view.remove() }))
}

/** The folder with objects and refs: a linked work tree has them elsewhere. */
async function commonDirOf(gitDir: string): Promise<string> {
  const named = await readSmallFile(resolve(gitDir, 'commondir'))
  return named === null ? gitDir : resolve(gitDir, named.trim())
}

/** Fails where a clone with a filter lacks a blob, which would otherwise count as an unreadable file. */
function requireBlobs(reader: RepositoryReader): RepositoryReader {
  async function* entries(): AsyncGenerator<TreeEntry> {
    for await (const entry of reader.entries()) {
      if (entry.sizeBytes === null && entry.mode !== '160000')
        throw new ReadError(
          'index.fetch_failed',
          'the clone lacks files of this commit: remove `filter` and `sparse-checkout` from actions/checkout, or clone without --filter',
        )
      yield entry
    }
  }
  return {
    entries,
    committedAt: reader.committedAt ?? null,
    get cut() {
      return reader.cut
    },
    read: (oids, maxBytes) => reader.read(oids, maxBytes),
    close: () => reader.close(),
  }
}
