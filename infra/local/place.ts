import { lstat, readlink, realpath, stat } from 'node:fs/promises'
import { join, resolve, sep } from 'node:path'
import { ifAbsent, isSelfContained, readSmallFile } from '#infra/git/contained.ts'
import type { Computed, Watch } from './signed-cache.ts'

/** Real paths of a repository. */
export interface Place {
  /** Holds HEAD. */
  gitDir: string
  /** Holds objects and refs; differs from `gitDir` in a linked worktree. */
  commonDir: string
  /** Distinguishes the repository from an earlier one at the same path. */
  identity: string
}

const NAME = /^(?!\.)[A-Za-z0-9._-]{1,100}$/

/**
 * The repository of an owner below the root: `<owner>/<name>`, else `<owner>/<name>.git`.
 * `null` when neither exists, when a link leads out of the root, or when git would read files outside the repository.
 *
 * @param root real path
 */
export async function findPlace(root: string, owner: string, name: string, watch: Watch): Promise<Computed<Place | null>> {
  if (!NAME.test(owner) || !NAME.test(name) || name.endsWith('.git')) return { value: null, keep: true }
  const folder = join(root, owner, name)
  const found = (await placeAt(root, folder, watch)) ?? (await placeAt(root, `${folder}.git`, watch))
  return found === 'refused' ? { value: null, keep: false } : { value: found, keep: true }
}

/** `refused`: the repository is not self-contained, and no watched file shows when that changes. */
async function placeAt(root: string, folder: string, watch: Watch): Promise<Place | 'refused' | null> {
  watch(folder)
  watch(join(folder, '.git'))
  const gitDir = (await realPathInside(root, folder)) && (await gitDirOf(root, folder))
  if (!gitDir) return null

  watch(join(gitDir, 'commondir'))
  const shared = await readSmallFile(join(gitDir, 'commondir'))
  const commonDir = shared === null ? gitDir : await realPathInside(root, resolve(gitDir, shared.trim()))
  if (!commonDir) return null

  watch(join(gitDir, 'HEAD'))
  for (const name of ['objects', 'objects/info/alternates', 'refs', 'reftable']) watch(join(commonDir, name))
  const [hasHead, objects, hasRefs, hasReftable] = await Promise.all([
    readHead(gitDir).then(head => head !== null),
    stat(join(commonDir, 'objects'), { bigint: true }).catch(ifAbsent),
    isFolder(join(commonDir, 'refs')),
    isFolder(join(commonDir, 'reftable')),
  ])
  // Reftables are not supported, and the files of the classic layout beside one are stale.
  if (!hasHead || !objects?.isDirectory() || !hasRefs || hasReftable) return null
  if (!(await isSelfContained(commonDir))) return 'refused'
  return { gitDir, commonDir, identity: `${gitDir}:${objects.dev}:${objects.ino}:${objects.birthtimeNs}` }
}

async function gitDirOf(root: string, folder: string): Promise<string | null> {
  const inner = join(folder, '.git')
  const kind = await stat(inner).catch(ifAbsent)
  if (kind === null) return realPathInside(root, folder)
  if (kind.isDirectory()) return realPathInside(root, inner)
  const target = /^gitdir: (.+?)\s*$/.exec((await readSmallFile(inner)) ?? '')?.[1]
  return target === undefined ? null : realPathInside(root, resolve(folder, target))
}

async function realPathInside(root: string, path: string): Promise<string | null> {
  const real = await realpath(path).catch(ifAbsent)
  return real?.startsWith(root + sep) ? real : null
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(ifAbsent))?.isDirectory() ?? false
}

/** The target of HEAD: a full ref name, or a commit when it is detached; `null` when the folder is not a git dir. */
export async function readHead(gitDir: string): Promise<{ ref: string } | { commit: string } | null> {
  const path = join(gitDir, 'HEAD')
  // In very old repositories HEAD is a link.
  const link = (await lstat(path).catch(ifAbsent))?.isSymbolicLink() ? await readlink(path) : null
  const text = link === null ? ((await readSmallFile(path)) ?? '') : `ref: ${link}`
  const ref = /^ref:[ \t]*(refs\/[^ \t\n\r]+)[ \t\n\r]*$/.exec(text)?.[1]
  if (ref !== undefined) return { ref }
  const commit = /^([0-9a-f]{40})\s*$/.exec(text)?.[1]
  return commit === undefined ? null : { commit }
}
