import { lstat, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * A git dir with links to the objects and refs of a repository, and nothing else of it: no configuration (includes,
 * partial-clone remotes, programs to run, worktree), hooks, attributes, grafts or HEAD.
 * So git never fetches a missing object, also in a partial clone.
 */
export interface GitView {
  readonly gitDir: string
  remove(): Promise<void>
}

const CONFIG = '[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tlogAllRefUpdates = false\n'
/** `removeLeftoverViews` removes folders of this prefix from the folder for temporary files. */
export const TEMPORARY_PREFIX = 'mountglass-git-'
const LINKED = ['objects', 'refs', 'packed-refs', 'shallow']

/** @param commonDir the folder that holds `objects` and `refs` */
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

/** An empty repository to fetch into. It has no remote: every call brings its own settings. */
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

/** Opens a view for the duration of `use`. */
export async function withView<Value>(commonDir: string, use: (gitDir: string) => Promise<Value>): Promise<Value> {
  const view = await openView(commonDir)
  try {
    return await use(view.gitDir)
  } finally {
    await view.remove()
  }
}

const LEFTOVER_MS = 60 * 60 * 1000

/** Removes the views and scratch repositories of killed processes: folders that are unchanged for an hour. No read takes that long. */
export async function removeLeftoverViews(now: Date): Promise<void> {
  const names = await readdir(tmpdir())
  for (const name of names.filter(one => one.startsWith(TEMPORARY_PREFIX))) {
    const path = join(tmpdir(), name)
    const changedAtMs = await lstat(path).then(
      stats => stats.mtimeMs,
      () => now.getTime(), // another process removed it first
    )
    if (now.getTime() - changedAtMs > LEFTOVER_MS) await rm(path, { recursive: true, force: true }).catch(() => {})
  }
}
