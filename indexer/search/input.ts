import type { Location } from '#core/snapshot/format.ts'

/** One thing that find can name. */
export interface SearchInput {
  path: string
  kind: 'skill' | 'supporting' | 'document'
  /** `SKILL.md` path of the skill that a supporting file belongs to; its own path for a skill, `null` for a document. */
  owner: string | null
  title: string
  summary: string
  /** The record of its text, when passages may be taken from it. */
  text: Location | null
  fields: SearchFields
}

/** Text to search besides title and path. A skill that is only described comes with name and description alone. */
export interface SearchFields {
  name?: string
  /** Default: the summary. */
  description?: string
  /** One a line. */
  keywords?: string
  headings?: string
  /** Only its first `SEARCHED_FILE_BYTES` are searched. */
  body?: string
  /** The blob that headings and body were read from: equal for equal ones. Without it they are compared themselves, which takes longer. */
  blob?: string
}
