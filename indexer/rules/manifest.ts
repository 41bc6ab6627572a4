import { closeName } from '#core/close-name.ts'
import type { Translations } from '#core/contract/shared.ts'
import { estimateTokens } from '#core/estimate-tokens.ts'
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
import type { DiagnosticRow } from '#core/snapshot/finding-rows.ts'
import { countCharacters, decodeText, isLfsPointer, truncateCharacters, utf8Length } from '#core/text.ts'
import { type Finding, finding, reason } from '#words/findings.ts'
import type { Value } from '#words/t.ts'
import {
  canonicalLanguage,
  fieldOf,
  lineOfField,
  parseYamlMapping,
  readTranslations,
  splitFrontMatter,
  textOf,
  wordsOf,
  type YamlMapping,
  type YamlValue,
} from './front-matter.ts'
import { countLineBreaks, findHidden, hiddenDiagnostics } from './hidden-lines.ts'
import { readMarkdown } from './markdown.ts'
import type { TreeFile } from './tree.ts'
import { isRegular } from './tree.ts'

/** A valid `SKILLSET.md`. */
export interface Manifest {
  path: RepoPath
  folder: RepoPath
  /** The blob of the file. */
  oid: string
  name: string
  description: string
  /** As declared in this manifest; `manifestMetadata` adds inheritance. */
  language: string | null
  translations: Translations
  /** As declared; `undefined` when absent. */
  image: string | undefined
  license: YamlValue | undefined
  /** Line of the field `license`; `undefined` where it cannot be told. */
  licenseLine: number | undefined
  /** `null`: declared, and not a list of paths: every skill below lacks required reading. */
  include: string[] | null
  exclude: string[]
  /** All fields as declared, known or not. */
  declared: YamlMapping
  /** Of the whole file, an estimate. */
  tokens: number
  rules: Rules | null
}

/** The body of a manifest without the blank lines around it. */
export interface Rules {
  text: string
  /** Offset of `text` in the file. */
  offsetBytes: number
  /** Lines of the file above it. */
  linesBefore: number
}

export type ReadManifest =
  | { kind: 'manifest'; manifest: Manifest; diagnostics: DiagnosticRow[] }
  /** Not valid: its folder is closed. */
  | { kind: 'unreadable'; diagnostics: DiagnosticRow[] }
  /** Without front matter the file is a document. */
  | { kind: 'document'; diagnostics: DiagnosticRow[] }

/**
 * Reads a manifest. Exclusions are policy: a manifest whose exclusions are in doubt is unreadable. An error in another field drops that field.
 *
 * @param bytes `null` when the blob is missing or larger than `MANIFEST_BYTES`
 * @param repositoryName the default name of a manifest at the root
 */
export function readManifest(file: TreeFile, bytes: Uint8Array | null, repositoryName: string): ReadManifest {
  if (!isRegular(file)) return unreadable(file, 'symlink', reason('notRegular'))
  if (file.sizeBytes !== null && file.sizeBytes > MANIFEST_BYTES)
    return unreadable(file, 'too_large', reason('largerThan', { limit: MANIFEST_BYTES }))
  if (bytes === null) return unreadable(file, 'missing', reason('missingBlob'))
  const text = decodeText(bytes)
  if (text === null) return unreadable(file, 'encoding', reason('notText'))
  if (isLfsPointer(text)) return unreadable(file, 'lfs', reason('textInLfs'))

  const block = splitFrontMatter(text)
  if (block.kind === 'none') {
    const found = finding('manifest.no_front_matter')
    return { kind: 'document', diagnostics: [{ ...found, severity: 'info', path: file.path }] }
  }
  if (block.kind === 'unterminated') return unreadable(file, 'front_matter', reason('noClosingLine'))
  const yaml = parseYamlMapping(block.yaml)
  if (!yaml.ok) return unreadable(file, 'yaml', yaml.fault)
  const exclude = readExclude(fieldOf(yaml.mapping, 'exclude'))
  if (exclude === null) {
    const limits = { limit: EXCLUDE_PATTERNS, characterLimit: EXCLUDE_PATTERN_CHARACTERS }
    return unreadable(file, 'exclude', reason('excludeList', limits), 'exclude')
  }

  const read = readFields(file, yaml.mapping, exclude, { text, rules: rulesOf(text, block.body) }, repositoryName)
  const hidden = findHidden(text, commentLines(text, block.body))
  return {
    kind: 'manifest',
    manifest: read.manifest,
    diagnostics: [...read.diagnostics, ...hiddenDiagnostics(hidden, file.path)],
  }
}

function unreadable({ path }: TreeFile, reason: string, why: Value, field?: string): ReadManifest {
  const found = finding('manifest.unreadable', { reason, why })
  const place = { path, boundary: parentOf(path), ...(field === undefined ? {} : { field }) }
  return { kind: 'unreadable', diagnostics: [{ ...found, severity: 'error', ...place }] }
}

/** The diagnostic of a malformed `include`: the same at the manifest and at every skill below, so that a list has it once. */
export const MALFORMED_INCLUDE = finding('include.missing:list')

const KNOWN_KEYS = ['name', 'description', 'language', 'translations', 'image', 'license', 'include', 'exclude']

function readFields(
  file: TreeFile,
  mapping: YamlMapping,
  exclude: string[],
  { text, rules }: { text: string; rules: Rules | null },
  repositoryName: string,
): { manifest: Manifest; diagnostics: DiagnosticRow[] } {
  const folder = parentOf(file.path)
  const fields = new ManifestFields(file.path, mapping)
  const language = fields.language()
  const translations = fields.translations()
  const image = fields.image()
  const include = fields.include()
  fields.reportUnknown()
  const manifest: Manifest = {
    path: file.path,
    folder,
    oid: file.oid,
    name: fields.line('name', MANIFEST_NAME_CHARACTERS) ?? (folder === '' ? repositoryName : baseNameOf(folder)),
    description: fields.text('description', DESCRIPTION_CHARACTERS) ?? '',
    language,
    translations,
    image,
    license: fieldOf(mapping, 'license'),
    licenseLine: lineOfField(text, 'license'),
    include,
    exclude,
    declared: mapping,
    tokens: estimateTokens(text),
    rules,
  }
  return { manifest, diagnostics: fields.diagnostics }
}

/** Reads fields of a manifest, and collects a diagnostic for each that is dropped. */
class ManifestFields {
  readonly diagnostics: DiagnosticRow[] = []
  readonly #path: RepoPath
  readonly #mapping: YamlMapping

  constructor(path: RepoPath, mapping: YamlMapping) {
    this.#path = path
    this.#mapping = mapping
  }

  /** The field on one line. */
  line(field: string, maxCharacters: number): string | null {
    return this.#visible(field, maxCharacters, visibleLine)
  }

  text(field: string, maxCharacters: number): string | null {
    return this.#visible(field, maxCharacters, visibleText)
  }

  language(): string | null {
    const declared = textOf(this.#mapping, 'language')
    const language = declared === null ? null : canonicalLanguage(declared)
    if (this.#has('language') && language === null) this.#reportInvalid('language', finding('manifest.invalid_field:language'))
    return language
  }

  translations(): Translations {
    const { translations, valid } = readTranslations(fieldOf(this.#mapping, 'translations'))
    if (!valid) this.#reportInvalid('translations', finding('manifest.invalid_field:translations'))
    return translations
  }

  image(): string | undefined {
    const image = textOf(this.#mapping, 'image') ?? undefined
    if (this.#has('image') && image === undefined) this.#reportInvalid('image', finding('manifest.invalid_field:image'))
    return image
  }

  include(): string[] | null {
    const include = wordsOf(fieldOf(this.#mapping, 'include'))
    if (include === null) this.#report('error', MALFORMED_INCLUDE, 'include')
    return include
  }

  /** Names the first unknown fields and counts the others. */
  reportUnknown(): void {
    const unknown = Object.keys(this.#mapping).filter(key => !KNOWN_KEYS.includes(key))
    for (const key of unknown.slice(0, MANIFEST_UNKNOWN_FIELDS)) {
      const field = truncateCharacters(visibleLine(key), MANIFEST_NAME_CHARACTERS)
      const meant = closeName(key, KNOWN_KEYS)
      const isMeant = meant !== null && !this.#has(meant)
      const found = isMeant ? finding('manifest.unknown_field:similar', { name: meant }) : finding('manifest.unknown_field')
      this.#report('info', found, field)
    }
    const more = unknown.length - MANIFEST_UNKNOWN_FIELDS
    if (more > 0) this.#report('info', finding('manifest.unknown_field:more', { n: more }))
  }

  #visible(field: string, maxCharacters: number, visibleOf: (text: string) => string): string | null {
    if (!this.#has(field)) return null
    const value = textOf(this.#mapping, field)
    const visible = value === null ? '' : visibleOf(value)
    if (visible !== '' && countCharacters(visible) <= maxCharacters) return visible
    if (value !== '') this.#reportInvalid(field, finding('manifest.invalid_field:text', { limit: maxCharacters }))
    return null
  }

  #has(field: string): boolean {
    return fieldOf(this.#mapping, field) !== undefined
  }

  #reportInvalid(field: string, found: Finding): void {
    this.#report('warning', found, field)
  }

  #report(severity: DiagnosticRow['severity'], found: Finding, field?: string): void {
    this.diagnostics.push({ ...found, severity, path: this.#path, ...(field === undefined ? {} : { field }) })
  }
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
  // Blank lines before the rules are recognized by the same white space as `trim` removes after them.
  const leading = /^(?:[^\S\n]*\n)*/.exec(body)?.[0].length ?? 0
  const rules = trimBlankEnd(body.slice(leading))
  if (rules.trim() === '') return null
  const above = text.slice(0, text.length - body.length + leading)
  return { text: rules, offsetBytes: utf8Length(above), linesBefore: countLineBreaks(above, 0, above.length) }
}

function trimBlankEnd(text: string): string {
  let end = text.length
  for (;;) {
    const newline = text.lastIndexOf('\n', end - 1)
    if (newline < 0 || end === 0 || text.slice(newline + 1, end).trim() !== '') return text.slice(0, end)
    end = text[newline - 1] === '\r' ? newline - 1 : newline
  }
}
