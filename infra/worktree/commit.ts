import { resolve } from 'node:path'
import type { CommitSha } from '#core/commit-sha.ts'
import { ReadError, type ReadLimits, type RepositoryReader, type TreeEntry } from '#core/ports/git-host.ts'
import { t } from '#words/t.ts'
import { GitError, requireGit, runGit } from '../git/process.ts'
import { openReader } from '../git/reader.ts'
import { readSmallFile } from '../git/safe-open.ts'
import { openLiveView } from '../git/view.ts'
import { WorktreeError } from './place.ts'

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

/** The commit that a working folder is compared with. */
interface Base {
  /** What it was found by: a ref, or `HEAD`. */
  ref: string
  commit: CommitSha
}

/** Where a clone may have the branch that changes are merged into, the likeliest first. */
const DEFAULT_BRANCHES = [
  'refs/remotes/origin/HEAD',
  'refs/remotes/origin/main',
  'refs/remotes/origin/master',
  'refs/heads/main',
  'refs/heads/master',
]

/**
 * The commit of a ref. Without one, the last commit that the work tree has in common with the default branch; `HEAD` where no default branch is
 * known.
 *
 * @param ref anything that git takes for a commit; `null`: none was named
 * @throws WorktreeError
 */
export async function findBase(gitDir: string, ref: string | null): Promise<Base> {
  if (ref !== null) {
    if (ref.trim() === '') throw new WorktreeError(t('problem.noRefNamed'))
    const commit = await commitOf(gitDir, ref)
    if (commit !== null) return { ref, commit }
    throw new WorktreeError(t('problem.unknownRef', { ref }))
  }
  const head = await commitOf(gitDir, 'HEAD')
  if (head === null) throw new WorktreeError(t('problem.nothingCommitted'))
  for (const branch of DEFAULT_BRANCHES) {
    if ((await commitOf(gitDir, branch)) === null) continue
    const commit = await mergeBase(gitDir, head, branch)
    if (commit === null) continue
    return commit === head ? { ref: 'HEAD', commit } : { ref: branch.replace(/^refs\/(?:remotes|heads)\//, ''), commit }
  }
  return { ref: 'HEAD', commit: head }
}

/** The last commit that two refs have in common. @throws WorktreeError */
export async function findForkPoint(gitDir: string, left: string, right: string): Promise<CommitSha> {
  for (const ref of [left, right]) {
    if ((await commitOf(gitDir, ref)) === null) throw new WorktreeError(t('problem.commitLacking', { ref }))
  }
  const commit = await mergeBase(gitDir, left, right)
  if (commit !== null) return commit
  throw new WorktreeError(t('problem.forkPointLacking', { left, right }))
}

async function commitOf(gitDir: string, ref: string): Promise<CommitSha | null> {
  return await answerOf(gitDir, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`])
}

async function mergeBase(gitDir: string, left: string, right: string): Promise<CommitSha | null> {
  return await answerOf(gitDir, ['merge-base', '--', left, right])
}

/** The commit that git names; `null`: it names none. @throws WorktreeError when git cannot be asked */
async function answerOf(gitDir: string, args: readonly string[]): Promise<CommitSha | null> {
  try {
    const output = (await runGit(args, { gitDir })).toString()
    return (output.split('\n')[0] ?? '') as CommitSha
  } catch (cause) {
    if (!(cause instanceof GitError)) throw cause
    // 1: no; 128: no such object, as the second commit of a shallow clone.
    if (cause.status === 1 || cause.status === 128) return null
    throw new WorktreeError(t('problem.baseUnknown', { reason: cause.message }), { cause })
  }
}
