import { randomUUID } from 'node:crypto'
import type { StateStore, WriteOutcome } from '#core/ports/state-store.ts'
import { requireCount, requireKey, requirePrefix } from '#core/ports/store-arguments.ts'
import { type Database, LostAnswerError } from './database.ts'
import { prepareSchema, SCHEMA } from './schema.ts'

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
