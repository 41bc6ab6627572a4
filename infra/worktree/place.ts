import { lstat, readdir, realpath, stat } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { parseRepoPath, type RepoPath } from '#core/repo-path.ts'
import { ifAbsent, readSmallFile } from '#infra/git/contained.ts'

/** The folder cannot be read as a working folder. The message is one line for the user. */
export class WorktreeError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
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
  if (await isGitDir(real))
    throw new WorktreeError(`${folder} is a bare repository or a git dir, which has no files to check: name a working folder`)
  for (let root = real; ; root = dirname(root)) {
    const gitDir = await gitDirOf(root)
    if (gitDir !== null) return { root, gitDir, folder: pathBelow(root, real) }
    if (root === dirname(root)) return { root: real, gitDir: null, folder: '' as RepoPath }
  }
}

async function requireFolder(folder: string): Promise<string> {
  try {
    const real = await realpath(folder)
    if (!(await stat(real)).isDirectory()) throw new WorktreeError(`${folder} is not a folder`)
    await readdir(real)
    return real
  } catch (cause) {
    if (cause instanceof WorktreeError) throw cause
    const code = (cause as NodeJS.ErrnoException).code ?? ''
    const reason = code === 'EACCES' || code === 'EPERM' ? 'may not be read' : 'does not exist'
    throw new WorktreeError(`the folder ${folder} ${reason}`, { cause })
  }
}

async function isGitDir(folder: string): Promise<boolean> {
  const found = await Promise.all(['HEAD', 'objects', 'refs'].map(name => lstat(join(folder, name)).catch(ifAbsent)))
  return found.every(stats => stats !== null)
}

function pathBelow(root: string, folder: string): RepoPath {
  const path = parseRepoPath(relative(root, folder).split(sep).join('/'))
  if (path === null) throw new WorktreeError(`the folder ${folder} has a name that no repository path can hold: rename it`)
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
