import { copyFile, lstat, mkdir, symlink } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type CommitSha, isCommitSha } from '#core/commit-sha.ts'
import { ReadError, type ReadLimits, type RepositoryReader, type TreeEntry } from '#core/ports/git-host.ts'
import { t } from '#words/t.ts'
import { GitError, requireGit, runGit } from '../git/process.ts'
import { openReader } from '../git/reader.ts'
import { ifAbsent, readSmallFile } from '../git/safe-open.ts'
import { openLiveView } from '../git/view.ts'
import { userIgnoreFile } from './listing.ts'
import { WorktreeError, type WorktreePlace } from './place.ts'

/**
 * Opens a commit of a clone that is trusted. Reads its objects, never the files of the work tree, which may differ by line ends, filters and
 * what was edited.
 *
 * @param gitDir of the clone, or of one of its linked work trees
 * @param signal aborts all reading
 * @throws Error when git is missing; ReadError when the commit cannot be read, and later where a partial clone lacks a file
 */
export async function openCommit(
  gitDir: string,
  commit: CommitSha,
  limits: ReadLimits,
  signal?: AbortSignal,
): Promise<RepositoryReader> {
  await requireGit()
  const view = await openLiveView(await commonDirOf(gitDir))
  const options = { gitDir: view.gitDir, commit, limits, release: () => view.remove() }
  return requireBlobs(await openReader(signal === undefined ? options : { ...options, signal }))
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

/** The commit of a git work tree, and whether its files are that commit. */
export interface CheckedOut {
  /** `null`: nothing is committed yet. */
  commit: CommitSha | null
  /** There are no changes and no new files. */
  isClean: boolean
}

/**
 * Compares the files of a git work tree with its commit. Git looks through a view of the repository, with its index: no filter of the repository
 * runs, and a file that only a filter shows to be unchanged counts as changed. A clone that lacks files of the commit is never clean.
 */
export async function findCheckedOut({ root, gitDir }: WorktreePlace & { gitDir: string }): Promise<CheckedOut> {
  const commonDir = await commonDirOf(gitDir)
  if (!(await hasAllFiles(gitDir, commonDir))) return { commit: await commitOf(gitDir, 'HEAD'), isClean: false }
  const view = await openLiveView(commonDir)
  try {
    const infoFolder = join(view.gitDir, 'info')
    const [ignored] = await Promise.all([
      userIgnoreFile(),
      copyFile(join(gitDir, 'HEAD'), join(view.gitDir, 'HEAD')),
      symlink(join(gitDir, 'index'), join(view.gitDir, 'index')),
      mkdir(infoFolder).then(() => symlink(join(commonDir, 'info', 'exclude'), join(infoFolder, 'exclude'))),
    ])
    const config = ignored === null ? {} : { 'core.excludesFile': ignored }
    const options = { gitDir: view.gitDir, config }
    const [status, files] = await Promise.all([
      runGit([`--work-tree=${root}`, ...STATUS], options),
      runGit(['ls-files', '-v', '-z'], options),
    ])
    const { commit, isClean } = parseStatus(status)
    return { commit, isClean: isClean && !hasUnwatched(files) }
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    return { commit: await commitOf(gitDir, 'HEAD'), isClean: false }
  } finally {
    await view.remove()
  }
}

const STATUS = [
  'status',
  '--porcelain=v2',
  '-z',
  '--branch',
  '--no-renames',
  '--untracked-files=normal',
  '--ignore-submodules=all',
]

/** Whether git was told not to look at a file (`update-index --assume-unchanged`, `--skip-worktree`), which may have changed. */
function hasUnwatched(files: Buffer): boolean {
  return /(?:^|\0)[a-zS] /.test(files.toString('latin1'))
}

const OF_COMMIT = '# branch.oid '

/** Lines that begin with `#` are about the branch; the others are changes. */
function parseStatus(output: Buffer): CheckedOut {
  const lines = output.toString().split('\0')
  const named = lines.find(line => line.startsWith(OF_COMMIT))?.slice(OF_COMMIT.length) ?? ''
  const commit = isCommitSha(named) ? (named as CommitSha) : null
  const isClean = commit !== null && lines.every(line => line === '' || line.startsWith('# '))
  return { commit, isClean }
}

/** Whether the clone has all files of its commits, and its work tree all of its files. */
async function hasAllFiles(gitDir: string, commonDir: string): Promise<boolean> {
  const [sparse, config] = await Promise.all([
    lstat(join(gitDir, 'info', 'sparse-checkout')).catch(ifAbsent),
    readSmallFile(join(commonDir, 'config')),
  ])
  return sparse === null && !/^[ \t]*(?:promisor|partialclone(?:filter)?)\s*=/im.test(config ?? '')
}
