import { randomUUID } from 'node:crypto'
import { open } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonValue, StateStore } from '#core/ports/state-store.ts'
import { requireCount, requireKey, requirePrefix } from '#core/ports/store-arguments.ts'
import { makeFolder, syncFolder } from './durable.ts'

const SCHEMA_VERSION = 1
// Sorts after every character of a key.
const LAST = '\x7f'

export interface DiskStateOptions {
  /** How long a request waits for the lock of another process. Default: 10 seconds. */
  patienceMs?: number
}

const PATIENCE_MS = 10_000

/**
 * Entries as rows of one SQLite file, which any number of processes may share. Durable when a write resolves.
 * SQLite works on the calling thread: a commit holds up the event loop for the sync of the disk, mostly about 2 ms. The lock of another
 * process does not: a write waits for it beside other work.
 *
 * @throws Error when the file has another schema version, or is not a database
 */
export async function openDiskStateStore(file: string, { patienceMs = PATIENCE_MS }: DiskStateOptions = {}): Promise<StateStore> {
  const path = resolve(file)
  await makeFolder(dirname(path))
  // Created here for its mode, which SQLite copies to its other files.
  await (await open(path, 'a', 0o600)).close()
  await syncFolder(dirname(path))
  const closing = new AbortController()
  const attempt = createAttempts(patienceMs, closing.signal)
  const database = await openDatabase(path, attempt)
  const prepared = (sql: string) => attempt(() => database.prepare(sql))

  const read = await prepared('SELECT body, etag FROM doc WHERE key = ?')
  const insert = await prepared('INSERT INTO doc (key, etag, body) VALUES (?, ?, ?) ON CONFLICT (key) DO NOTHING')
  const update = await prepared('UPDATE doc SET etag = ?, body = ? WHERE key = ? AND etag = ?')
  const remove = await prepared('DELETE FROM doc WHERE key = ?')
  const list = await prepared('SELECT key FROM doc WHERE key >= ? AND key < ? AND key > ? ORDER BY key LIMIT ?')

  /** Resolves with the number of changed rows. */
  const write = async (statement: StatementSync, ...values: string[]) => (await attempt(() => statement.run(...values))).changes

  return {
    async read(key) {
      requireKey(key)
      const row = (await attempt(() => read.get(key))) as { body: string; etag: string } | undefined
      return row ? { value: JSON.parse(row.body), etag: row.etag } : null
    },

    async create(key, value) {
      requireKey(key)
      const [etag, body] = [randomUUID(), toBody(value)]
      return outcome(await write(insert, key, etag, body), etag)
    },

    async replace(key, value, etag) {
      requireKey(key)
      const [next, body] = [randomUUID(), toBody(value)]
      return outcome(await write(update, next, body, key, etag), next)
    },

    async remove(key) {
      requireKey(key)
      await write(remove, key)
    },

    async list(prefix, { after = '', limit } = {}) {
      requirePrefix(prefix)
      if (limit !== undefined) requireCount('limit', limit)
      const rows = (await attempt(() => list.all(prefix, prefix + LAST, after, limit ?? -1))) as { key: string }[]
      return rows.map(row => row.key)
    },

    async close() {
      closing.abort()
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

async function openDatabase(path: string, attempt: Attempts): Promise<DatabaseSync> {
  // Without a timeout SQLite never waits for a lock, which would block the event loop; `attempt` waits instead.
  const database = new DatabaseSync(path, { timeout: 0 })
  try {
    await attempt(() => database.exec('PRAGMA journal_mode = WAL'))
    await attempt(() => database.exec('PRAGMA synchronous = FULL'))
    await attempt(() => prepareSchema(database))
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

function prepareSchema(database: DatabaseSync): void {
  if (schemaVersion(database) === SCHEMA_VERSION) return
  database.exec('BEGIN IMMEDIATE')
  try {
    const version = schemaVersion(database)
    if (version === 0) {
      database.exec('CREATE TABLE doc (key TEXT PRIMARY KEY, etag TEXT NOT NULL, body TEXT NOT NULL) STRICT')
      database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`)
    } else if (version !== SCHEMA_VERSION) {
      throw new Error(
        `the file has schema version ${version} and this program needs ${SCHEMA_VERSION}: use the program that wrote it, or an empty store`,
      )
    }
    database.exec('COMMIT')
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}

function schemaVersion(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.user_version)
}

/** Runs a statement of SQLite, and again while another process holds the lock that it needs. @throws the last error */
type Attempts = <Value>(statement: () => Value) => Promise<Value>

/** Milliseconds before each next attempt; the last one repeats. A writer usually holds the lock for a few milliseconds. */
const PAUSES_MS = [1, 2, 5, 10, 20, 40]

/**
 * A refused statement changed nothing, so it may run again. Between two attempts the event loop does other work.
 *
 * @param patienceMs after this time the error is thrown
 * @param closing aborted when the database closes: a waiting statement fails at once
 */
function createAttempts(patienceMs: number, closing: AbortSignal): Attempts {
  return async statement => {
    const giveUpAt = performance.now() + patienceMs
    for (let refused = 0; ; refused++) {
      try {
        return statement()
      } catch (error) {
        if (!isBusy(error) || performance.now() > giveUpAt) throw error
      }
      const pauseMs = PAUSES_MS[Math.min(refused, PAUSES_MS.length - 1)]
      await sleep(pauseMs, undefined, { signal: closing }).catch(() => {
        throw new Error('the store is closed')
      })
    }
  }
}

function isBusy(error: unknown): boolean {
  const SQLITE_BUSY = 5
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === SQLITE_BUSY
}
