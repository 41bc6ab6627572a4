import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { describe, onTestFinished } from 'vitest'
import type { BlobStore } from '#core/ports/blob-store.ts'
import { NO_METRICS } from '#core/ports/metrics.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { openDiskBlobStore } from '#infra/disk/blob-store.ts'
import { openDiskStateStore } from '#infra/disk/state-store.ts'
import { createMemoryBlobStore, createMemoryStateStore } from '#infra/memory-stores.ts'
import { countBlobStore, countStateStore } from '#infra/monitoring/watched.ts'
import { openDatabase } from '#infra/postgres/database.ts'
import { openPostgresStateStore } from '#infra/postgres/state-store.ts'
import type { S3Stores } from '#infra/s3/open.ts'
import { systemClock } from '#infra/system/system.ts'
import { createWriteBehindStore } from '#infra/write-behind.ts'
import { keptDatabases } from './servers/kept-databases.ts'
import { openTestS3Stores } from './servers/s3.ts'
import { hasServer, type ServerName } from './servers/servers.ts'

/** A driver of a port: opened with a free folder, it must pass the suite. */
export interface StoreDriver<Store> extends Driver {
  open(folder: string): Promise<Store>
}

interface Driver {
  driver: string
  /** The server that it needs; none when left out. */
  server?: ServerName
}

/** Runs a suite with each driver. A driver whose server is not installed here is left out, and the run says so; in CI that fails. */
export function describeDrivers<Kind extends Driver>(
  title: string,
  drivers: readonly Kind[],
  suite: (driver: Kind) => void,
): void {
  for (const driver of drivers) {
    const canRun = driver.server === undefined || hasServer(driver.server)
    describe.runIf(canRun)(`${title}: ${driver.driver}`, () => suite(driver))
  }
}

export const MEMORY_BLOBS: StoreDriver<BlobStore> = { driver: 'memory', open: async () => createMemoryBlobStore(systemClock) }

export const DISK_BLOBS: StoreDriver<BlobStore> = {
  driver: 'disk',
  open: folder => openDiskBlobStore(join(folder, 'blobs')),
}

export const LOCAL_BLOB_STORES: readonly StoreDriver<BlobStore>[] = [
  MEMORY_BLOBS,
  { driver: 'memory, counted', open: async () => countBlobStore(createMemoryBlobStore(systemClock), NO_METRICS) },
  DISK_BLOBS,
]

export const LATE_BLOBS: StoreDriver<BlobStore> = {
  driver: 'disk, written late',
  open: async folder => createWriteBehindStore(await openDiskBlobStore(join(folder, 'blobs')), systemClock),
}

export const SERVER_BLOB_STORES: readonly StoreDriver<BlobStore>[] = [
  { driver: 's3', server: 's3', open: async folder => (await openS3Of(folder)).blobs },
]

export const LOCAL_STATE_STORES = closedAtEnd([
  { driver: 'memory', open: async () => createMemoryStateStore() },
  { driver: 'memory, counted', open: async () => countStateStore(createMemoryStateStore(), NO_METRICS) },
  { driver: 'disk', open: folder => openDiskStateStore(join(folder, 'docs.sqlite')) },
])

export const SERVER_STATE_STORES = closedAtEnd([
  { driver: 's3', server: 's3', open: async folder => (await openS3Of(folder)).states },
  { driver: 'postgres', server: 'postgres', open: openDatabaseStateStore },
])

/** Stores that are closed when the test ends, if the test did not. A closed one can be closed again. */
function closedAtEnd(drivers: readonly StoreDriver<StateStore>[]): readonly StoreDriver<StateStore>[] {
  return drivers.map(({ open, ...driver }) => ({
    ...driver,
    async open(folder) {
      const store = await open(folder)
      onTestFinished(() => store.close())
      return store
    },
  }))
}

const takeDatabase = keptDatabases(async url => (await openPostgresStateStore(openDatabase(url))).close())

/** Entries in a database in which there are no others. */
async function openDatabaseStateStore(): Promise<StateStore> {
  const { url, remove } = await takeDatabase()
  onTestFinished(remove)
  return openPostgresStateStore(openDatabase(url))
}

/** A new folder, removed with everything in it when the test ends. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mountglass-store-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Stores below a prefix that is called as the folder. */
function openS3Of(folder: string): Promise<S3Stores> {
  return openTestS3Stores(basename(folder))
}
