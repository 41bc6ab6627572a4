import { rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { foldRanked } from '../metrics.ts'
import { type Engine, type Field, fieldsOf, ownersOf, RANKED_ITEMS, timed, WEIGHTS } from './engine.ts'

const FILE = 'index.sqlite'
const FIELDS = Object.keys(WEIGHTS) as Field[]

/** One database that is downloaded whole. Words of a query are joined by OR, ranked by bm25 with the weights of the fields. */
export const fts5: Engine = {
  async build({ items }, folder) {
    const file = join(folder, FILE)
    const { seconds } = await timed(() => {
      const database = new DatabaseSync(file)
      database.exec(`CREATE VIRTUAL TABLE item USING fts5(${FIELDS.join(', ')}, tokenize = 'porter unicode61')`)
      const insert = database.prepare(`INSERT INTO item VALUES (${FIELDS.map(() => '?').join(', ')})`)
      database.exec('BEGIN')
      for (const item of items) {
        const fields = fieldsOf(item)
        insert.run(...FIELDS.map(field => fields[field]))
      }
      database.exec("COMMIT; INSERT INTO item(item) VALUES ('optimize'); VACUUM")
      database.close()
    })
    return { seconds, objects: 1, bytes: (await stat(file)).size }
  },
  async open({ items }, folder, store) {
    const ownerOf = ownersOf(items)
    const copy = join(folder, `opened-${Math.random()}.sqlite`)
    await writeFile(copy, await store.read(folder, FILE))
    const database = new DatabaseSync(copy, { readOnly: true })
    const weights = FIELDS.map(field => WEIGHTS[field]).join(', ')
    const select = database.prepare(
      `SELECT path FROM item WHERE item MATCH ? ORDER BY bm25(item, ${weights}) LIMIT ${RANKED_ITEMS}`,
    )
    return {
      find: async query => {
        const match = matchOf(query)
        return match === '' ? [] : foldRanked(pathsOf(select.all(match)), ownerOf)
      },
      async close() {
        database.close()
        await rm(copy)
      },
    }
  },
}

function matchOf(query: string): string {
  const words = query.match(/[\p{L}\p{N}]+/gu) ?? []
  return words.map(word => `"${word}"`).join(' OR ')
}

function pathsOf(rows: readonly Record<string, unknown>[]): string[] {
  return rows.map(({ path }) => String(path))
}
