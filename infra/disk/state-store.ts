import { randomUUID } from 'node:crypto'
import { open } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import type { JsonValue, StateStore } from '#core/ports/state-store.ts'
import { requireCount, requireKey, requirePrefix } from '#core/ports/store-arguments.ts'
import { makeFolder, syncFolder } from './durable.ts'

const SCHEMA_VERSION = 1
/** How long a write waits for the lock of another process. */
const BUSY_MS = 10_000
// Sorts after every character of a key.
const LAST = '\x7f'

/**
 * Entries as rows of one SQLite file, which any number of processes may share. Durable when a write resolves.
 * SQLite works on the calling thread: a write blocks the event loop for one sync of the disk.
 *
 * @throws Error when the file has another schema version, or is not a database
 */
export async function openDiskStateStore(file: string): Promise<StateStore> {
  const path = resolve(file)
  await makeFolder(dirname(path))
  // Created here for its mode, which SQLite copies to its other files.
  await (await open(path, 'a', 0o600)).close()
  await syncFolder(dirname(path))
  const database = await openDatabase(path)

  const read = database.prepare('SELECT body, etag FROM doc WHERE key = ?')
  const insert = database.prepare('INSERT INTO doc (key, etag, body) VALUES (?, ?, ?) ON CONFLICT (key) DO NOTHING')
  const update = database.prepare('UPDATE doc SET etag = ?, body = ? WHERE key = ? AND etag = ?')
  const remove = database.prepare('DELETE FROM doc WHERE key = ?')
  const list = database.prepare('SELECT key FROM doc WHERE key >= ? AND key < ? AND key > ? ORDER BY key LIMIT ?')

  return {
    async read(key) {
      requireKey(key)
      const row = read.get(key) as { body: string; etag: string } | undefined
      return row ? { value: JSON.parse(row.body), etag: row.etag } : null
    },

    async create(key, value) {
      requireKey(key)
      const etag = randomUUID()
      return outcome(insert.run(key, etag, toBody(value)).changes, etag)
    },

    async replace(key, value, etag) {
      requireKey(key)
      const next = randomUUID()
      return outcome(update.run(next, toBody(value), key, etag).changes, next)
    },

    async remove(key) {
      requireKey(key)
      remove.run(key)
    },

    async list(prefix, { after = '', limit } = {}) {
      requirePrefix(prefix)
      if (limit !== undefined) requireCount('limit', limit)
      const rows = list.all(prefix, prefix + LAST, after, limit ?? -1) as { key: string }[]
      return rows.map(row => row.key)
    },

    async close() {
      if (database.isOpen) database.close()
    },
  }
}

function outcome(changes: number | bigint, etag: string) {
  return changes === 0 ? ({ status: 'conflict' } as const) : ({ status: 'written', etag } as const)
}

function toBody(value: JsonValue): string {
  return JSON.stringify(value)
}

async function openDatabase(path: string): Promise<DatabaseSync> {
  const database = new DatabaseSync(path, { timeout: BUSY_MS })
  try {
    await enterWal(database)
    database.exec('PRAGMA synchronous = FULL')
    prepareSchema(database)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** Switches to a write-ahead log. That needs an exclusive lock, for which SQLite does not wait when several processes open a new file. */
async function enterWal(database: DatabaseSync): Promise<void> {
  const giveUpAt = Date.now() + BUSY_MS
  for (;;) {
    try {
      database.exec('PRAGMA journal_mode = WAL')
      return
    } catch (error) {
      if (!isBusy(error) || Date.now() > giveUpAt) throw error
      await setTimeout(20)
    }
  }
}

function prepareSchema(database: DatabaseSync): void {
  if (schemaVersion(database) === SCHEMA_VERSION) return
  database.exec('BEGIN IMMEDIATE')
  const version = schemaVersion(database)
  if (version === 0) {
    database.exec('CREATE TABLE doc (key TEXT PRIMARY KEY, etag TEXT NOT NULL, body TEXT NOT NULL) STRICT')
    database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`)
  }
  database.exec('COMMIT')
  if (version !== 0 && version !== SCHEMA_VERSION)
    throw new Error(
      `the file has schema version ${version} and this program needs ${SCHEMA_VERSION}: use the program that wrote it, or an empty store`,
    )
}

function schemaVersion(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.user_version)
}

function isBusy(error: unknown): boolean {
  const SQLITE_BUSY = 5
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === SQLITE_BUSY
}
