import { lstat, readlink, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { HOST_NAMES } from '#core/address.ts'
import { detached, withoutTrailing } from '#core/text.ts'
import { ifAbsent, readRealText } from '../git/safe-open.ts'
import type { Computed, Watch } from './stat-cache.ts'

/** Owner and name of a repository in its address. */
export interface RepositoryName {
  owner: string
  name: string
}

/** A repository. Paths are real, and lie below the root, where an address leads. */
export interface RepositoryLocation {
  /** The address of its real location, which differs from the requested one where a link leads there. */
  named: RepositoryName
  /** The address of the main repository of a linked worktree; else `null`. */
  main: RepositoryName | null
  /** Holds HEAD. */
  gitDir: string
  /** Holds objects and refs; differs from `gitDir` in a linked worktree. */
  commonDir: string
  /** Identifies the objects folder. */
  objects: string
  /** Distinguishes the repository from an earlier one at the same path. */
  identity: string
}

/** How a location is looked for. */
export interface Search {
  watch: Watch
  /** Called for something that lies at the place and is not served, with the reason and what the operator can do. */
  refuse(reason: string): void
}

/**
 * The repository of an owner below the root: `<owner>/<name>`, else `<owner>/<name>.git`.
 *
 * `null` when neither exists, when its real location is not that of an address, or when git would read files outside the repository. The only
 * way into another repository is a linked worktree, if its main repository has an address and names the worktree back.
 *
 * @param root real path
 */
export async function findRepository(
  root: string,
  requested: RepositoryName,
  search: Search,
): Promise<Computed<RepositoryLocation | null>> {
  if (!isName(requested)) return { value: null, keep: true }
  const found = await locationOf(root, requested, search)
  if (found === 'refused') return { value: null, keep: false }
  if (found === null || isSameName(found.named, requested)) return { value: found, keep: true }
  // A link led here. Another repository may have the address of this location.
  const named = await locationOf(root, found.named, search)
  if (named === 'refused') return { value: null, keep: false }
  if (named?.identity === found.identity) return { value: named, keep: true }
  search.refuse('it leads to a place whose address belongs to another repository')
  return { value: null, keep: true }
}

function isName({ owner, name }: RepositoryName): boolean {
  return HOST_NAMES.local.owner.test(owner) && HOST_NAMES.local.repository.test(name)
}

function isSameName(left: RepositoryName, right: RepositoryName): boolean {
  return left.owner === right.owner && left.name === right.name
}

/** `refused`: the repository is not self-contained, or is changing just now, and no watched file shows when that ends. */
async function locationOf(
  root: string,
  { owner, name }: RepositoryName,
  search: Search,
): Promise<RepositoryLocation | 'refused' | null> {
  const folder = join(root, owner, name)
  return (await locationAt(root, folder, search)) ?? (await locationAt(root, `${folder}.git`, search))
}

async function locationAt(root: string, folder: string, search: Search): Promise<RepositoryLocation | 'refused' | null> {
  const isBare = (await stat(join(folder, '.git')).catch(ifAbsent)) === null
  // Links may take the place of both while what they lead to stays the same; and what a link leads to may come later.
  for (const path of [dirname(folder), folder]) search.watch(path)
  search.watch(join(folder, '.git'), 'entries')
  if (isBare) search.watch(folder, 'entries')
  const real = await realpath(folder).catch(ifAbsent)
  if (real === null)
    return (await isThere(folder)) ? refused(search, 'it is a link that leads nowhere, or may not be entered') : null
  const named = nameAt(root, real)
  if (named === null) return refused(search, 'it is a link to a place that is not <owner>/<name> in the folder')
  const dirs = await gitDirsOf(root, real, isBare, search)
  if (dirs === null || dirs === 'refused') return dirs
  const objects = await objectsOf(dirs, search)
  if (objects === null) return null
  if (await hasAlternates(dirs.commonDir)) {
    search.refuse('it borrows objects from another repository: run git repack -a -d in it, then remove objects/info/alternates')
    return 'refused'
  }
  // A link may lead from one address to the git dir of another.
  const own = dirs.main === null ? nameOfGitDir(root, dirs.gitDir) : named
  return { ...dirs, named: own ?? named, objects, identity: `${dirs.gitDir}:${objects}` }
}

function refused({ refuse }: Search, reason: string): null {
  refuse(reason)
  return null
}

async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(ifAbsent)) !== null
}

type GitDirs = Pick<RepositoryLocation, 'gitDir' | 'commonDir' | 'main'>

/**
 * @param real the real path of a repository's folder
 * @param isBare whether the folder had no `.git` before it was watched
 */
async function gitDirsOf(root: string, real: string, isBare: boolean, search: Search): Promise<GitDirs | 'refused' | null> {
  const inner = join(real, '.git')
  const kind = await stat(inner).catch(ifAbsent)
  if (isBare !== (kind === null)) return 'refused'
  if (kind?.isFile()) return worktreeDirsOf(root, real, search)
  const gitDir = kind?.isDirectory() ? await realpath(inner).catch(ifAbsent) : real
  if (gitDir === null || nameOfGitDir(root, gitDir) === null) return refused(search, 'its .git is a link out of <owner>/<name>')
  // Only a linked worktree shares the objects and refs of another repository.
  if ((await readRealText(join(gitDir, 'commondir'))) !== null)
    return refused(search, 'it shares the objects of another repository (commondir)')
  return { gitDir, commonDir: gitDir, main: null }
}

/** The linked worktree at a real path: its `.git` file names a git dir in the main repository, which names that file back. */
async function worktreeDirsOf(root: string, real: string, search: Search): Promise<GitDirs | null> {
  const file = join(real, '.git')
  const target = /^gitdir: (.+)$/.exec((await readRealText(file))?.trimEnd() ?? '')?.[1]
  const gitDir = target === undefined ? null : await realpath(resolve(real, target)).catch(ifAbsent)
  if (gitDir === null || basename(dirname(gitDir)) !== 'worktrees')
    return refused(search, 'its .git is a file that names no linked worktree: put the repository itself here')
  const commonDir = dirname(dirname(gitDir))
  const main = nameOfGitDir(root, commonDir)
  if (main === null) return refused(search, 'its main repository is not at <owner>/<name> in the folder')
  search.watch(commonDir, 'entries')
  // A main repository that moves takes its git dir with it, unchanged, and may leave a link behind.
  const folder = basename(commonDir) === '.git' ? dirname(commonDir) : commonDir
  for (const path of [folder, dirname(folder)]) search.watch(path)
  for (const name of ['commondir', 'gitdir']) search.watch(join(gitDir, name))
  const [shared, named] = await Promise.all([pathIn(gitDir, 'commondir'), pathIn(gitDir, 'gitdir')])
  if (shared === commonDir && named === file) return { gitDir, commonDir, main }
  return refused(search, 'its main repository does not name it: run git worktree repair')
}

/** The absolute path that a file of the git dir holds, with links among its folders resolved; `null` if the file is missing or empty, or the folder is missing. */
async function pathIn(gitDir: string, file: string): Promise<string | null> {
  const text = withoutTrailing((await readRealText(join(gitDir, file))) ?? '', /[\r\n]/)
  if (text === '') return null
  const path = resolve(gitDir, text)
  const folder = await realpath(dirname(path)).catch(ifAbsent)
  return folder === null ? null : join(folder, basename(path))
}

/** The address of a repository's folder. */
function nameAt(root: string, folder: string): RepositoryName | null {
  const [owner = '', last = '', ...deeper] = relative(root, folder).split(sep)
  const named = { owner, name: last.replace(/\.git$/, '') }
  return deeper.length === 0 && isName(named) ? named : null
}

/** The address of the repository that has a git dir: its folder itself, or `.git` in it. */
function nameOfGitDir(root: string, gitDir: string): RepositoryName | null {
  return nameAt(root, basename(gitDir) === '.git' ? dirname(gitDir) : gitDir)
}

/**
 * Identity of the objects folder; `null` when the folders are no git dir of the classic layout. Which names the folders hold is watched by the
 * caller: git replaces files, so only what others write in place is watched here.
 */
async function objectsOf({ gitDir, commonDir }: GitDirs, search: Search): Promise<string | null> {
  const { watch } = search
  watch(join(gitDir, 'HEAD'))
  watch(join(commonDir, 'objects/info/alternates'))
  const [head, objects, refs, packedRefs, reftable] = await Promise.all([
    readHead(gitDir),
    lstat(join(commonDir, 'objects'), { bigint: true }).catch(ifAbsent),
    lstat(join(commonDir, 'refs')).catch(ifAbsent),
    lstat(join(commonDir, 'packed-refs')).catch(ifAbsent),
    lstat(join(commonDir, 'reftable')).catch(ifAbsent),
  ])
  if (head === null)
    return refused(search, 'its HEAD cannot be read: it is no git repository, or the user of this process may not read it')
  // Reftables are not supported, and the files of the classic layout beside one are stale.
  if (reftable !== null) return refused(search, 'it stores refs as reftables: run git refs migrate --ref-format=files')
  if (!objects?.isDirectory() || !refs?.isDirectory()) return refused(search, 'its folder objects or refs is missing, or a link')
  if (packedRefs !== null && !packedRefs.isFile()) return refused(search, 'its packed-refs is a link, or no file')
  return `${commonDir}:${objects.dev}:${objects.ino}:${objects.birthtimeNs}`
}

/** Whether the repository borrows objects from other folders. The reader never follows this file; what it names would be missing. */
async function hasAlternates(commonDir: string): Promise<boolean> {
  const file = await lstat(join(commonDir, 'objects/info/alternates')).catch(ifAbsent)
  return file !== null && !(file.isFile() && file.size === 0)
}

/** The target of HEAD: a full ref name, or a commit when it is detached; `null` when the folder is not a git dir. */
export async function readHead(gitDir: string): Promise<{ ref: string } | { commit: string } | null> {
  const path = join(gitDir, 'HEAD')
  // In very old repositories HEAD is a link.
  const link = (await lstat(path).catch(ifAbsent))?.isSymbolicLink() ? await readlink(path).catch(ifAbsent) : null
  const text = link === null ? ((await readRealText(path)) ?? '') : `ref: ${link}`
  const ref = /^ref:[ \t]*(refs\/[^ \t\n\r]+)[ \t\n\r]*$/.exec(text)?.[1]
  if (ref !== undefined) return { ref: detached(ref) }
  const commit = /^([0-9a-f]{40}|[0-9a-f]{64})\s*$/.exec(text)?.[1]
  return commit === undefined ? null : { commit: detached(commit) }
}
