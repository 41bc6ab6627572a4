import MiniSearch, { type Options } from 'minisearch'
import { foldRanked } from '../metrics.ts'
import { type Engine, type Field, fieldsOf, ownersOf, RANKED_ITEMS, readPacked, timed, WEIGHTS, writePacked } from './engine.ts'

const FILE = 'index.json'
const OPTIONS: Options<Record<Field, string>> = {
  idField: 'path',
  fields: Object.keys(WEIGHTS),
  searchOptions: { boost: WEIGHTS, prefix: true, fuzzy: 0.2, combineWith: 'OR' },
}

/** One JSON document that is loaded whole. */
export const minisearch: Engine = {
  async build({ items }, folder) {
    const { value: bytes, seconds } = await timed(() => {
      const index = new MiniSearch(OPTIONS)
      index.addAll(items.map(fieldsOf))
      return writePacked(folder, FILE, Buffer.from(JSON.stringify(index)))
    })
    return { seconds, objects: 1, bytes }
  },
  async open({ items }, folder, store) {
    const ownerOf = ownersOf(items)
    const index = MiniSearch.loadJSON((await readPacked(store, folder, FILE)).toString(), OPTIONS)
    return {
      find: async query => {
        const found = index.search(query).slice(0, RANKED_ITEMS)
        return foldRanked(
          found.map(({ id }) => String(id)),
          ownerOf,
        )
      },
      close: async () => {},
    }
  },
}
