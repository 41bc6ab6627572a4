import { z } from 'zod'
import { FALLBACK_DESCRIPTION_CHARACTERS, TITLE_CHARACTERS } from '#core/limits.ts'
import { parseStoredJson } from '#core/snapshot/damage.ts'
import { why } from '#core/words/findings.ts'
import type { TextLink } from '../snapshot/text-readings.ts'
import {
  commentedFields,
  isMapping,
  parseYamlMappingLeniently,
  readFieldByField,
  splitFrontMatter,
  type YamlMapping,
} from './front-matter.ts'
import { countLineBreaks } from './hidden-lines.ts'
import { readMarkdown } from './markdown.ts'
import { PackageFields, parsePackageFields } from './package-front-matter.ts'

/**
 * What parsing a `SKILL.md` finds. It depends on the text and on the reading rules alone, not on the place of the file, and is kept as JSON: the
 * next commit need not parse the text again.
 */
export const SkillReading = z.object({
  /** Where the body begins, behind the front matter. */
  bodyAt: z.int().min(0),
  /** Empty when the front matter is missing or cannot be parsed. */
  fields: z.custom<YamlMapping>(isMapping),
  /** What is wrong with the front matter as a whole. The words for it may change, so they are not kept. */
  fault: z
    .enum([
      'front_matter.missing',
      'front_matter.late',
      'front_matter.unterminated',
      'front_matter.padded',
      'front_matter.invalid',
      'front_matter.repaired',
    ])
    .nullable(),
  /** Fields of text that YAML cuts where a comment begins, with the line. */
  cut: z.array(z.object({ field: z.string(), line: z.int() })),
  /** The front matter cannot be parsed, and mentions a license. */
  hidesLicense: z.boolean(),
  packageFields: PackageFields,
  /** The first paragraph of the body. */
  firstParagraph: z.string(),
  /** One per line. */
  headings: z.string(),
  /** Lines of the file on which an HTML comment begins. */
  comments: z.array(z.int()),
  links: z.custom<readonly TextLink[]>(Array.isArray),
})
export type SkillReading = z.infer<typeof SkillReading>

/** A reading of a text that was just parsed, with what is not kept. */
export interface NewSkillReading extends SkillReading {
  /** What the fault is, or where, in words; `null` when the code says it all. */
  whyInvalid: string | null
}

/** JSON for the store; `null`: with so many links it would be too long. */
export function encodeSkillReading({ whyInvalid: _, ...reading }: NewSkillReading): string | null {
  return reading.links.length > KEPT_LINKS ? null : JSON.stringify(reading)
}

const KEPT_LINKS = 400

/** @throws FormatError or ZodError when the text is not JSON of a reading */
export function decodeSkillReading(json: string): SkillReading {
  return SkillReading.parse(parseStoredJson(json))
}

export function readSkillText(text: string): NewSkillReading {
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
    packageFields: parsePackageFields(text),
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

/** See `NewSkillReading`. */
export function findWhyInvalid(text: string): string | null {
  return readFields(text).whyInvalid
}

interface ReadFields extends Pick<NewSkillReading, 'fields' | 'cut' | 'fault' | 'whyInvalid'> {
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
