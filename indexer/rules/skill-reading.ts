import { FALLBACK_DESCRIPTION_CHARACTERS, TITLE_CHARACTERS } from '#core/limits.ts'
import { why } from '#core/words/findings.ts'
import type { TextLink } from '../snapshot/text-readings.ts'
import {
  commentedFields,
  parseYamlMappingLeniently,
  readFieldByField,
  splitFrontMatter,
  type YamlMapping,
} from './front-matter.ts'
import { countLineBreaks } from './hidden-lines.ts'
import { readMarkdown } from './markdown.ts'

/** What the text of a `SKILL.md` says by itself, wherever the file lies. */
export interface SkillReading {
  /** Where the body begins, behind the front matter. */
  bodyAt: number
  /** Empty when the front matter is missing or cannot be parsed. */
  fields: YamlMapping
  /** What is wrong with the front matter as a whole. */
  fault:
    | 'front_matter.missing'
    | 'front_matter.late'
    | 'front_matter.unterminated'
    | 'front_matter.padded'
    | 'front_matter.invalid'
    | 'front_matter.repaired'
    | null
  /** What the fault is, or where, in words; `null` when the code says it all. */
  whyInvalid: string | null
  /** Fields of text that YAML cuts where a comment begins, with the line. */
  cut: { field: string; line: number }[]
  /** The front matter cannot be parsed, and mentions a license. */
  hidesLicense: boolean
  /** The first paragraph of the body. */
  firstParagraph: string
  /** One per line. */
  headings: string
  /** Lines of the file on which an HTML comment begins. */
  comments: number[]
  links: readonly TextLink[]
}

export function readSkillText(text: string): SkillReading {
  const { fields, cut, body, unparsed, fault, whyInvalid } = readFields(text)
  const bodyAt = text.length - body.length
  const bodyLine = countLineBreaks(text, 0, bodyAt)
  const limits = { titleCharacters: TITLE_CHARACTERS, summaryCharacters: FALLBACK_DESCRIPTION_CHARACTERS }
  const { summary, headings, comments, links } = readMarkdown(body, limits)
  return {
    bodyAt,
    fields,
    cut,
    fault,
    whyInvalid,
    hidesLicense: LICENSE_FIELD.test(unparsed),
    firstParagraph: summary,
    headings,
    comments: comments.map(line => line + bodyLine),
    links,
  }
}

const LICENSE_FIELD = /\blicense["']?\s*:/i

/** What stands above front matter that comes late: blank lines, comments and headings. */
const ABOVE = /[\s\p{Cf}]+|<!--.*?-->|#[^\n]*\n/gsuy

/** The number of the line where what its author takes for front matter begins, although it is not the first, or more follows on it. */
function lineOfLateFrontMatter(text: string): number | null {
  // Piece by piece: one expression for all of them would try every way to divide the comments.
  const at = [...text.matchAll(ABOVE)].reduce((length, [piece]) => length + piece.length, 0)
  return text.startsWith('---', at) ? countLineBreaks(text, 0, at) + 1 : null
}

interface ReadFields extends Pick<SkillReading, 'fields' | 'cut' | 'fault' | 'whyInvalid'> {
  body: string
  /** Front matter that was not read; where it does not begin or end as it should, the whole file. */
  unparsed: string
}

const UNREAD = { fields: {}, cut: [], whyInvalid: null }

function readFields(text: string): ReadFields {
  const block = splitFrontMatter(text)
  const { body } = block
  if (block.kind === 'none') {
    const n = lineOfLateFrontMatter(body)
    if (n === null) return { ...UNREAD, body, unparsed: '', fault: 'front_matter.missing' }
    return { ...UNREAD, body, unparsed: body, fault: 'front_matter.late', whyInvalid: why('line', { n }) }
  }
  if (block.kind === 'unterminated') {
    const begun = FIRST_FIELDS.exec(body)?.[1] ?? ''
    const { mapping, unread } = readFieldByField(begun)
    // A line below the last field may go on with it.
    const isWhole = 'license' in mapping && (Object.keys(mapping).at(-1) !== 'license' || FIRST_FIELDS_END.test(body))
    const unparsed = isWhole ? unread : body
    return { ...UNREAD, fields: mapping, body, unparsed, fault: 'front_matter.unterminated' }
  }
  const yaml = parseYamlMappingLeniently(block.yaml)
  if (!yaml.ok) return { ...UNREAD, body, unparsed: block.yaml, fault: 'front_matter.invalid', whyInvalid: yaml.message }
  const read = { fields: yaml.mapping, cut: commentedFields(block.yaml).filter(({ field }) => TEXT_FIELDS.has(field)), body }
  if ('repaired' in yaml) return { ...read, unparsed: yaml.unread, fault: 'front_matter.repaired', whyInvalid: yaml.repaired }
  if (block.paddedLine !== null)
    return { ...read, unparsed: '', fault: 'front_matter.padded', whyInvalid: why('line', { n: block.paddedLine }) }
  return { ...read, unparsed: '', fault: null, whyInvalid: null }
}

/** The lines behind the opening one, up to a blank line or one that is neither a field nor indented. */
const FIRST_FIELDS = /^---[ \t]*\r?\n((?:(?:[\w.-]+:(?=\s)|[ \t]+\S)[^\n]*\n){1,200})/

/** The same, where a blank line or the end follows. */
const FIRST_FIELDS_END = new RegExp(`${FIRST_FIELDS.source}(?=[ \\t]*(?:\\r?\\n|$))`)

/** Fields that people write as sentences. */
const TEXT_FIELDS: ReadonlySet<string> = new Set(['description', 'when_to_use', 'compatibility', 'argument-hint'])
