import { type FSWatcher, watch } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { ifAbsent } from '#infra/git/contained.ts'
import { listIgnoredFolders } from './listing.ts'
import { findWorktree } from './place.ts'

/** Tells when something changes in a working folder, folders that come and go included. */
export interface WorktreeWatcher {
  /**
   * Watches the working folder that holds `folder`, but for what git ignores; whoever reads it afterwards misses no change.
   * While there is no such folder, the nearest one above is watched, in which it can come back.
   */
  follow(folder: string): Promise<void>
  /** Resolves once after changes, when they have come to rest; at once when there were some since the last call. */
  changed(): Promise<void>
  /** Folders whose changes go unseen: the machine, or this watcher, watches no more. */
  readonly unwatched: number
  close(): void
}

/** Editors and git change several files at a time. */
const REST_MILLISECONDS = 150
/** Bounds what a folder full of folders costs. */
const MOST_FOLDERS = 20_000

export function createWorktreeWatcher(): WorktreeWatcher {
  const watchers = new Map<string, FSWatcher>()
  let timer: NodeJS.Timeout | undefined
  let isChanged = false
  let notify: (() => void) | null = null
  let unwatched = 0

  function settle(): void {
    isChanged = true
    notify?.()
  }

  function note(name: string | null): void {
    if (name === '.git') return
    clearTimeout(timer)
    timer = setTimeout(settle, REST_MILLISECONDS)
  }

  function drop(folder: string): void {
    watchers.get(folder)?.close()
    watchers.delete(folder)
  }

  function add(folder: string): void {
    try {
      const watcher = watch(folder, (_event, name) => note(name))
      watcher.on('error', () => {
        drop(folder)
        note(null)
      })
      watchers.set(folder, watcher)
    } catch {
      // It went away, which shows as a change of the one above, or the machine watches no more folders: see `unwatched`.
    }
  }

  return {
    async follow(folder) {
      // A folder may have come into another before that one was watched, so only a walk that finds nothing new is the last.
      for (let isNew = true; isNew; ) {
        const wanted = await foldersOf(folder)
        for (const watched of watchers.keys()) if (!wanted.has(watched)) drop(watched)
        const fresh = [...wanted].filter(folder => !watchers.has(folder)).slice(0, MOST_FOLDERS - watchers.size)
        for (const one of fresh) add(one)
        isNew = fresh.some(one => watchers.has(one))
        unwatched = wanted.size - watchers.size
      }
    },
    async changed() {
      if (!isChanged) await new Promise<void>(resolve => (notify = resolve))
      notify = null
      isChanged = false
    },
    get unwatched() {
      return unwatched
    },
    close() {
      clearTimeout(timer)
      for (const folder of [...watchers.keys()]) drop(folder)
    },
  }
}

/** Whole paths, at most one more than are watched. */
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
