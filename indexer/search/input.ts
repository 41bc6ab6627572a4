import type { Location } from '#core/snapshot/format.ts'

/** One item that find can return. */
export interface SearchInput {
  path: string
  kind: 'skill' | 'supporting' | 'document'
  /** Path of the `SKILL.md` that a supporting file belongs to; for a skill its own path, for a document `null`. */
  owner: string | null
  title: string
  summary: string
  /** The record of its text, if results may quote passages. */
  text: Location | null
  fields: SearchFields
  /** Reads headings and body, which `fields` leaves out then, from the blob: an item that did not change needs neither. */
  readText?: () => ItemText | Promise<ItemText>
}

/** For each skill that is a copy, by path, the path of the one that it is a copy of. */
export type Originals = ReadonlyMap<string, string>

export type ItemText = Pick<SearchFields, 'headings' | 'body'>

/** Searched text besides title and path. A skill that is only described has name and description alone. */
export interface SearchFields {
  name?: string
  /** Default: the summary. */
  description?: string
  /** One per line. */
  keywords?: string
  headings?: string
  /** Only its first `SEARCHED_FILE_BYTES` are searched. */
  body?: string
  /** The blob of headings and body. Without it the fingerprint hashes both, which takes longer. */
  blob?: string
}

/** The item with headings and body: at once, unless its text has to be fetched. */
export function withText({ readText, ...item }: SearchInput): SearchInput | Promise<SearchInput> {
  if (!readText) return item
  const filled = (text: ItemText): SearchInput => ({ ...item, fields: { ...item.fields, ...text } })
  const text = readText()
  return text instanceof Promise ? text.then(filled) : filled(text)
}
