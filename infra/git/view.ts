import { lstat, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * A git dir of our own through which git sees the objects and refs of a repository, and nothing else of it: not its
 * configuration (includes, partial-clone remotes, programs to run, worktree), hooks, attributes, grafts or HEAD.
 * A missing object is then just missing, also in a partial clone.
 */
export interface GitView {
  readonly gitDir: string
  remove(): Promise<void>
}

const CONFIG = '[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tlogAllRefUpdates = false\n'
/** What lies in the folder for temporary files under such a name, and has not changed for an hour, is removed. */
export const TEMPORARY_PREFIX = 'mountglass-git-'
const LINKED = ['objects', 'refs', 'packed-refs', 'shallow']

/** @param commonDir the folder that holds `objects` and `refs`; what is missing in it is missing in the view */
export async function openView(commonDir: string): Promise<GitView> {
  const gitDir = await mkdtemp(join(tmpdir(), TEMPORARY_PREFIX))
  const remove = () => rm(gitDir, { recursive: true, force: true })
  try {
    await Promise.all([
      writeFile(join(gitDir, 'config'), CONFIG),
      writeFile(join(gitDir, 'HEAD'), 'ref: refs/heads/none\n'),
      ...LINKED.map(name => symlink(join(commonDir, name), join(gitDir, name))),
    ])
    return { gitDir, remove }
  } catch (error) {
    await remove()
    throw error
  }
}

/** An empty repository of our own to fetch into. Nothing of it lies among the settings: what git may do comes with every call. */
export async function openScratch(): Promise<GitView> {
  const gitDir = await mkdtemp(join(tmpdir(), TEMPORARY_PREFIX))
  const remove = () => rm(gitDir, { recursive: true, force: true, maxRetries: 3 })
  try {
    await Promise.all([
      writeFile(join(gitDir, 'config'), CONFIG),
      writeFile(join(gitDir, 'HEAD'), 'ref: refs/heads/none\n'),
      ...['objects', 'refs'].map(name => mkdir(join(gitDir, name))),
    ])
    return { gitDir, remove }
  } catch (error) {
    await remove()
    throw error
  }
}

export async function withView<Value>(commonDir: string, use: (gitDir: string) => Promise<Value>): Promise<Value> {
  const view = await openView(commonDir)
  try {
    return await use(view.gitDir)
  } finally {
    await view.remove()
  }
}

const LEFTOVER_MS = 60 * 60 * 1000

/** Removes the views and scratch repositories of processes that were killed; no reading takes an hour. */
export async function removeLeftoverViews(now: Date): Promise<void> {
  const names = await readdir(tmpdir())
  for (const name of names.filter(one => one.startsWith(TEMPORARY_PREFIX))) {
    const path = join(tmpdir(), name)
    const madeMs = await lstat(path).then(
      stats => stats.mtimeMs,
      () => now.getTime(), // another process was faster
    )
    if (now.getTime() - madeMs > LEFTOVER_MS) await rm(path, { recursive: true, force: true }).catch(() => {})
  }
}
