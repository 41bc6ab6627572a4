import { lstat, readdir, realpath, stat } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { parseRepoPath, type RepoPath } from '#core/repo-path.ts'
import { SentenceError } from '#words/sentence.ts'
import { t } from '#words/t.ts'
import { ifAbsent, readSmallFile } from '../git/safe-open.ts'

/** The folder cannot be read as a working folder. The message is one line for the user. */
export class WorktreeError extends SentenceError {
  constructor(said: string, options?: ErrorOptions) {
    super(said, options)
    this.name = 'WorktreeError'
  }
}

/** Location of a working folder, in real paths. */
export interface WorktreePlace {
  /** Root of the git work tree; outside git, the folder itself. */
  root: string
  /** `null` outside git. */
  gitDir: string | null
  /** Path of the folder in its repository. */
  folder: RepoPath
}

/** @throws WorktreeError when the folder is missing or unreadable */
export async function findWorktree(folder: string): Promise<WorktreePlace> {
  const real = await requireFolder(folder)
  if (await isGitDir(real)) throw new WorktreeError(t('problem.bareRepository', { folder }))
  for (let root = real; ; root = dirname(root)) {
    const gitDir = await gitDirOf(root)
    if (gitDir !== null) return { root, gitDir, folder: pathBelow(root, real) }
    if (root === dirname(root)) return { root: real, gitDir: null, folder: '' as RepoPath }
  }
}

/**
 * The place of a folder that may have been deleted from its git work tree. It is that of the nearest folder above it which is still there.
 *
 * @throws WorktreeError
 */
export async function findFormerWorktree(folder: string): Promise<WorktreePlace> {
  const there = await nearestThere(folder)
  if (there === folder) return await findWorktree(folder)
  const place = await findWorktree(there)
  if (place.gitDir === null) throw new WorktreeError(t('problem.folderMissing', { folder }))
  return { ...place, folder: pathBelow(place.root, join(await realpath(there), relative(there, resolve(folder)))) }
}

/** The folder, or the nearest one above it that exists. */
async function nearestThere(folder: string): Promise<string> {
  for (let path = folder; ; path = dirname(resolve(path))) {
    const isThere = await lstat(path).then(
      () => true,
      cause => cause.code !== 'ENOENT' && cause.code !== 'ENOTDIR',
    )
    if (isThere) return path
  }
}

async function requireFolder(folder: string): Promise<string> {
  try {
    const real = await realpath(folder)
    if (!(await stat(real)).isDirectory()) throw new WorktreeError(t('problem.notAFolder', { folder }))
    await readdir(real)
    return real
  } catch (cause) {
    if (cause instanceof WorktreeError) throw cause
    const code = (cause as NodeJS.ErrnoException).code ?? ''
    const key = code === 'EACCES' || code === 'EPERM' ? 'folderForbidden' : 'folderMissing'
    throw new WorktreeError(t(`problem.${key}`, { folder }), { cause })
  }
}

async function isGitDir(folder: string): Promise<boolean> {
  const found = await Promise.all(['HEAD', 'objects', 'refs'].map(name => lstat(join(folder, name)).catch(ifAbsent)))
  return found.every(stats => stats !== null)
}

function pathBelow(root: string, folder: string): RepoPath {
  const path = parseRepoPath(relative(root, folder).split(sep).join('/'))
  if (path === null) throw new WorktreeError(t('problem.folderUnnamable', { folder }))
  return path
}

/** The `.git` folder, or the folder that the `.git` file of a linked work tree or a submodule names; `null` when there is none. */
async function gitDirOf(root: string): Promise<string | null> {
  const inner = join(root, '.git')
  const kind = await lstat(inner).catch(ifAbsent)
  const gitDir = kind?.isFile()
    ? /^gitdir: (.+)$/.exec((await readSmallFile(inner))?.trimEnd() ?? '')?.[1]
    : kind
      ? inner
      : undefined
  if (gitDir === undefined) return null
  const resolved = resolve(root, gitDir)
  return (await lstat(join(resolved, 'HEAD')).catch(ifAbsent)) ? resolved : null
}
