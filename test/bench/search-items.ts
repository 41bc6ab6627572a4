import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import { SEARCHED_FILE_BYTES } from '#core/limits.ts'
import type { SearchInput } from '#indexer/search/input.ts'
import { collectItems, openSource } from '#test/eval/items.ts'
import { type BenchQueries, queriesOf } from './search-queries.ts'
import type { Subject } from './search-subject.ts'

export interface Collected {
  items: number
  characters: number
  /** UTF-8 bytes of what is searched. */
  textBytes: number
  queries: BenchQueries
}

/** Writes the items file. */
export async function collect({ root, owner, name, itemsFile }: Subject): Promise<Collected> {
  const source = await openSource(root, owner, name)
  const items = await collectItems(source)
  await source.host.close()
  const file = createWriteStream(itemsFile)
  let characters = 0
  let textBytes = 0
  for (const item of items) {
    const text = searchedText(item)
    characters += text.length
    textBytes += Buffer.byteLength(text)
    if (!file.write(`${JSON.stringify(item)}\n`)) await once(file, 'drain')
  }
  file.end()
  await finished(file)
  return { items: items.length, characters, textBytes, queries: queriesOf(items) }
}

/** Headings stand in the body, and what a document or a page says of itself is its beginning. */
function searchedText({ kind, title, summary, fields }: SearchInput): string {
  const { name = '', description = '', keywords = '', body } = fields
  const said = kind === 'skill' ? description : body === undefined ? summary : ''
  return `${name}${title}${said}${keywords}${body?.slice(0, SEARCHED_FILE_BYTES) ?? ''}`
}
