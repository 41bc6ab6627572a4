import type { FrontMatterValue } from '#core/contract/skill.ts'
import { visibleLine } from '#core/hidden-text.ts'
import { LICENSE_NAME_CHARACTERS } from '#core/limits.ts'
import { baseNameOf, joinPath, type RepoPath, ROOT, SKILL_FILE } from '#core/repo-path.ts'
import { isLfsPointer, truncateCharacters } from '#core/text.ts'
import { finding } from '#words/findings.ts'
import { combineDeclarations, type Declaration } from './declaration.ts'
import { idsOfExpression, kindOfExpression, type LicenseSettings } from './kind.ts'
import { readLicenseWords } from './license-words.ts'
import type { PluginLicenses } from './metadata.ts'
import { LICENSE_TEXT_BYTES, readLicenseFileName } from './names.ts'
import { type RecognizedText, recognizeLicenseText } from './recognize.ts'
import type { ReuseFile } from './reuse-file.ts'
import {
  type FoundFile,
  findFile,
  type LicenseIssue,
  type LicenseSources,
  pathFrom,
  type Unrecognized,
  upwards,
} from './sources.ts'

/** The sources of one repository, and what was read of them. */
export interface Reading {
  sources: LicenseSources
  settings: LicenseSettings
  /** By blob id. */
  recognized: Map<string, RecognizedText>
  /** By blob id of a marketplace. */
  plugins: Map<string, PluginLicenses>
  /** By blob id of a `REUSE.toml`. */
  reuse: Map<string, ReuseFile>
}

export function expressionOf({ settings }: Reading, expression: string): Pick<Declaration, 'kind' | 'name'> {
  return { kind: kindOfExpression(expression, settings) ?? 'unknown', name: expression }
}

export function readLicenseText(reading: Reading, file: FoundFile): Declaration {
  const text = recognizeFile(reading, file)
  const base = { origin: 'file', source: file.path } as const
  switch (text.kind) {
    case 'known':
      return { ...base, ...expressionOf(reading, text.id), issues: [] }
    case 'restricted':
    case 'unknown': {
      const issue = { ...unrecognized(text, reading.sources.isWithheld(file.path)), path: file.path }
      return { ...base, kind: text.kind, name: null, issues: [issue] }
    }
  }
}

function recognizeFile({ sources, recognized }: Reading, { oid, sizeBytes }: FoundFile): RecognizedText {
  const known = recognized.get(oid)
  if (known !== undefined) return known
  const text = sources.textOf(oid)
  if (text === null || text === undefined) {
    return { kind: 'unknown', why: { kind: (sizeBytes ?? 0) > LICENSE_TEXT_BYTES ? 'long' : 'unreadable' } }
  }
  const result: RecognizedText = isLfsPointer(text) ? { kind: 'unknown', why: { kind: 'lfs' } } : recognizeLicenseText(text)
  recognized.set(oid, result)
  return result
}

/** Says why the license of a text is not known. A withheld text is not quoted. */
function unrecognized(text: Exclude<RecognizedText, { kind: 'known' }>, isWithheld: boolean): Unrecognized {
  if (isWithheld) return finding('license.unrecognized:text')
  if (text.kind === 'restricted') return finding('license.unrecognized:reserved')
  const { why } = text
  if (why.kind === 'long') return finding('license.unrecognized:long', { limit: LICENSE_TEXT_BYTES })
  if (!('like' in why)) return finding(`license.unrecognized:${why.kind}`)
  const words = 'text' in why ? truncateCharacters(visibleLine(why.text), QUOTED_CHARACTERS) : ''
  return finding(`license.unrecognized:${why.kind}`, { name: why.like, words })
}

const QUOTED_CHARACTERS = 120

/** An empty value in front matter declares nothing; in a manifest, whose fields are policy, it is an error. */
export function readWords(
  reading: Reading,
  folder: RepoPath,
  file: string,
  value: FrontMatterValue | undefined,
): Declaration | null {
  if (value === undefined || (value === '' && file === SKILL_FILE)) return null
  const source = joinPath(folder, file)
  return declarationOf(reading, folder, 'words', source, typeof value === 'string' && value !== '' ? value : null)
}

export function unreadFrontMatter(folder: RepoPath): Declaration {
  const source = joinPath(folder, SKILL_FILE)
  const issue: LicenseIssue = { ...finding('license.unrecognized:front_matter'), field: 'license', path: source }
  return { origin: 'words', kind: 'unknown', name: null, source, issues: [issue] }
}

/** @param words `null` when the declared value is not text */
export function declarationOf(
  reading: Reading,
  folder: RepoPath,
  origin: 'words' | 'metadata',
  source: RepoPath,
  words: string | null,
): Declaration {
  const name = words?.trim().replace(/\s+/g, ' ') ?? null
  const field = origin === 'words' ? { field: 'license' as const } : {}
  const meaning = words === null ? ({ kind: 'unknown' } as const) : readLicenseWords(words)
  switch (meaning.kind) {
    case 'expression': {
      const declared = { origin, ...expressionOf(reading, meaning.expression), source, issues: [] }
      return meaning.file === undefined ? declared : withTerms(reading, folder, declared, meaning.file, field)
    }
    case 'restricted':
      return { origin, kind: 'restricted', name, source, issues: [] }
    case 'unknown':
      return {
        origin,
        kind: 'unknown',
        name,
        source,
        issues: [{ ...finding('license.unrecognized:value'), ...field, path: source }],
      }
    case 'file': {
      const path = pathFrom(folder, meaning.file)
      const file = path === null || path === '' ? null : findFile(reading.sources, ROOT, path)
      if (file !== null) return withName(readLicenseText(reading, file), origin, name)
      return { origin, kind: 'unknown', name, source, issues: [unresolved(meaning.file, source, field)] }
    }
  }
}

/**
 * An expression whose complete terms are in a file: that text has to be open, too, or lack only words. Authors name the license file of the repository from any
 * folder, so a base name is looked for upwards. Without a license file the expression stands alone.
 */
function withTerms(
  reading: Reading,
  folder: RepoPath,
  declared: Declaration,
  file: string,
  field: Pick<LicenseIssue, 'field'>,
): Declaration {
  const folders = file.includes('/') ? [folder] : upwards(folder)
  const found = folders
    .map(level => pathFrom(level, file))
    .map(path => (path === null || path === '' ? null : findFile(reading.sources, ROOT, path)))
    .find(one => one !== null)
  if (found !== undefined) {
    const text = readLicenseText(reading, found)
    if (text.kind === 'open') return combineDeclarations([declared, text], reading.sources) ?? declared
    if (declared.kind === 'open' && isShortened(reading, found, declared)) return { ...declared, issues: text.issues }
    return withName(text, declared.origin, declared.name)
  }
  const issues = [unresolved(file, declared.source, field)]
  return readLicenseFileName(baseNameOf(file as RepoPath), true) !== null
    ? { ...declared, issues }
    : { ...declared, kind: 'unknown', issues }
}

/** Whether a text is a copy of the declared license that lacks words, and adds none that restrict: then the declared license counts. */
function isShortened(reading: Reading, file: FoundFile, { name }: Declaration): boolean {
  const text = recognizeFile(reading, file)
  return text.kind === 'unknown' && text.why.kind === 'removed' && idsOfExpression(name ?? '').includes(text.why.like)
}

function unresolved(file: string, source: RepoPath, field: Pick<LicenseIssue, 'field'>): LicenseIssue {
  const name = truncateCharacters(file, LICENSE_NAME_CHARACTERS)
  return { ...finding('license.unresolved', { name }), ...field, path: source }
}

/** A license text that a declaration points to: without a name of its own it keeps the declared words. */
function withName(text: Declaration, origin: Declaration['origin'], words: string | null): Declaration {
  return { ...text, origin, name: text.name ?? words }
}
