import { z } from 'zod'
import { FALLBACK_DESCRIPTION_CHARACTERS, TITLE_CHARACTERS } from '#core/limits.ts'
import { parseStoredJson } from '#core/snapshot/damage.ts'
import type { TextLink } from '../snapshot/text-readings.ts'
import { isMapping, parseYamlMappingLeniently, splitFrontMatter, type YamlMapping } from './front-matter.ts'
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
    .enum(['front_matter.missing', 'front_matter.unterminated', 'front_matter.invalid', 'front_matter.repaired'])
    .nullable(),
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
  /** Why the front matter is not YAML, in words; `null` when it is, or there is none. */
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
  const { fields, body, unparsed, fault, whyInvalid } = readFields(text)
  const bodyAt = text.length - body.length
  const bodyLine = countLineBreaks(text, 0, bodyAt)
  const limits = { titleCharacters: TITLE_CHARACTERS, summaryCharacters: FALLBACK_DESCRIPTION_CHARACTERS }
  const { summary, headings, comments, links } = readMarkdown(body, limits)
  return {
    bodyAt,
    fields,
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

/** What its author takes for front matter, although it does not begin with the first character of the file, or more follows on its line. */
const LATE_FRONT_MATTER = /^[\s\p{Cf}]*---/u

/** See `NewSkillReading`. */
export function findWhyInvalid(text: string): string | null {
  return readFields(text).whyInvalid
}

interface ReadFields extends Pick<NewSkillReading, 'fields' | 'fault' | 'whyInvalid'> {
  body: string
  /** Front matter that is not a YAML mapping; where it does not begin or end as it should, the whole file. */
  unparsed: string
}

function readFields(text: string): ReadFields {
  const block = splitFrontMatter(text)
  const { body } = block
  if (block.kind === 'none') {
    const unparsed = LATE_FRONT_MATTER.test(body) ? body : ''
    return { fields: {}, body, unparsed, fault: 'front_matter.missing', whyInvalid: null }
  }
  if (block.kind === 'unterminated')
    return { fields: {}, body, unparsed: body, fault: 'front_matter.unterminated', whyInvalid: null }
  const yaml = parseYamlMappingLeniently(block.yaml)
  if (!yaml.ok) return { fields: {}, body, unparsed: block.yaml, fault: 'front_matter.invalid', whyInvalid: yaml.message }
  const { mapping, repaired = null } = yaml
  return { fields: mapping, body, unparsed: '', fault: repaired === null ? null : 'front_matter.repaired', whyInvalid: repaired }
}
