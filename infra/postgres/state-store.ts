import { randomUUID } from 'node:crypto'
import type { StateStore, WriteOutcome } from '#core/ports/state-store.ts'
import { requireCount, requireKey, requirePrefix } from '#core/ports/store-arguments.ts'
import { type Database, LostAnswerError } from './database.ts'

/** A separate schema, so that the database may be shared. */
export const SCHEMA = 'mountglass'

/** One migration for each version. A released migration never changes. */
const STEPS = [
  // Collation "C" orders keys by their bytes. `earlier` has the latest etags before this one, the latest first.
  `CREATE TABLE ${SCHEMA}.doc (
    key text COLLATE "C" PRIMARY KEY, etag text NOT NULL, earlier text[] NOT NULL DEFAULT '{}', body text NOT NULL)`,
]

// Arbitrary: unlikely to be used by another program.
const LOCK = 4_820_613_097

/**
 * Creates the tables, or migrates those of an earlier version. Any number of processes may do this at once.
 *
 * @throws Error when a later version created them, or the encoding of the database is not UTF-8
 */
async function prepareSchema(database: Database): Promise<void> {
  if ((await readVersion(database.repeat)) === STEPS.length) return
  await database.transaction(async run => {
    const { rows } = await run('SHOW server_encoding')
    if (rows[0].server_encoding !== 'UTF8')
      throw new Error(`its encoding is ${rows[0].server_encoding}; UTF8 is needed: create another database`)
    await run('SELECT pg_advisory_xact_lock($1)', [LOCK])
    const version = await readVersion(run)
    if (version > STEPS.length)
      throw new Error(`its tables have version ${version} and this program knows ${STEPS.length}: use a newer version of it`)
    if (version === 0) await createSchema(run)
    for (const step of STEPS.slice(version)) await run(step)
    await run(`UPDATE ${SCHEMA}.version SET version = $1`, [STEPS.length])
  })
}

// Names are looked up in the catalog: the session's cache of names may be older than the lock.

async function readVersion(run: Database['run']): Promise<number> {
  const isThere = await exists(run, "SELECT FROM pg_catalog.pg_tables WHERE schemaname = $1 AND tablename = 'version'")
  return isThere ? (await run(`SELECT version FROM ${SCHEMA}.version`)).rows[0].version : 0
}

async function createSchema(run: Database['run']): Promise<void> {
  // A role without the right to create schemas may still use an existing one.
  if (!(await exists(run, 'SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1'))) await run(`CREATE SCHEMA ${SCHEMA}`)
  await run(`CREATE TABLE ${SCHEMA}.version (version int NOT NULL)`)
  await run(`INSERT INTO ${SCHEMA}.version VALUES (0)`)
}

async function exists(run: Database['run'], sql: string): Promise<boolean> {
  return (await run(sql, [SCHEMA])).rowCount !== 0
}

// Sorts after every character of a key.
const LAST = '\x7f'
/** Attempts of a write whose answer is lost every time. */
const ATTEMPTS = 3
/** Etags that a row keeps: so many later writes still let a writer find its own. */
const EARLIER = 16

const READ = { name: 'read entry', text: `SELECT body, etag FROM ${SCHEMA}.doc WHERE key = $1` }
const CREATE = {
  name: 'create entry',
  text: `INSERT INTO ${SCHEMA}.doc (key, etag, body) VALUES ($1, $2, $3) ON CONFLICT (key) DO NOTHING`,
}
const REPLACE = {
  name: 'replace entry',
  text: `UPDATE ${SCHEMA}.doc SET etag = $2, body = $3, earlier = (array_prepend(etag, earlier))[1:${EARLIER}]
    WHERE key = $1 AND etag = $4`,
}
const READ_ETAGS = `SELECT etag, earlier FROM ${SCHEMA}.doc WHERE key = $1`
const REMOVE = `DELETE FROM ${SCHEMA}.doc WHERE key = $1`
const LIST = `SELECT key FROM ${SCHEMA}.doc WHERE key >= $1 AND key < $2 AND key > $3 ORDER BY key LIMIT $4`

/**
 * Entries as rows of one table. A write that resolves is as durable as the server is configured to be. Closing the store closes the database.
 *
 * Bodies are text: the type jsonb refuses U+0000 and lone surrogates, which are escapes in JSON.
 */
export async function openPostgresStateStore(database: Database): Promise<StateStore> {
  await prepareSchema(database)
  return {
    async read(key) {
      requireKey(key)
      const { rows } = await database.repeat(READ, [key])
      return rows.length === 0 ? null : { value: JSON.parse(rows[0].body), etag: rows[0].etag }
    },

    async create(key, value) {
      requireKey(key)
      return write(database, {
        key,
        statement: CREATE,
        values: [JSON.stringify(value)],
        reachesBack: earlier => earlier.length < EARLIER,
      })
    },

    async replace(key, value, expected) {
      requireKey(key)
      return write(database, {
        key,
        statement: REPLACE,
        values: [JSON.stringify(value), expected],
        reachesBack: earlier => earlier.includes(expected),
      })
    },

    async remove(key) {
      requireKey(key)
      await database.repeat(REMOVE, [key])
    },

    async list(prefix, { after = '', limit } = {}) {
      requirePrefix(prefix)
      if (limit !== undefined) requireCount('limit', limit)
      const { rows } = await database.repeat(LIST, [prefix, prefix + LAST, after, limit ?? null])
      return rows.map(row => row.key)
    },

    close: () => database.close(),
  }
}

interface Write {
  key: string
  statement: typeof CREATE
  /** After key and etag. */
  values: readonly string[]
  /** Whether these are all etags that the entry had since the version to replace. */
  reachesBack(earlier: readonly string[]): boolean
}

/**
 * Writes with one statement. If the answer is lost, it runs the same statement again with the same etag, up to three attempts in all; at most
 * one of them can write. If a repetition writes nothing, the etags of the row tell whether an earlier attempt wrote.
 *
 * @throws LostAnswerError when that cannot be known
 */
async function write(database: Database, { key, statement, values, reachesBack }: Write): Promise<WriteOutcome> {
  const etag = randomUUID()
  for (let lost = 0; ; ) {
    try {
      if ((await database.run(statement, [key, etag, ...values])).rowCount === 1) return { status: 'written', etag }
      if (lost === 0) return { status: 'conflict' }
      break
    } catch (error) {
      if (!(error instanceof LostAnswerError) || ++lost === ATTEMPTS) throw error
    }
  }
  const { rows } = await database.repeat(READ_ETAGS, [key])
  const row: { etag: string; earlier: string[] } | undefined = rows[0]
  if (row?.etag === etag || row?.earlier.includes(etag)) return { status: 'written', etag }
  if (row && reachesBack(row.earlier)) return { status: 'conflict' }
  throw new LostAnswerError(
    `the outcome of the write to ${key} is unknown: its answer was lost, and the entry changed too often since`,
  )
}
