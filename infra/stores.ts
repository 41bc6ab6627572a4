import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { closeAndThrow } from '#core/concurrency/timeout.ts'
import type { BlobStore, ListOptions } from '#core/ports/blob-store.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { SettingsError } from '#core/settings.ts'
import { isPrivateKey, privateShare } from '#core/snapshot/store-keys.ts'
import { t } from '#words/t.ts'
import { openDiskBlobStore } from './disk/blob-store.ts'
import type { Leftovers } from './disk/durable.ts'
import { readOrCreateSecret, replaceSecret } from './disk/secret-file.ts'
import { openDiskStateStore } from './disk/state-store.ts'
import type { InfraSettings, S3Setting } from './infra-settings.ts'
import { createMemoryBlobStore, createMemoryStateStore } from './memory-stores.ts'
import type { Database } from './postgres/database.ts'
import type { S3Stores } from './s3/open.ts'
import type { Conditions } from './s3/probe.ts'
import { proxyVariableFor } from './system/proxies.ts'
import { systemClock } from './system/system.ts'

/** `keys`: the sealing keys; `id-key`: names the records of people. */
export type SecretName = 'keys' | 'id-key'

/** All persistent storage of a deployment. */
export interface Stores {
  blobs: BlobStore
  states: StateStore
  /** The database of the state store; `null` when it is not in PostgreSQL. */
  database: Database | null
  /** Probe results, with which another process of the same settings opens the same buckets. */
  buckets: ProbedBuckets
  /** A secret of the deployment: generated once and stored. With `memory:`, it lasts as long as the process. */
  secret(name: SecretName, generate: () => string): Promise<string>
  /** A folder for other files of the deployment: that of the store, or a temporary one, created by the first call. */
  folder(): Promise<string>
  /** Temporary files of interrupted writes; only the disk driver leaves any. @param remove whether to remove them, or only count them */
  leftovers(remove: boolean): Promise<Leftovers>
  close(): Promise<void>
}

/** Support of each bucket's server for conditional writes; `null`: not probed. */
export interface ProbedBuckets {
  store: Conditions | null
  privateStore: Conditions | null
}

export interface OpenOptions {
  /** Maximum number of connections to the database. */
  connections?: number
  /** `Stores.buckets` of a running process with the same settings; replaces the probes. */
  buckets?: ProbedBuckets
  /** A running process with the same settings has looked for a pooler in front of the database. */
  isPoolerChecked?: boolean
  /** Opening removes no leftovers. */
  keepLeftovers?: boolean
}

const NO_LEFTOVERS = async (): Promise<Leftovers> => ({ files: 0, bytes: 0 })
const NOT_PROBED: ProbedBuckets = { store: null, privateStore: null }

/**
 * Opens the stores that the settings name. Loads large drivers only when they are needed.
 *
 * @throws SettingsError when a store cannot be used
 */
export async function openStores(
  settings: Pick<InfraSettings, 'store' | 'privateStore' | 'database'>,
  options: OpenOptions = {},
): Promise<Stores> {
  if (settings.database === null) return { ...(await openStore(settings, null, options)), database: null }
  const { database, states } = await openDatabaseStates(settings.database, options)
  const store = await openStore(settings, states, options).catch(error => closeAndThrow(error, database.close))
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
  { connections, isPoolerChecked = false }: OpenOptions,
): Promise<{ database: Database; states: StateStore }> {
  const [{ openDatabase, problemOf }, { sharesConnections }, { openPostgresStateStore }] = await Promise.all([
    import('./postgres/database.ts'),
    import('./postgres/pooler.ts'),
    import('./postgres/state-store.ts'),
  ])
  if (!isPoolerChecked && (await sharesConnections(url))) throw new SettingsError('MOUNTGLASS_DATABASE', t('problem.poolerMode'))
  const database = openDatabase(url, { connections })
  try {
    return { database, states: await openPostgresStateStore(database) }
  } catch (cause) {
    const error = new SettingsError('MOUNTGLASS_DATABASE', t('problem.databaseClosed', { reason: problemOf(cause) }), { cause })
    return await closeAndThrow(error, database.close)
  }
}

type Store = Omit<Stores, 'database'>

/** @param states replaces the store's own state store, which is then not opened */
async function openStore(
  { store, privateStore }: Pick<InfraSettings, 'store' | 'privateStore'>,
  states: StateStore | null,
  { buckets = NOT_PROBED, keepLeftovers = false }: OpenOptions,
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
  known: ProbedBuckets,
): Promise<Store> {
  const stores = await openBucketFor('MOUNTGLASS_STORE', setting, states, known.store)
  const privateStores =
    privateSetting &&
    (await openBucketFor('MOUNTGLASS_PRIVATE_STORE', privateSetting, states, known.privateStore).catch(error =>
      closeAndThrow(error, stores.close),
    ))
  const folder = temporaryFolder()
  return {
    folder: folder.open,
    leftovers: NO_LEFTOVERS,
    buckets: { store: stores.conditions, privateStore: privateStores?.conditions ?? null },
    blobs: privateStores ? splitBlobs(stores.blobs, privateStores.blobs) : stores.blobs,
    states: states ?? (privateStores ? splitStates(stores.states, privateStores.states) : stores.states),
    async secret(name) {
      throw new SettingsError(...SECRETS_MISSING[name])
    },
    async close() {
      await Promise.all([stores.close(), privateStores?.close(), folder.remove()])
    },
  }
}

const SECRETS_MISSING: Record<SecretName, [variable: string, problem: string]> = {
  keys: ['MOUNTGLASS_KEYS', t('problem.keysMissing')],
  'id-key': ['MOUNTGLASS_ID_KEY', t('problem.idKeyMissing')],
}

async function openBucketFor(
  variable: string,
  setting: S3Setting,
  states: StateStore | null,
  known: Conditions | null,
): Promise<S3Stores> {
  const { openS3Blobs, openS3Stores } = await import('./s3/open.ts')
  const proxyVariable = proxyVariableFor(placeOf(setting), process.env)
  const settings = { ...setting, proxyVariable }
  try {
    return states === null ? await openS3Stores(settings, known) : { ...(await openS3Blobs(settings, known)), states }
  } catch (cause) {
    throw new SettingsError(variable, t('problem.asTold', { reason: cause as Error }), { cause })
  }
}

/** Where the SDK asks for a bucket. */
function placeOf({ endpoint, bucket, region }: S3Setting): URL {
  return (
    URL.parse(endpoint ?? `https://${bucket}.s3.${region ?? 'us-east-1'}.amazonaws.com`) ?? new URL('https://s3.amazonaws.com')
  )
}

async function openMemoryStore(): Promise<Store> {
  const folder = temporaryFolder()
  const secrets = new Map<string, string>()
  return {
    folder: folder.open,
    leftovers: NO_LEFTOVERS,
    buckets: NOT_PROBED,
    blobs: createMemoryBlobStore(systemClock),
    states: createMemoryStateStore(),
    async secret(name, generate) {
      const secret = secrets.get(name) ?? generate()
      secrets.set(name, secret)
      return secret
    },
    close: folder.remove,
  }
}

const STATES_FILE = 'documents.sqlite'

/** The folder of the disk store that the settings name, if there is none: opening it would create it. Else `null`. */
export function missingStore({ store, database }: Pick<InfraSettings, 'store' | 'database'>): string | null {
  if (store.kind !== 'disk') return null
  return existsSync(database === null ? join(store.folder, STATES_FILE) : store.folder) ? null : store.folder
}

async function openDiskStore(folder: string, others: StateStore | null, keepLeftovers: boolean): Promise<Store> {
  try {
    const blobs = await openDiskBlobStore(folder, { keepLeftovers })
    const states = others ?? (await openDiskStateStore(join(folder, STATES_FILE)))
    return {
      folder: async () => folder,
      leftovers: blobs.leftovers,
      buckets: NOT_PROBED,
      blobs,
      states,
      secret: (name, generate) => storedSecret(secretFile(folder, name), generate),
      async close() {
        if (states !== others) await states.close()
        await blobs.close()
      },
    }
  } catch (cause) {
    throw new SettingsError('MOUNTGLASS_STORE', t('problem.storeFolder', { folder, reason: (cause as Error).message }), { cause })
  }
}

async function storedSecret(path: string, generate: () => string): Promise<string> {
  try {
    return await readOrCreateSecret(path, generate)
  } catch (cause) {
    throw new SettingsError('MOUNTGLASS_STORE', t('problem.secretFile', { path, reason: cause as Error }), { cause })
  }
}

function secretFile(folder: string, name: SecretName): string {
  return join(folder, 'secrets', name)
}

/** Changes a secret of a disk store, which need not be open. `replaceSecret` says what holds. @param folder of the store */
export async function changeSecret(folder: string, name: SecretName, change: (text: string) => string): Promise<boolean> {
  return await replaceSecret(secretFile(resolve(folder), name), change)
}

/** A temporary folder, created by the first call of `open`. */
function temporaryFolder() {
  let folder: Promise<string> | null = null
  return {
    open(): Promise<string> {
      folder ??= mkdtemp(join(tmpdir(), 'mountglass-')).catch(cause => {
        throw new SettingsError('TMPDIR', t('problem.storeFolder', { folder: tmpdir(), reason: (cause as Error).message }), {
          cause,
        })
      })
      return folder
    },
    async remove(): Promise<void> {
      const path = await folder?.catch(() => null)
      if (path) await rm(path, { recursive: true, force: true })
    },
  }
}

/** Combines two blob stores: keys of private repositories go to the second, all others to the first. Closing closes both. */
export function splitBlobs(publicStore: BlobStore, privateStore: BlobStore): BlobStore {
  const at = (key: string) => (isPrivateKey(key) ? privateStore : publicStore)
  return {
    create: async (key, bytes) => at(key).create(key, bytes),
    read: async key => at(key).read(key),
    readRange: async (key, offset, length) => at(key).readRange(key, offset, length),
    remove: async key => at(key).remove(key),
    ...splitListing(publicStore, privateStore),
  }
}

/** Combines two state stores in the same way. */
export function splitStates(publicStore: StateStore, privateStore: StateStore): StateStore {
  const at = (key: string) => (isPrivateKey(key) ? privateStore : publicStore)
  return {
    read: async key => at(key).read(key),
    create: async (key, value) => at(key).create(key, value),
    replace: async (key, value, etag) => at(key).replace(key, value, etag),
    remove: async key => at(key).remove(key),
    ...splitListing(publicStore, privateStore),
  }
}

type Listing = Pick<BlobStore, 'list' | 'close'>

function splitListing(publicStore: Listing, privateStore: Listing): Listing {
  return {
    async list(prefix: string, options: ListOptions = {}) {
      const share = privateShare(prefix)
      if (share !== 'some') return await (share === 'all' ? privateStore : publicStore).list(prefix, options)
      const lists = await Promise.all([publicStore.list(prefix, options), privateStore.list(prefix, options)])
      // Keys are ASCII, so code units compare as bytes do.
      return lists.flat().sort().slice(0, options.limit)
    },
    async close() {
      await Promise.all([publicStore.close(), privateStore.close()])
    },
  }
}
