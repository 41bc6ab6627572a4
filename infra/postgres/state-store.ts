import { randomUUID } from 'node:crypto'
import type { StateStore, WriteOutcome } from '#core/ports/state-store.ts'
import { requireCount, requireKey, requirePrefix } from '#core/ports/store-arguments.ts'
import { type Answer, type Database, LostAnswerError } from './database.ts'
import { prepareSchema, SCHEMA } from './schema.ts'

// Behind every character of a key.
const LAST = '\x7f'
/** Tries of a write whose answer is lost every time. */
const TRIES = 3
/** Etags that a row remembers: so many writes of others may come between a lost answer and the next try. */
const EARLIER = 16

const READ = { name: 'read document', text: `SELECT body, etag FROM ${SCHEMA}.doc WHERE key = $1` }
const CREATE = {
  name: 'create document',
  text: `INSERT INTO ${SCHEMA}.doc (key, etag, body) VALUES ($1, $2, $3) ON CONFLICT (key) DO NOTHING`,
}
const REPLACE = {
  name: 'replace document',
  text: `UPDATE ${SCHEMA}.doc SET etag = $2, body = $3, earlier = (array_prepend(etag, earlier))[1:${EARLIER}]
    WHERE key = $1 AND etag = $4`,
}
const READ_ETAGS = `SELECT etag, earlier FROM ${SCHEMA}.doc WHERE key = $1`
const REMOVE = `DELETE FROM ${SCHEMA}.doc WHERE key = $1`
const LIST = `SELECT key FROM ${SCHEMA}.doc WHERE key >= $1 AND key < $2 AND key > $3 ORDER BY key LIMIT $4`

/**
 * Documents as rows of one table. Durable when a write resolves, as far as the server is told to be. Closing the store closes the database.
 *
 * Bodies are text, since PostgreSQL's own type for JSON refuses U+0000 and lone surrogates, which are escapes in a text of JSON.
 */
export async function openPostgresStateStore(database: Database): Promise<StateStore> {
  await prepareSchema(database)

  /**
   * Makes a write of one statement. After a lost answer the same write is made again: both carry one etag, and one of them at most finds
   * what it wants to replace. Where neither does, the etags of the row tell what became of the first.
   *
   * @param goesBack whether these are all etags that the document had since the version that was to be replaced
   */
  async function write(
    key: string,
    etag: string,
    attempt: () => Promise<Answer>,
    goesBack: (earlier: readonly string[]) => boolean,
  ): Promise<WriteOutcome> {
    for (let lost = 0; ; ) {
      try {
        if ((await attempt()).rowCount === 1) return { status: 'written', etag }
        if (lost === 0) return { status: 'conflict' }
        break
      } catch (error) {
        if (!(error instanceof LostAnswerError) || ++lost === TRIES) throw error
      }
    }
    const { rows } = await database.repeat(READ_ETAGS, [key])
    const row: { etag: string; earlier: string[] } | undefined = rows[0]
    if (row?.etag === etag || row?.earlier.includes(etag)) return { status: 'written', etag }
    if (row && goesBack(row.earlier)) return { status: 'conflict' }
    throw new LostAnswerError(`the database did not answer whether ${key} was written, and too much was written since to tell`)
  }

  return {
    async read(key) {
      requireKey(key)
      const { rows } = await database.repeat(READ, [key])
      return rows.length === 0 ? null : { value: JSON.parse(rows[0].body), etag: rows[0].etag }
    },

    async create(key, value) {
      requireKey(key)
      const etag = randomUUID()
      const values = [key, etag, JSON.stringify(value)]
      return write(
        key,
        etag,
        () => database.run(CREATE, values),
        earlier => earlier.length < EARLIER,
      )
    },

    async replace(key, value, expected) {
      requireKey(key)
      const etag = randomUUID()
      const values = [key, etag, JSON.stringify(value), expected]
      return write(
        key,
        etag,
        () => database.run(REPLACE, values),
        earlier => earlier.includes(expected),
      )
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
