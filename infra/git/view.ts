import { lstat, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A git dir of this process: with its own configuration, which names no program, no include and no remote. */
export interface GitView {
  readonly gitDir: string
  remove(): Promise<void>
}

const CONFIG = '[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tlogAllRefUpdates = false\n'
/** `removeLeftoverViews` removes folders of this prefix from the folder for temporary files. */
export const TEMPORARY_PREFIX = 'mountglass-git-'
const LINKED = ['objects', 'refs', 'packed-refs', 'shallow']

/**
 * A view with links to the objects and refs of a repository that is trusted, such as the clone of a workflow: git follows its alternates.
 * Git never fetches a missing object, also in a partial clone.
 *
 * @param commonDir the folder that holds `objects` and `refs`
 */
export function openLiveView(commonDir: string): Promise<GitView> {
  return openGitDir(async gitDir => {
    await writeSettings(gitDir)
    await Promise.all(LINKED.map(name => symlink(join(commonDir, name), join(gitDir, name))))
  })
}

/** An empty repository to fetch into. It has no remote: every call brings its own settings. */
export function openScratch(): Promise<GitView> {
  return openGitDir(prepareGitDir)
}

/** Makes an empty repository of an empty folder. */
export async function prepareGitDir(gitDir: string): Promise<void> {
  await Promise.all([writeSettings(gitDir), ...['objects', 'refs'].map(name => mkdir(join(gitDir, name)))])
}

async function writeSettings(gitDir: string): Promise<void> {
  await Promise.all([writeFile(join(gitDir, 'config'), CONFIG), writeFile(join(gitDir, 'HEAD'), 'ref: refs/heads/none\n')])
}

async function openGitDir(prepare: (gitDir: string) => Promise<void>): Promise<GitView> {
  const gitDir = await mkdtemp(join(tmpdir(), TEMPORARY_PREFIX))
  const remove = () => rm(gitDir, { recursive: true, force: true, maxRetries: 3 })
  try {
    await prepare(gitDir)
    return { gitDir, remove }
  } catch (error) {
    await remove()
    throw error
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
