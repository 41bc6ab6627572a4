import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { DocStore } from '#core/ports/doc-store.ts'
import { SettingsError } from '#core/settings.ts'
import { splitBlobs, splitDocs } from './by-class.ts'
import { openDiskBlobStore } from './disk/blob-store.ts'
import { openDiskDocStore } from './disk/doc-store.ts'
import type { Leftovers } from './disk/leftovers.ts'
import { readOrCreateSecret } from './disk/secret-file.ts'
import type { InfraSettings, S3Setting } from './infra-settings.ts'
import { createMemoryBlobStore } from './memory/blob-store.ts'
import { createMemoryDocStore } from './memory/doc-store.ts'
import type { Database } from './postgres/database.ts'
import type { S3Stores } from './s3/open.ts'
import type { Conditions } from './s3/probe.ts'
import { systemClock } from './system/clock.ts'

/** Where everything that lasts lies. */
export interface Stores {
  blobs: BlobStore
  docs: DocStore
  /** That of the documents, where they lie in one. */
  database: Database | null
  /** Another process of the same settings may open the same with it. */
  buckets: TriedBuckets
  /** A secret of the deployment: made once and kept with the store, for as long as the process lives with `memory:`. */
  secret(name: string, make: () => string): Promise<string>
  /** What else belongs to the deployment lies here. Made when it is asked for, where it is not a part of the store. */
  folder(): Promise<string>
  /** Files of writes that were broken off; objects that are no files leave none. @param remove else they are only counted */
  leftovers(remove: boolean): Promise<Leftovers>
  close(): Promise<void>
}

/** What the servers of buckets do with conditions; `null`: nobody has tried. */
export interface TriedBuckets {
  store: Conditions | null
  privateStore: Conditions | null
}

export interface OpenOptions {
  /** To the database, at most. */
  connections?: number
  /** As a process of the same settings found them, which lives: they are not tried again. */
  buckets?: TriedBuckets
  /** Opening changes nothing that is there. */
  keepLeftovers?: boolean
}

const NO_LEFTOVERS = async (): Promise<Leftovers> => ({ files: 0, bytes: 0 })
const NOT_TRIED: TriedBuckets = { store: null, privateStore: null }

/**
 * Opens what the settings name. Drivers that take long to load are loaded only then.
 *
 * @throws SettingsError when a store cannot be used
 */
export async function openStores(
  settings: Pick<InfraSettings, 'store' | 'privateStore' | 'database'>,
  options: OpenOptions = {},
): Promise<Stores> {
  if (settings.database === null) return { ...(await openStore(settings, null, options)), database: null }
  const { database, docs } = await openDatabaseDocs(settings.database, options.connections)
  const store = await openStore(settings, docs, options).catch(closing(database))
  return {
    ...store,
    database,
    async close() {
      await store.close()
      await database.close()
    },
  }
}

async function openDatabaseDocs(url: string, connections: number | undefined): Promise<{ database: Database; docs: DocStore }> {
  const [{ openDatabase, problemOf }, { openPostgresDocStore }] = await Promise.all([
    import('./postgres/database.ts'),
    import('./postgres/doc-store.ts'),
  ])
  const database = openDatabase(url, connections)
  try {
    return { database, docs: await openPostgresDocStore(database) }
  } catch (cause) {
    await database.close()
    throw new SettingsError('MOUNTGLASS_DATABASE', `the database cannot be used: ${problemOf(cause)}`, { cause })
  }
}

type Store = Omit<Stores, 'database'>

/** @param docs in place of the store's own, which then are not opened */
async function openStore(
  { store, privateStore }: Pick<InfraSettings, 'store' | 'privateStore'>,
  docs: DocStore | null,
  { buckets = NOT_TRIED, keepLeftovers = false }: OpenOptions,
): Promise<Store> {
  switch (store.kind) {
    case 'memory':
      return await openMemoryStore()
    case 'disk':
      return await openDiskStore(resolve(store.folder), docs, keepLeftovers)
    case 's3':
      return await openS3Store(store, privateStore, docs, buckets)
  }
}

async function openS3Store(
  setting: S3Setting,
  privateSetting: S3Setting | null,
  docs: DocStore | null,
  known: TriedBuckets,
): Promise<Store> {
  const stores = await openBucketFor('MOUNTGLASS_STORE', setting, docs, known.store)
  const ofPrivate =
    privateSetting &&
    (await openBucketFor('MOUNTGLASS_PRIVATE_STORE', privateSetting, docs, known.privateStore).catch(closing(stores)))
  const folder = temporaryFolder()
  return {
    folder: folder.open,
    leftovers: NO_LEFTOVERS,
    buckets: { store: stores.conditions, privateStore: ofPrivate?.conditions ?? null },
    blobs: ofPrivate ? splitBlobs(stores.blobs, ofPrivate.blobs) : stores.blobs,
    docs: docs ?? (ofPrivate ? splitDocs(stores.docs, ofPrivate.docs) : stores.docs),
    async secret() {
      throw new SettingsError('MOUNTGLASS_KEYS', KEYS_MISSING)
    },
    async close() {
      await Promise.all([stores.close(), ofPrivate?.close(), folder.remove()])
    },
  }
}

const KEYS_MISSING =
  'must be set where the store is a bucket, to the same for all processes: [{"kid":"1","key":"…"}], the key being 32 random bytes in base64url'

async function openBucketFor(
  variable: string,
  setting: S3Setting,
  docs: DocStore | null,
  known: Conditions | null,
): Promise<S3Stores> {
  const { openS3Blobs, openS3Stores } = await import('./s3/open.ts')
  try {
    return docs === null ? await openS3Stores(setting, known) : { ...(await openS3Blobs(setting, known)), docs }
  } catch (cause) {
    throw new SettingsError(variable, (cause as Error).message, { cause })
  }
}

/** What goes on a failure through, closing what was opened before it. */
function closing({ close }: Pick<Stores, 'close'>): (error: unknown) => Promise<never> {
  return async error => {
    await close()
    throw error
  }
}

async function openMemoryStore(): Promise<Store> {
  const folder = temporaryFolder()
  const secrets = new Map<string, string>()
  return {
    folder: folder.open,
    leftovers: NO_LEFTOVERS,
    buckets: NOT_TRIED,
    blobs: createMemoryBlobStore(systemClock),
    docs: createMemoryDocStore(),
    async secret(name, make) {
      const secret = secrets.get(name) ?? make()
      secrets.set(name, secret)
      return secret
    },
    close: folder.remove,
  }
}

async function openDiskStore(folder: string, others: DocStore | null, keepLeftovers: boolean): Promise<Store> {
  try {
    const blobs = await openDiskBlobStore(folder, { keepLeftovers })
    const docs = others ?? (await openDiskDocStore(join(folder, 'documents.sqlite')))
    return {
      folder: async () => folder,
      leftovers: blobs.leftovers,
      buckets: NOT_TRIED,
      blobs,
      docs,
      secret: (name, make) => readOrCreateSecret(join(folder, 'secrets', name), make),
      async close() {
        if (docs !== others) await docs.close()
        await blobs.close()
      },
    }
  } catch (cause) {
    throw new SettingsError('MOUNTGLASS_STORE', `cannot use the folder ${folder}: ${(cause as Error).message}`, { cause })
  }
}

/** A folder that is made when it is first asked for. */
function temporaryFolder() {
  let made: Promise<string> | null = null
  return {
    open(): Promise<string> {
      made ??= mkdtemp(join(tmpdir(), 'mountglass-'))
      return made
    },
    async remove(): Promise<void> {
      if (made) await rm(await made, { recursive: true, force: true })
    },
  }
}
