import { type FSWatcher, watch } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { ifAbsent } from '../git/safe-open.ts'
import { listIgnoredFolders } from './listing.ts'
import { findWorktree } from './place.ts'

/** Notices changes in a working folder, also in folders that are created or removed. */
export interface WorktreeWatcher {
  /**
   * Watches the working folder that holds `folder`, except ignored folders. A caller that reads the folder afterwards misses no change.
   * If the folder is missing, watches the nearest existing parent, in which it may reappear.
   */
  follow(folder: string): Promise<void>
  /** Resolves `REST_MS` after the last change; at once when there were changes since the last call. */
  changed(): Promise<void>
  /** Number of folders that are not watched, because of a limit of the system or of this watcher. */
  readonly unwatched: number
  close(): void
}

/** Editors and git change several files at a time. */
const REST_MS = 150
/** Bounds the watches of one working folder. */
const MOST_FOLDERS = 20_000

export function createWorktreeWatcher(): WorktreeWatcher {
  return new FolderWatcher()
}

class FolderWatcher implements WorktreeWatcher {
  /** By absolute path. */
  readonly #watchers = new Map<string, FSWatcher>()
  #timer: NodeJS.Timeout | undefined
  #isChanged = false
  /** Resolves the promise of `changed`. */
  #notify: (() => void) | null = null
  #unwatched = 0

  get unwatched(): number {
    return this.#unwatched
  }

  async follow(folder: string): Promise<void> {
    // A folder may be created in another before that one is watched, so the walk repeats until it finds nothing new.
    for (let isNew = true; isNew; ) {
      const wanted = await foldersOf(folder)
      for (const watched of this.#watchers.keys()) if (!wanted.has(watched)) this.#drop(watched)
      const fresh = [...wanted].filter(one => !this.#watchers.has(one)).slice(0, MOST_FOLDERS - this.#watchers.size)
      for (const one of fresh) this.#add(one)
      isNew = fresh.some(one => this.#watchers.has(one))
      this.#unwatched = wanted.size - this.#watchers.size
    }
  }

  async changed(): Promise<void> {
    if (!this.#isChanged) await new Promise<void>(resolve => (this.#notify = resolve))
    this.#notify = null
    this.#isChanged = false
  }

  close(): void {
    clearTimeout(this.#timer)
    for (const folder of [...this.#watchers.keys()]) this.#drop(folder)
  }

  #add(folder: string): void {
    try {
      const watcher = watch(folder, (_event, name) => this.#note(name))
      watcher.on('error', () => {
        this.#drop(folder)
        this.#note(null)
      })
      this.#watchers.set(folder, watcher)
    } catch {
      // The folder was removed, which its parent reports, or the system's limit is reached: see `unwatched`.
    }
  }

  #drop(folder: string): void {
    this.#watchers.get(folder)?.close()
    this.#watchers.delete(folder)
  }

  /** Restarts the timer of `changed`. */
  #note(name: string | null): void {
    if (name === '.git') return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#isChanged = true
      this.#notify?.()
    }, REST_MS)
  }
}

/** Absolute paths of the folders to watch; at most `MOST_FOLDERS` + 1. */
async function foldersOf(folder: string): Promise<Set<string>> {
  const place = await findWorktree(folder).catch(() => null)
  if (place === null) return new Set([await nearestAbove(resolve(folder))])
  const { root, gitDir } = place
  const ignored = gitDir === null ? new Set<string>() : await listIgnoredFolders(root, gitDir)
  const folders = new Set([root])
  for (const folder of folders) {
    const entries = (await readdir(folder, { withFileTypes: true }).catch(ifAbsent)) ?? []
    for (const entry of entries) {
      const inner = join(folder, entry.name)
      if (!entry.isDirectory() || LEFT_ALONE.has(entry.name) || ignored.has(inner)) continue
      if (folders.size > MOST_FOLDERS) return folders
      folders.add(inner)
    }
  }
  return folders
}

async function nearestAbove(folder: string): Promise<string> {
  const above = dirname(folder)
  return above === folder || (await stat(above).catch(ifAbsent)) ? above : await nearestAbove(above)
}

const LEFT_ALONE = new Set(['.git', 'node_modules'])
