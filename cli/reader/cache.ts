import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { BlobStore } from '#core/ports/blob-store.ts'
import { numberVariable, parseEnvironment } from '#core/settings.ts'
import { openDiskBlobStore } from '#infra/disk/blob-store.ts'
import { removeLeastUsed, useFolder } from '#infra/disk/used-folder.ts'
import { createMemoryBlobStore } from '#infra/memory-stores.ts'
import { systemClock } from '#infra/system/system.ts'
import { cacheFolder } from '#infra/system/user-folders.ts'
import { createWriteBehindStore } from '#infra/write-behind.ts'
import { t } from '#words/t.ts'
import { emptyNotes, type HostNotes, readNotes, writeNotes } from './remembered-host.ts'

/**
 * The cache of the commands that read. Each repository has a store of its own in a folder below `repositories`, which goes as a whole: a command
 * that removed single objects would have to know which of them the others need.
 */
export interface Cache {
  /** `null`: nothing is kept. */
  folder: string | null
  maxBytes: number
  /** Told in one line why nothing can be kept. */
  onUnusable(line: string): void
}

const Variables = z.object({ MOUNTGLASS_CACHE_MEGABYTES: numberVariable(0, 10_000_000).default(2048) })
const MEGABYTE = 1024 * 1024

/** @throws SettingsError */
export function findCache(env: NodeJS.ProcessEnv, onUnusable: Cache['onUnusable'], platform = process.platform): Cache {
  const { MOUNTGLASS_CACHE_MEGABYTES: megabytes } = parseEnvironment(Variables, env)
  const base = cacheFolder(env, platform)
  if (base === null) onUnusable(t('reader.noCacheFolder', { variable: platform === 'win32' ? 'LOCALAPPDATA' : 'HOME' }))
  const folder = megabytes === 0 ? null : base
  return { folder, maxBytes: megabytes * MEGABYTE, onUnusable }
}

/** What is kept of one repository. */
export interface KeptRepository {
  blobs: BlobStore
  notes: HostNotes
  /** Writes what is new, and removes what was not used for long. Never rejects: what cannot be kept is told in one line. */
  keep(signal: AbortSignal): Promise<void>
  /** Forgets what a host that hides the repository now said of it, also where nothing is kept. */
  close(): Promise<void>
}

/** @param subject the repository and where it is read: equal texts share a store. @param name a short name for people who look into the folder */
export async function openKept(cache: Cache, subject: readonly string[], name: string): Promise<KeptRepository> {
  if (cache.folder === null) return openNothingKept()
  const root = join(cache.folder, 'repositories')
  try {
    const used = await useFolder(root, folderName(subject, name))
    const file = join(used.path, 'host.json')
    const [behind, notes] = await Promise.all([openDiskBlobStore(used.path), readNotes(file)])
    const blobs = createWriteBehindStore(behind, systemClock)
    const before = JSON.stringify(notes)
    const wasKnown = notes.repository !== null
    return {
      blobs,
      notes,
      async keep(signal) {
        try {
          const isNew = await blobs.flush(signal)
          if (JSON.stringify(notes) !== before) await writeNotes(file, notes)
          if (isNew) {
            await used.release()
            await removeLeastUsed(root, cache.maxBytes)
          }
        } catch (error) {
          if (!signal.aborted) cache.onUnusable(unusable(cache.folder ?? '', error))
        }
      },
      async close() {
        await blobs.close()
        // The host hides the repository now: no later command may say what it answered before.
        if (wasKnown && notes.repository === null) await rm(file, { force: true }).catch(() => {})
        await used.release()
      },
    }
  } catch (error) {
    cache.onUnusable(unusable(cache.folder, error))
    return openNothingKept()
  }
}

/** Everything in memory. */
export function openNothingKept(): KeptRepository {
  return { blobs: createMemoryBlobStore(systemClock), notes: emptyNotes(), async keep() {}, async close() {} }
}

function unusable(folder: string, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return t('reader.cacheUnusable', { folder, reason: code ?? message })
}

function folderName(subject: readonly string[], name: string): string {
  const digest = createHash('sha256').update(JSON.stringify(subject)).digest('hex').slice(0, 16)
  return `${name
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^\.+/, '')
    .slice(0, 60)}-${digest}`
}
