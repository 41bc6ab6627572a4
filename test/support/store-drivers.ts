import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { DocStore } from '#core/ports/doc-store.ts'
import { openDiskBlobStore } from '#infra/disk/blob-store.ts'
import { openDiskDocStore } from '#infra/disk/doc-store.ts'
import { createMemoryBlobStore } from '#infra/memory/blob-store.ts'
import { createMemoryDocStore } from '#infra/memory/doc-store.ts'
import { systemClock } from '#infra/system/clock.ts'

/** A driver of a port: opened with a free folder, it must pass the suite. */
export interface StoreDriver<Store> {
  driver: string
  open(folder: string): Promise<Store>
}

export const BLOB_STORE_DRIVERS: readonly StoreDriver<BlobStore>[] = [
  { driver: 'memory', open: async () => createMemoryBlobStore(systemClock) },
  { driver: 'disk', open: folder => openDiskBlobStore(join(folder, 'blobs')) },
]

export const DOC_STORE_DRIVERS: readonly StoreDriver<DocStore>[] = [
  { driver: 'memory', open: async () => createMemoryDocStore() },
  { driver: 'disk', open: folder => openDiskDocStore(join(folder, 'docs.sqlite')) },
]

/** A new folder, removed with everything in it when the test ends. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mountglass-store-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}
