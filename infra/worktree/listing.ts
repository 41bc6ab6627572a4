import { isUtf8 } from 'node:buffer'
import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { GitError, runGit, startGit } from '../git/process.ts'
import { ifAbsent, readSmallFile } from '../git/safe-open.ts'

/** A path of the working folder. The file may be missing. */
export interface ListedPath {
  /** Relative to the root; `null` when its bytes are not UTF-8. */
  path: string | null
  kind: 'file' | 'submodule' | 'not_checked_out' | 'unreadable_folder'
}

/** The files of a commit of everything: tracked files, and untracked ones that are not ignored. @throws GitError */
export async function* listWithGit(root: string, gitDir: string, signal: AbortSignal): AsyncGenerator<ListedPath> {
  const ignored = await ignoreOptions()
  const args = [`--work-tree=${root}`, 'ls-files', '-z', '-t', '--stage', '--cached', '--others', ...ignored]
  const git = startGit(args, { gitDir, signal })
  git.input.end()
  let rest: Buffer = Buffer.alloc(0)
  try {
    for await (const chunk of git.output as AsyncIterable<Buffer>) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      let start = 0
      for (let end = bytes.indexOf(0); end >= 0; end = bytes.indexOf(0, start)) {
        yield parseLine(bytes.subarray(start, end))
        start = end + 1
      }
      rest = bytes.subarray(start)
    }
    const end = await git.ended
    signal.throwIfAborted()
    if (end.status !== 0) throw new GitError('ls-files', end)
    for (const [, path = ''] of end.message.matchAll(/^warning: could not open directory '(.*)\/': /gm)) {
      yield { path, kind: 'unreadable_folder' }
    }
  } finally {
    await git.stop()
  }
}

/** Absolute paths of the topmost ignored folders; empty when git fails. */
export async function listIgnoredFolders(root: string, gitDir: string): Promise<Set<string>> {
  const ignored = await ignoreOptions()
  const args = [`--work-tree=${root}`, 'ls-files', '-z', '--others', '--ignored', '--directory', ...ignored]
  const output = await runGit(args, { gitDir, maxOutputBytes: IGNORED_BYTES }).catch(none)
  const paths = output === null ? [] : output.toString().split('\0')
  return new Set(paths.filter(path => path.endsWith('/')).map(path => join(root, path.slice(0, -1))))
}

const IGNORED_BYTES = 16 * 1024 * 1024

/** Parses `? <path>` of an untracked file, or `<tag> <mode> <oid> <stage>\t<path>`. */
function parseLine(line: Buffer): ListedPath {
  const tag = line.toString('latin1', 0, 1)
  if (tag !== '?') {
    const kind = line.toString('latin1', 2, 8) === '160000' ? 'submodule' : tag === 'S' ? 'not_checked_out' : 'file'
    return { path: textOf(line.subarray(line.indexOf(0x09) + 1)), kind }
  }
  const path = textOf(line.subarray(2))
  // An untracked folder is listed only if it is a repository, which a commit would hold as a submodule.
  return path?.endsWith('/') ? { path: path.slice(0, -1), kind: 'submodule' } : { path, kind: 'file' }
}

async function ignoreOptions(): Promise<string[]> {
  const own = await userIgnoreFile()
  return ['--exclude-standard', ...(own === null ? [] : [`--exclude-from=${own}`])]
}

/**
 * The user's own ignore file; `null` when there is none. Git runs here without the user's configuration, but the author's commits
 * omit these files.
 */
export async function userIgnoreFile(): Promise<string | null> {
  const folder = join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'git')
  let path = join(folder, 'ignore')
  for (const file of [join(folder, 'config'), join(homedir(), '.gitconfig')]) {
    const declared = await runGit(['config', '--file', file, '--get', 'core.excludesFile'], { gitDir: '/nonexistent' }).catch(
      none,
    )
    if (declared !== null) path = resolve(declared.toString().trimEnd().replace(/^~\//, `${homedir()}/`))
  }
  return (await readSmallFile(path)) === null ? null : path
}

function none(error: unknown): null {
  if (error instanceof GitError) return null
  throw error
}

/** Every file below a folder, except in `.git`. Links to folders count as files. */
export async function* listFolder(root: string): AsyncGenerator<ListedPath> {
  const waiting = ['']
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const entries: Dirent<Buffer>[] | null = await readdir(join(root, folder), { withFileTypes: true, encoding: 'buffer' }).catch(
      ifAbsent,
    )
    if (entries === null) yield { path: folder, kind: 'unreadable_folder' }
    for (const entry of entries ?? []) {
      const name = textOf(entry.name)
      if (name?.toLowerCase() === '.git') continue
      const path = name === null ? null : folder === '' ? name : `${folder}/${name}`
      if (entry.isDirectory() && path !== null) waiting.push(path)
      else if (entry.isDirectory() || entry.isFile() || entry.isSymbolicLink()) yield { path, kind: 'file' }
    }
  }
}

function textOf(bytes: Buffer): string | null {
  return isUtf8(bytes) ? bytes.toString() : null
}
