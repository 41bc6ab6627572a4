import type { Translations } from '#core/contract/shared.ts'
import type { FrontMatterValue } from '#core/contract/skill.ts'
import { visibleLine, visibleText } from '#core/hidden-text.ts'
import {
  BODY_LONG_BYTES,
  BODY_LONG_LINES,
  COMPATIBILITY_CHARACTERS,
  DESCRIPTION_CHARACTERS,
  FALLBACK_DESCRIPTION_CHARACTERS,
  FRONT_MATTER_BYTES,
  FRONT_MATTER_VALUE_BYTES,
  SKILL_NAME_CHARACTERS,
  TITLE_CHARACTERS,
} from '#core/limits.ts'
import { baseNameOf, parentOf, type RepoPath } from '#core/repo-path.ts'
import { canonicalJson } from '#core/snapshot/canonical-json.ts'
import type { DeliveredFacts, FactKind } from '#core/snapshot/delivered.ts'
import type { WarningRow } from '#core/snapshot/finding-rows.ts'
import { countCharacters, cutAtBytes, truncateCharacters, utf8Length } from '#core/text.ts'
import { type Finding, finding, reason } from '#words/findings.ts'
import type { TextLink } from '../snapshot/text-readings.ts'
import {
  commentedFields,
  fieldOf,
  isMapping,
  isYes,
  keywordsOf,
  lineOfField,
  parseYamlMappingLeniently,
  readFieldByField,
  readTranslations,
  splitFrontMatter,
  textOf,
  wordsOf,
  type YamlMapping,
  type YamlValue,
} from './front-matter.ts'
import { countLineBreaks, findHidden, hiddenWarnings } from './hidden-lines.ts'
import { readMarkdown } from './markdown.ts'
import { type PackageFrontMatter, parsePackageFrontMatter } from './package-front-matter.ts'
import { factsOfText } from './text-facts.ts'

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
  /** Line of the field `license`; `undefined` where it cannot be told. */
  licenseLine: number | undefined
  /** The known fields only. */
  frontMatter: Record<string, FrontMatterValue>
  warnings: WarningRow[]
  translations: Translations
  /** `null`: declared, and not a list of paths. */
  include: string[] | null
  /** `metadata.internal`: not listed, counted or found, but loadable. */
  internal: boolean
  /** What a reviewer looks for in the description that the front matter declares. */
  descriptionFacts: DeliveredFacts
  /** The whole file. */
  text: string
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
  const warnings: WarningRow[] = []
  const warn: Warn = (found, field) => void warnings.push(field ? { ...found, field } : found)

  const { fields, fault } = reading
  const body = text.slice(reading.bodyAt)
  warnings.push(...hiddenWarnings(findHidden(text, reading.comments), null))
  if (text.startsWith('\uFEFF')) warn(finding('encoding.bom'))
  if (fault) warn(fault)
  for (const { field, line } of reading.cut) warn(finding('front_matter.comment', { n: line }), field)
  const { translations, valid } = readTranslations(fieldOf(fields, 'translations') ?? metadataOf(fields, 'translations'))
  if (!valid) warn(finding('translations.invalid'), 'translations')

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
    licenseLine: fieldOf(fields, 'license') === undefined ? undefined : lineOfField(text, 'license'),
    frontMatter: knownFields(fields),
    warnings,
    translations,
    include: wordsOf(fieldOf(fields, 'include') ?? metadataOf(fields, 'include')),
    internal: isYes(metadataOf(fields, 'internal')),
    descriptionFacts: factsOfDescription(
      text.slice(0, reading.bodyAt || FRONT_MATTER_BYTES),
      textOf(fields, 'description') ?? '',
    ),
    text,
    body,
    linesBeforeBody: countLineBreaks(text, 0, reading.bodyAt),
    headings: reading.headings,
    links: reading.links,
    keywords: keywordsOf(fields, mappingOf(fields, 'metadata')),
    packageFrontMatter: parsePackageFrontMatter(text, folderName),
  }
  if (countCharacters(textOf(fields, 'compatibility') ?? '') > COMPATIBILITY_CHARACTERS) {
    warn(finding('compatibility.too_long', { limit: COMPATIBILITY_CHARACTERS }), 'compatibility')
  }
  if (body.trim() === '') warn(finding('body.empty'))
  if (isLong(body)) warn(finding('body.long', { lineLimit: BODY_LONG_LINES, byteLimit: BODY_LONG_BYTES }))
  return skill
}

type Warn = (found: Finding, field?: string) => void

function readName(fields: YamlMapping, fallback: string, atRoot: boolean, warn: Warn): string {
  const name = visibleLine(textOf(fields, 'name') ?? '')
  if (name === '') {
    warn(finding('name.missing'), 'name')
    return fallback
  }
  if (countCharacters(name) > SKILL_NAME_CHARACTERS) warn(finding('name.too_long', { limit: SKILL_NAME_CHARACTERS }), 'name')
  if (!/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name)) warn(finding('name.invalid'), 'name')
  if (!atRoot && name !== fallback) warn(finding('name.directory_mismatch'), 'name')
  return truncateCharacters(name, TITLE_CHARACTERS)
}

function readDescription(fields: YamlMapping, warn: Warn): string | null {
  const description = visibleText(textOf(fields, 'description') ?? '')
  if (description === '') {
    warn(finding('description.missing'), 'description')
    return null
  }
  if (countCharacters(description) > DESCRIPTION_CHARACTERS) {
    warn(finding('description.too_long', { limit: DESCRIPTION_CHARACTERS }), 'description')
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

/**
 * What a reviewer looks for in the description of a skill, as it is written: listings leave hidden characters out.
 *
 * @param head the text of the file up to the end of its front matter
 * @param description the value of the field
 */
export function factsOfDescription(head: string, description: string): DeliveredFacts {
  const facts = factsOfText(description, 'markup')
  if (Object.keys(facts).length === 0) return facts
  const at = FIELD.exec(head)?.index ?? 0
  const linesBefore = countLineBreaks(head, 0, at)
  // YAML may fold lines and escape characters: what cannot be found as it is written stands at the line of the field.
  const written = factsOfText(fieldAt(head, at), 'markup', linesBefore)
  const lineOf = (kind: FactKind, fact: string) => lines(written, kind).get(fact) ?? linesBefore + 1
  const { hidden, hosts, commands } = facts
  return {
    ...facts,
    ...(hidden && { hidden: hidden.map(([codePoint, count]) => [codePoint, count, lineOf('hidden', codePoint)]) }),
    ...(hosts && { hosts: hosts.map(([host]) => [host, lineOf('hosts', host)]) }),
    ...(commands && { commands: commands.map(([command, , ...digest]) => [command, lineOf('commands', command), ...digest]) }),
  }
}

const FIELD = /^["']?description["']?[ \t]*:/m

/** The lines of a field: the first, and those below it that are blank or indented. */
function fieldAt(head: string, at: number): string {
  const [first = '', ...others] = head.slice(at).split('\n')
  const end = others.findIndex(line => /^\S/.test(line))
  return [first, ...others.slice(0, end < 0 ? others.length : end)].join('\n')
}

function lines(facts: DeliveredFacts, kind: FactKind): ReadonlyMap<string, number> {
  if (kind === 'hidden') return new Map((facts.hidden ?? []).map(([codePoint, , line]) => [codePoint, line]))
  return new Map((facts[kind] ?? []).map(([fact, line]) => [fact, line]))
}

/** What the text of a `SKILL.md` says by itself, wherever the file lies. */
interface SkillReading {
  /** Where the body begins, behind the front matter. */
  bodyAt: number
  /** Empty when the front matter is missing or cannot be parsed. */
  fields: YamlMapping
  /** What is wrong with the front matter as a whole. */
  fault: Finding | null
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
  const { fields, cut, body, unparsed, fault } = readFields(text)
  const bodyAt = text.length - body.length
  const bodyLine = countLineBreaks(text, 0, bodyAt)
  const limits = { titleCharacters: TITLE_CHARACTERS, summaryCharacters: FALLBACK_DESCRIPTION_CHARACTERS }
  const { summary, headings, comments, links } = readMarkdown(body, limits)
  return {
    bodyAt,
    fields,
    cut,
    fault,
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

interface ReadFields extends Pick<SkillReading, 'fields' | 'cut' | 'fault'> {
  body: string
  /** Front matter that was not read; where it does not begin or end as it should, the whole file. */
  unparsed: string
}

const UNREAD = { fields: {}, cut: [] }

function readFields(text: string): ReadFields {
  const block = splitFrontMatter(text)
  const { body } = block
  if (block.kind === 'none') {
    const n = lineOfLateFrontMatter(body)
    if (n === null) return { ...UNREAD, body, unparsed: '', fault: finding('front_matter.missing') }
    return { ...UNREAD, body, unparsed: body, fault: finding('front_matter.late', { why: reason('line', { n }) }) }
  }
  if (block.kind === 'unterminated') {
    const begun = FIRST_FIELDS.exec(body)?.[1] ?? ''
    const { mapping, unread } = readFieldByField(begun)
    // A line below the last field may go on with it.
    const isWhole = 'license' in mapping && (Object.keys(mapping).at(-1) !== 'license' || FIRST_FIELDS_END.test(body))
    const unparsed = isWhole ? unread : body
    return { ...UNREAD, fields: mapping, body, unparsed, fault: finding('front_matter.unterminated') }
  }
  const yaml = parseYamlMappingLeniently(block.yaml)
  if (!yaml.ok) return { ...UNREAD, body, unparsed: block.yaml, fault: finding('front_matter.invalid', { why: yaml.fault }) }
  const read = { fields: yaml.mapping, cut: commentedFields(block.yaml).filter(({ field }) => TEXT_FIELDS.has(field)), body }
  if ('repaired' in yaml)
    return { ...read, unparsed: yaml.unread, fault: finding('front_matter.repaired', { why: yaml.repaired }) }
  if (block.paddedLine !== null)
    return { ...read, unparsed: '', fault: finding('front_matter.padded', { why: reason('line', { n: block.paddedLine }) }) }
  return { ...read, unparsed: '', fault: null }
}

/** The lines behind the opening one, up to a blank line or one that is neither a field nor indented. */
const FIRST_FIELDS = /^---[ \t]*\r?\n((?:(?:[\w.-]+:(?=\s)|[ \t]+\S)[^\n]*\n){1,200})/

/** The same, where a blank line or the end follows. */
const FIRST_FIELDS_END = new RegExp(`${FIRST_FIELDS.source}(?=[ \\t]*(?:\\r?\\n|$))`)

/** Fields that people write as sentences. */
const TEXT_FIELDS: ReadonlySet<string> = new Set(['description', 'when_to_use', 'compatibility', 'argument-hint'])
