import type { Diagnostic, Translations } from '#core/contract/shared.ts'
import { visibleLine, visibleText } from '#core/hidden-text.ts'
import {
  DESCRIPTION_CHARACTERS,
  EXCLUDE_PATTERN_CHARACTERS,
  EXCLUDE_PATTERNS,
  MANIFEST_BYTES,
  MANIFEST_NAME_CHARACTERS,
  MANIFEST_UNKNOWN_FIELDS,
} from '#core/limits.ts'
import { baseNameOf, parentOf, type RepoPath } from '#core/repo-path.ts'
import { countCharacters, decodeText, truncateCharacters, utf8Length } from '#core/text.ts'
import { isLfsPointer } from './file-text.ts'
import { fieldOf, parseYamlMapping, splitFrontMatter, textOf, wordsOf, type YamlMapping, type YamlValue } from './front-matter.ts'
import { countLineBreaks, findHidden, hiddenDiagnostics } from './hidden-lines.ts'
import { readMarkdown } from './markdown.ts'
import { canonicalLanguage, readTranslations } from './translations.ts'
import type { TreeFile } from './tree.ts'
import { isRegular } from './tree.ts'

export const MANIFEST_FILE = 'SKILLSET.md'

/** A `SKILLSET.md` that is understood. */
export interface Manifest {
  path: RepoPath
  folder: RepoPath
  /** Blob of the file, whose bytes hold the rules. */
  oid: string
  name: string
  description: string
  /** Declared here; inheriting is the rule chain's business. */
  language: string | null
  translations: Translations
  /** As declared; `undefined` when there is no such key. */
  image: string | undefined
  license: YamlValue | undefined
  include: string[]
  exclude: string[]
  rules: Rules | null
}

/** The body of a manifest without the blank lines around it. */
export interface Rules {
  text: string
  /** Where `text` begins in the file, in bytes. */
  offsetBytes: number
}

export type ReadManifest =
  | { kind: 'manifest'; manifest: Manifest; diagnostics: Diagnostic[] }
  /** Exists but cannot be understood: its folder is closed. */
  | { kind: 'unreadable'; diagnostics: Diagnostic[] }
  /** A file of that name without front matter is a document like any other. */
  | { kind: 'document'; diagnostics: Diagnostic[] }

/**
 * Reads a manifest. Exclusions are policy, so whatever leaves in doubt what they are makes it unreadable; errors in other fields drop the field.
 *
 * @param bytes `null` when the blob is missing or larger than a manifest may be
 * @param repositoryName the default name of a manifest at the root
 */
export function readManifest(file: TreeFile, bytes: Uint8Array | null, repositoryName: string): ReadManifest {
  const unreadable = (reason: string, message: string): ReadManifest => ({
    kind: 'unreadable',
    diagnostics: [
      {
        code: 'manifest.unreadable',
        severity: 'error',
        path: file.path,
        boundary: parentOf(file.path),
        message: `${reason}: ${message}; nothing below its folder is delivered`,
      },
    ],
  })

  if (!isRegular(file)) return unreadable('symlink', 'a manifest has to be a regular file')
  if (file.sizeBytes !== null && file.sizeBytes > MANIFEST_BYTES)
    return unreadable('too_large', `larger than ${MANIFEST_BYTES} bytes`)
  if (bytes === null) return unreadable('missing', 'its blob cannot be read')
  const text = decodeText(bytes)
  if (text === null || isLfsPointer(text)) return unreadable('encoding', 'not UTF-8 text')

  const block = splitFrontMatter(text)
  if (block.kind === 'none') {
    const message = 'without front matter it is a document, not a manifest'
    return { kind: 'document', diagnostics: [{ code: 'manifest.no_front_matter', severity: 'info', path: file.path, message }] }
  }
  if (block.kind === 'unterminated') return unreadable('front_matter', 'its front matter has no closing line')
  const yaml = parseYamlMapping(block.yaml)
  if (!yaml.ok) return unreadable('yaml', yaml.message)
  const exclude = readExclude(fieldOf(yaml.mapping, 'exclude'))
  if (exclude === null)
    return unreadable(
      'exclude',
      `not a list of at most ${EXCLUDE_PATTERNS} patterns of at most ${EXCLUDE_PATTERN_CHARACTERS} characters`,
    )

  const read = readFields(file, yaml.mapping, exclude, rulesOf(text, block.body), repositoryName)
  return {
    kind: 'manifest',
    manifest: read.manifest,
    diagnostics: [...read.diagnostics, ...hiddenDiagnostics(findHidden(text, commentLines(text, block.body)), file.path)],
  }
}

const KNOWN_KEYS = new Set(['name', 'description', 'language', 'translations', 'image', 'license', 'include', 'exclude'])

function readFields(
  file: TreeFile,
  fields: YamlMapping,
  exclude: string[],
  rules: Rules | null,
  repositoryName: string,
): { manifest: Manifest; diagnostics: Diagnostic[] } {
  const diagnostics: Diagnostic[] = []
  const folder = parentOf(file.path)
  const invalid = (field: string, message: string) =>
    diagnostics.push({ code: 'manifest.invalid_field', severity: 'warning', path: file.path, field, message })

  const text = (field: string, limit: number, oneLine: boolean): string | null => {
    if (fieldOf(fields, field) === undefined) return null
    const value = textOf(fields, field)
    const visible = value === null ? '' : oneLine ? visibleLine(value) : visibleText(value)
    if (visible !== '' && countCharacters(visible) <= limit) return visible
    if (value !== '') invalid(field, `not a text of at most ${limit} characters`)
    return null
  }

  const declaredLanguage = textOf(fields, 'language')
  const language = declaredLanguage === null ? null : canonicalLanguage(declaredLanguage)
  if (fieldOf(fields, 'language') !== undefined && language === null) invalid('language', 'not a BCP 47 language tag')

  const { translations, valid } = readTranslations(fieldOf(fields, 'translations'))
  if (!valid) invalid('translations', 'not a map from language tags to a name and a description')

  const image = textOf(fields, 'image') ?? undefined
  if (fieldOf(fields, 'image') !== undefined && image === undefined) invalid('image', 'not a path or an https address')

  const include = wordsOf(fieldOf(fields, 'include'))
  if (include === null) invalid('include', 'not a list of paths')

  const unknown = Object.keys(fields).filter(key => !KNOWN_KEYS.has(key))
  for (const key of unknown.slice(0, MANIFEST_UNKNOWN_FIELDS)) {
    const field = truncateCharacters(visibleLine(key), MANIFEST_NAME_CHARACTERS)
    diagnostics.push({
      code: 'manifest.unknown_field',
      severity: 'info',
      path: file.path,
      field,
      message: 'this field has no meaning here',
    })
  }
  if (unknown.length > MANIFEST_UNKNOWN_FIELDS) {
    const message = `${unknown.length - MANIFEST_UNKNOWN_FIELDS} more fields have no meaning here`
    diagnostics.push({ code: 'manifest.unknown_field', severity: 'info', path: file.path, message })
  }

  const manifest: Manifest = {
    path: file.path,
    folder,
    oid: file.oid,
    name: text('name', MANIFEST_NAME_CHARACTERS, true) ?? (folder === '' ? repositoryName : baseNameOf(folder)),
    description: text('description', DESCRIPTION_CHARACTERS, false) ?? '',
    language,
    translations,
    image,
    license: fieldOf(fields, 'license'),
    include: include ?? [],
    exclude,
    rules,
  }
  return { manifest, diagnostics }
}

function commentLines(text: string, body: string): number[] {
  const linesBefore = countLineBreaks(text, 0, text.length - body.length)
  return readMarkdown(body, { titleCharacters: 0, summaryCharacters: 0 }).comments.map(line => line + linesBefore)
}

function readExclude(declared: YamlValue | undefined): string[] | null {
  if (declared === undefined) return []
  if (!Array.isArray(declared) || declared.length > EXCLUDE_PATTERNS) return null
  const patterns = declared.filter(pattern => typeof pattern === 'string')
  return patterns.length === declared.length && patterns.every(isPattern) ? patterns : null
}

function isPattern(pattern: string): boolean {
  return countCharacters(pattern) <= EXCLUDE_PATTERN_CHARACTERS && !/[\0\r\n]/.test(pattern)
}

function rulesOf(text: string, body: string): Rules | null {
  // The same white space as `trim` takes for the end, so that a blank line is blank on both sides.
  const leading = /^(?:[^\S\n]*\n)*/.exec(body)?.[0].length ?? 0
  const rules = trimBlankEnd(body.slice(leading))
  return rules.trim() === '' ? null : { text: rules, offsetBytes: utf8Length(text.slice(0, text.length - body.length + leading)) }
}

function trimBlankEnd(text: string): string {
  let end = text.length
  for (;;) {
    const newline = text.lastIndexOf('\n', end - 1)
    if (newline < 0 || end === 0 || text.slice(newline + 1, end).trim() !== '') return text.slice(0, end)
    end = text[newline - 1] === '\r' ? newline - 1 : newline
  }
}
