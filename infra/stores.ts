import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { SettingsError } from '#core/settings.ts'
import { splitBlobs, splitStates } from './by-class.ts'
import { openDiskBlobStore } from './disk/blob-store.ts'
import type { Leftovers } from './disk/leftovers.ts'
import { readOrCreateSecret } from './disk/secret-file.ts'
import { openDiskStateStore } from './disk/state-store.ts'
import type { InfraSettings, S3Setting } from './infra-settings.ts'
import { createMemoryBlobStore } from './memory/blob-store.ts'
import { createMemoryStateStore } from './memory/state-store.ts'
import type { Database } from './postgres/database.ts'
import type { S3Stores } from './s3/open.ts'
import type { Conditions } from './s3/probe.ts'
import { systemClock } from './system/clock.ts'

/** Where everything that lasts lies. */
export interface Stores {
  blobs: BlobStore
  states: StateStore
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
  const { database, states } = await openDatabaseStates(settings.database, options.connections)
  const store = await openStore(settings, states, options).catch(closing(database))
  return {
    ...store,
    database,
    async close() {
      await store.close()
      await database.close()
    },
  }
}

async function openDatabaseStates(
  url: string,
  connections: number | undefined,
): Promise<{ database: Database; states: StateStore }> {
  const [{ openDatabase, problemOf }, { openPostgresStateStore }] = await Promise.all([
    import('./postgres/database.ts'),
    import('./postgres/state-store.ts'),
  ])
  const database = openDatabase(url, connections)
  try {
    return { database, states: await openPostgresStateStore(database) }
  } catch (cause) {
    await database.close()
    throw new SettingsError('MOUNTGLASS_DATABASE', `the database cannot be used: ${problemOf(cause)}`, { cause })
  }
}

type Store = Omit<Stores, 'database'>

/** @param states in place of the store's own, which then are not opened */
async function openStore(
  { store, privateStore }: Pick<InfraSettings, 'store' | 'privateStore'>,
  states: StateStore | null,
  { buckets = NOT_TRIED, keepLeftovers = false }: OpenOptions,
): Promise<Store> {
  switch (store.kind) {
    case 'memory':
      return await openMemoryStore()
    case 'disk':
      return await openDiskStore(resolve(store.folder), states, keepLeftovers)
    case 's3':
      return await openS3Store(store, privateStore, states, buckets)
  }
}

async function openS3Store(
  setting: S3Setting,
  privateSetting: S3Setting | null,
  states: StateStore | null,
  known: TriedBuckets,
): Promise<Store> {
  const stores = await openBucketFor('MOUNTGLASS_STORE', setting, states, known.store)
  const ofPrivate =
    privateSetting &&
    (await openBucketFor('MOUNTGLASS_PRIVATE_STORE', privateSetting, states, known.privateStore).catch(closing(stores)))
  const folder = temporaryFolder()
  return {
    folder: folder.open,
    leftovers: NO_LEFTOVERS,
    buckets: { store: stores.conditions, privateStore: ofPrivate?.conditions ?? null },
    blobs: ofPrivate ? splitBlobs(stores.blobs, ofPrivate.blobs) : stores.blobs,
    states: states ?? (ofPrivate ? splitStates(stores.states, ofPrivate.states) : stores.states),
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
  states: StateStore | null,
  known: Conditions | null,
): Promise<S3Stores> {
  const { openS3Blobs, openS3Stores } = await import('./s3/open.ts')
  try {
    return states === null ? await openS3Stores(setting, known) : { ...(await openS3Blobs(setting, known)), states }
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
    states: createMemoryStateStore(),
    async secret(name, make) {
      const secret = secrets.get(name) ?? make()
      secrets.set(name, secret)
      return secret
    },
    close: folder.remove,
  }
}

async function openDiskStore(folder: string, others: StateStore | null, keepLeftovers: boolean): Promise<Store> {
  try {
    const blobs = await openDiskBlobStore(folder, { keepLeftovers })
    const states = others ?? (await openDiskStateStore(join(folder, 'documents.sqlite')))
    return {
      folder: async () => folder,
      leftovers: blobs.leftovers,
      buckets: NOT_TRIED,
      blobs,
      states,
      secret: (name, make) => readOrCreateSecret(join(folder, 'secrets', name), make),
      async close() {
        if (states !== others) await states.close()
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
