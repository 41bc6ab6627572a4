import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { foldRanked } from '../metrics.ts'
import { type Engine, type Field, fieldsOf, ownersOf, RANKED_ITEMS, readPacked, timed, WEIGHTS, writePacked } from './engine.ts'

const FILE = 'index.sqlite'
const FIELDS = Object.keys(WEIGHTS) as Field[]

/**
 * One database that is downloaded whole, without the texts: only paths are asked back. Words of a query are joined by OR, ranked by bm25
 * with the weights of the fields.
 */
export const fts5: Engine = {
  async build({ items }, folder) {
    const file = join(folder, 'built.sqlite')
    const { value: bytes, seconds } = await timed(async () => {
      const database = new DatabaseSync(file)
      database.exec(`CREATE VIRTUAL TABLE item USING fts5(${FIELDS.join(', ')}, content = '', tokenize = 'porter unicode61')`)
      database.exec('CREATE TABLE name (id INTEGER PRIMARY KEY, path TEXT)')
      const insert = database.prepare(
        `INSERT INTO item(rowid, ${FIELDS.join(', ')}) VALUES (?, ${FIELDS.map(() => '?').join(', ')})`,
      )
      const insertName = database.prepare('INSERT INTO name VALUES (?, ?)')
      database.exec('BEGIN')
      for (const [number, item] of items.entries()) {
        const fields = fieldsOf(item)
        insert.run(number, ...FIELDS.map(field => fields[field]))
        insertName.run(number, item.path)
      }
      database.exec("COMMIT; INSERT INTO item(item) VALUES ('optimize'); VACUUM")
      database.close()
      return writePacked(folder, FILE, await readFile(file))
    })
    await rm(file)
    return { seconds, objects: 1, bytes }
  },
  async open({ items }, folder, store) {
    const ownerOf = ownersOf(items)
    const copy = join(folder, `opened-${Math.random()}.sqlite`)
    await writeFile(copy, await readPacked(store, folder, FILE))
    const database = new DatabaseSync(copy, { readOnly: true })
    const weights = FIELDS.map(field => WEIGHTS[field]).join(', ')
    const select = database.prepare(
      `SELECT name.path FROM item JOIN name ON name.id = item.rowid WHERE item MATCH ? ORDER BY bm25(item, ${weights}) LIMIT ${RANKED_ITEMS}`,
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
