import type { Translations, Warning } from '#core/contract/shared.ts'
import type { FrontMatterValue } from '#core/contract/skill.ts'
import { visibleLine, visibleText } from '#core/hidden-text.ts'
import {
  BODY_LONG_BYTES,
  BODY_LONG_LINES,
  COMPATIBILITY_CHARACTERS,
  DESCRIPTION_CHARACTERS,
  FRONT_MATTER_BYTES,
  FRONT_MATTER_VALUE_BYTES,
  SKILL_NAME_CHARACTERS,
  TITLE_CHARACTERS,
} from '#core/limits.ts'
import { baseNameOf, parentOf, type RepoPath } from '#core/repo-path.ts'
import { canonicalJson } from '#core/snapshot/canonical-json.ts'
import type { DeliveredFacts } from '#core/snapshot/delivered.ts'
import { countCharacters, cutAtBytes, truncateCharacters, utf8Length } from '#core/text.ts'
import { say } from '#core/words/findings.ts'
import type { TextLink } from '../snapshot/text-readings.ts'
import { factsOfDescription } from './description-facts.ts'
import { fieldOf, isMapping, isYes, textOf, wordsOf, type YamlMapping, type YamlValue } from './front-matter.ts'
import { countLineBreaks, findHidden, hiddenWarnings } from './hidden-lines.ts'
import { keywordsOf } from './keywords.ts'
import { type PackageFrontMatter, parsePackageFrontMatter } from './package-front-matter.ts'
import { readSkillText } from './skill-reading.ts'
import { readTranslations } from './translations.ts'

/** The contents of a `SKILL.md`. */
export interface ParsedSkill {
  path: RepoPath
  directory: RepoPath
  name: string
  description: string
  /** The front matter declares no description: it is the first paragraph of the body, which is a copy. */
  quotesBody: boolean
  /** The front matter cannot be parsed, and mentions a license. */
  hidesLicense: boolean
  /** The known fields only. */
  frontMatter: Record<string, FrontMatterValue>
  warnings: Warning[]
  translations: Translations
  /** `null`: declared, and not a list of paths. */
  include: string[] | null
  /** `metadata.internal`: not listed, counted or found, but loadable. */
  internal: boolean
  /** What a reviewer looks for in the description that the front matter declares. */
  descriptionFacts: DeliveredFacts
  /** Everything after the front matter, unchanged. */
  body: string
  /** Lines of the file above the body. */
  linesBeforeBody: number
  /** One per line. */
  headings: string
  /** Links of the body; `null`: not kept, since those of very many skills take too much memory. `linksOfText` parses them again. */
  links: readonly TextLink[] | null
  /** `keywords` and `tags`, one per line; only searched. */
  keywords: string
  /** The front matter as read by clients that install the skill. */
  packageFrontMatter: PackageFrontMatter
}

/**
 * Parses a `SKILL.md`. Never fails: errors in the front matter become warnings, since agents receive the skill anyway.
 *
 * @param repositoryName the default name of a skill at the root
 */
export function parseSkill(path: RepoPath, text: string, repositoryName: string): ParsedSkill {
  const reading = readSkillText(text)
  const directory = parentOf(path)
  const warnings: Warning[] = []
  const warn: Warn = (code, values = {}, field) => {
    const message = say(code, values)
    warnings.push(field ? { code, field, message } : { code, message })
  }

  const { fields, fault } = reading
  const body = text.slice(reading.bodyAt)
  warnings.push(...hiddenWarnings(findHidden(text, reading.comments), null))
  if (text.startsWith('\uFEFF')) warn('encoding.bom')
  if (fault) warn(fault, reading.whyInvalid === null ? {} : { why: reading.whyInvalid })
  for (const { field, line } of reading.cut) warn('front_matter.comment', { n: line }, field)
  const { translations, valid } = readTranslations(fieldOf(fields, 'translations') ?? metadataOf(fields, 'translations'))
  if (!valid) warn('translations.invalid', {}, 'translations')

  const folderName = directory === '' ? repositoryName : baseNameOf(directory)
  const name = readName(fields, folderName, directory === '', warn)
  const declaredDescription = readDescription(fields, warn)
  const skill: ParsedSkill = {
    path,
    directory,
    name,
    description: declaredDescription ?? reading.firstParagraph,
    quotesBody: declaredDescription === null,
    hidesLicense: reading.hidesLicense,
    frontMatter: knownFields(fields),
    warnings,
    translations,
    include: wordsOf(fieldOf(fields, 'include') ?? metadataOf(fields, 'include')),
    internal: isYes(metadataOf(fields, 'internal')),
    descriptionFacts: factsOfDescription(
      text.slice(0, reading.bodyAt || FRONT_MATTER_BYTES),
      textOf(fields, 'description') ?? '',
    ),
    body,
    linesBeforeBody: countLineBreaks(text, 0, reading.bodyAt),
    headings: reading.headings,
    links: reading.links,
    keywords: keywordsOf(fields, mappingOf(fields, 'metadata')),
    packageFrontMatter: parsePackageFrontMatter(text, folderName),
  }
  if (countCharacters(textOf(fields, 'compatibility') ?? '') > COMPATIBILITY_CHARACTERS) {
    warn('compatibility.too_long', { limit: COMPATIBILITY_CHARACTERS }, 'compatibility')
  }
  if (body.trim() === '') warn('body.empty')
  if (isLong(body)) warn('body.long', { lineLimit: BODY_LONG_LINES, byteLimit: BODY_LONG_BYTES })
  return skill
}

type Warn = (...warning: [...Parameters<typeof say>, field?: string]) => void

function readName(fields: YamlMapping, fallback: string, atRoot: boolean, warn: Warn): string {
  const name = visibleLine(textOf(fields, 'name') ?? '')
  if (name === '') {
    warn('name.missing', {}, 'name')
    return fallback
  }
  if (countCharacters(name) > SKILL_NAME_CHARACTERS) warn('name.too_long', { limit: SKILL_NAME_CHARACTERS }, 'name')
  if (!/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name)) warn('name.invalid', {}, 'name')
  if (!atRoot && name !== fallback) warn('name.directory_mismatch', {}, 'name')
  return truncateCharacters(name, TITLE_CHARACTERS)
}

function readDescription(fields: YamlMapping, warn: Warn): string | null {
  const description = visibleText(textOf(fields, 'description') ?? '')
  if (description === '') {
    warn('description.missing', {}, 'description')
    return null
  }
  if (countCharacters(description) > DESCRIPTION_CHARACTERS) {
    warn('description.too_long', { limit: DESCRIPTION_CHARACTERS }, 'description')
  }
  return truncateCharacters(description, DESCRIPTION_CHARACTERS)
}

/** The fields of the Agent Skills specification, and those that Claude Code adds. */
const KNOWN_FIELDS = [
  'license',
  'compatibility',
  'metadata',
  'allowed-tools',
  'when_to_use',
  'argument-hint',
  'arguments',
  'disable-model-invocation',
  'user-invocable',
  'disallowed-tools',
  'model',
  'effort',
  'context',
  'agent',
  'hooks',
  'paths',
  'shell',
]

/** Every field of a skill that has a meaning here or for agents. */
export const SKILL_FIELDS: readonly string[] = [
  'name',
  'description',
  'include',
  'translations',
  'keywords',
  'tags',
  ...KNOWN_FIELDS,
]

function knownFields(fields: YamlMapping): Record<string, FrontMatterValue> {
  const known: Record<string, FrontMatterValue> = {}
  for (const key of KNOWN_FIELDS) {
    const value = fieldOf(fields, key)
    if (value !== undefined) known[key] = flatten(value)
  }
  return known
}

// Keeps words, lists of words and maps of words; deeper values become JSON. The whole value is at most `FRONT_MATTER_VALUE_BYTES`.
function flatten(value: YamlValue): FrontMatterValue {
  let leftBytes = FRONT_MATTER_VALUE_BYTES
  const word = (item: YamlValue): string => {
    const cut = cutAtBytes(typeof item === 'string' ? item : canonicalJson(item), leftBytes)
    leftBytes -= utf8Length(cut)
    return cut
  }
  if (typeof value === 'string') return word(value)
  if (!isMapping(value)) return value.map(word)
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [word(key), word(item)]))
}

function metadataOf(fields: YamlMapping, key: string): YamlValue | undefined {
  return fieldOf(mappingOf(fields, 'metadata'), key)
}

function mappingOf(fields: YamlMapping, key: string): YamlMapping {
  const value = fieldOf(fields, key)
  return isMapping(value) ? value : {}
}

function isLong(body: string): boolean {
  if (utf8Length(body) > BODY_LONG_BYTES) return true
  let lines = 1
  for (let at = body.indexOf('\n'); at >= 0; at = body.indexOf('\n', at + 1)) lines++
  return lines > BODY_LONG_LINES
}
