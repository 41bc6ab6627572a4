import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'
import MiniSearch, { type Options } from 'minisearch'
import { foldRanked } from '../metrics.ts'
import { type Engine, type Field, fieldsOf, ownersOf, RANKED_ITEMS, timed, WEIGHTS } from './engine.ts'

const FILE = 'index.json.br'
const OPTIONS: Options<Record<Field, string>> = {
  idField: 'path',
  fields: Object.keys(WEIGHTS),
  searchOptions: { boost: WEIGHTS, prefix: true, fuzzy: 0.2 },
}

/** One JSON document that is loaded whole. */
export const minisearch: Engine = {
  async build({ items }, folder) {
    const { value, seconds } = await timed(() => {
      const index = new MiniSearch(OPTIONS)
      index.addAll(items.map(fieldsOf))
      return brotliCompressSync(JSON.stringify(index), { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })
    })
    await writeFile(join(folder, FILE), value)
    return { seconds, objects: 1, bytes: value.length }
  },
  async open({ items }, folder, store) {
    const ownerOf = ownersOf(items)
    const json = brotliDecompressSync(await store.read(folder, FILE)).toString()
    const index = MiniSearch.loadJSON(json, OPTIONS)
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
