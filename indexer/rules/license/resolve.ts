import type { License } from '#core/contract/shared.ts'
import type { FrontMatterValue } from '#core/contract/skill.ts'
import { visibleLine } from '#core/hidden-text.ts'
import { LICENSE_NAME_CHARACTERS } from '#core/limits.ts'
import { joinPath, MANIFEST_FILE, parentOf, type RepoPath, ROOT, SKILL_FILE } from '#core/repo-path.ts'
import { isLfsPointer, truncateCharacters } from '#core/text.ts'
import { say } from '#core/words/findings.ts'
import { combineDeclarations, type Declaration, namedPart } from './declaration.ts'
import { kindOfExpression, type LicenseSettings } from './kind.ts'
import { readLicenseWords } from './license-words.ts'
import { readMetadataLicense } from './metadata.ts'
import { chooseReadme, type LicenseFileName, PACKAGE_FILE, PLUGIN_FILE, readLicenseFileName } from './names.ts'
import { type RecognizedText, recognizeLicenseText } from './recognize.ts'
import { readLicenseSection } from './section.ts'
import type { LicenseIssue, LicenseSources, ResolvedLicense } from './sources.ts'
import { type FoundFile, findFile, pathFrom, upwards } from './tree-files.ts'

export interface LicenseResolver {
  /**
   * The blobs that resolving these folders needs and for which `textOf` returns `undefined`. Read them and call again until the list is
   * empty; symlinks make it at most eight rounds. For an unreadable blob `textOf` returns `null`.
   */
  missing(folders: Iterable<RepoPath>): string[]

  /**
   * The license of the files directly in a folder. Memoized. A text that was not read counts as unreadable.
   *
   * @param skillDirectory folder of the skill that the files belong to, also of one that could not be read; `null` outside skills
   */
  resolve(folder: RepoPath, skillDirectory: RepoPath | null): ResolvedLicense
}

/** Resolves licenses by the nearest declaration. Each text is recognised once, each folder resolved once. */
export function createLicenseResolver(sources: LicenseSources, settings: LicenseSettings = {}): LicenseResolver {
  const read = { ...sources, textOf: (oid: string) => sources.textOf(oid) ?? null }
  const recognized = new Map<string, RecognizedText>()
  const resolved = new Map<string, ResolvedLicense>()

  function resolve(folder: RepoPath, skillDirectory: RepoPath | null): ResolvedLicense {
    const inSkill = skillDirectory !== null
    const key = `${inSkill ? 's' : 'd'}${folder}`
    const known = resolved.get(key)
    if (known !== undefined) return known
    const declared = readFolder({ sources: read, settings, recognized }, folder, inSkill)
    const license =
      declared !== null ? asResolved(declared, sources) : folder === '' ? UNLICENSED : resolve(parentOf(folder), skillDirectory)
    resolved.set(key, license)
    return license
  }

  function missing(folders: Iterable<RepoPath>): string[] {
    const wanted = new Set<string>()
    const watched = { ...sources, textOf: (oid: string) => textOrWanted(sources, oid, wanted) }
    const seen = new Set<RepoPath>()
    for (const folder of folders) {
      for (const level of upwards(folder)) {
        if (seen.has(level)) break
        seen.add(level)
        readFolder({ sources: watched, settings, recognized }, level, true)
        // Front matter at the root says nothing of files outside skills: theirs may be the license that the README names.
        if (level === ROOT) readFolder({ sources: watched, settings, recognized }, level, false)
      }
    }
    return [...wanted]
  }

  return { missing, resolve }
}

const UNLICENSED: ResolvedLicense = { license: { kind: 'none', name: null, source: null }, issues: [], open: false }

function textOrWanted(sources: LicenseSources, oid: string, wanted: Set<string>): string | null | undefined {
  const text = sources.textOf(oid)
  if (text === undefined) wanted.add(oid)
  return text
}

function asResolved(declaration: Declaration, sources: LicenseSources): ResolvedLicense {
  const { kind, issues } = declaration
  const { name, source } = namedPart(declaration, sources)
  const license: License = {
    kind,
    name: name === null ? null : truncateCharacters(visibleLine(name), LICENSE_NAME_CHARACTERS),
    source,
  }
  return { license, issues, open: kind === 'open' }
}

interface Reading {
  sources: LicenseSources
  settings: LicenseSettings
  /** By blob id. */
  recognized: Map<string, RecognizedText>
}

/**
 * The license that a folder itself declares. Front matter counts only for files of skills (`inSkill`). Front matter that could not be read
 * may declare anything: only a manifest or a license file in the same folder decides then.
 */
function readFolder(reading: Reading, folder: RepoPath, inSkill: boolean): Declaration | null {
  const { sources } = reading
  const skill = sources.skillIn(folder)
  const atRootOrSkill = folder === ROOT || skill !== null
  const declarations = [
    inSkill && skill !== 'unread' ? readWords(reading, folder, SKILL_FILE, skill?.license) : null,
    readWords(reading, folder, MANIFEST_FILE, sources.manifestIn(folder)?.license),
    readLicenseFiles(reading, folder, atRootOrSkill),
    inSkill && skill === 'unread' ? unreadFrontMatter(folder) : null,
    readMetadata(reading, folder, PLUGIN_FILE),
    atRootOrSkill ? readMetadata(reading, folder, PACKAGE_FILE) : null,
  ].filter(declaration => declaration !== null)
  return combineDeclarations(declarations, sources) ?? (folder === ROOT ? readReadme(reading) : null)
}

/** An empty value in front matter declares nothing; in a manifest, whose fields are policy, it is an error. */
function readWords(reading: Reading, folder: RepoPath, file: string, value: FrontMatterValue | undefined): Declaration | null {
  if (value === undefined || (value === '' && file === SKILL_FILE)) return null
  const source = joinPath(folder, file)
  return declarationOf(reading, folder, 'words', source, typeof value === 'string' && value !== '' ? value : null)
}

function unreadFrontMatter(folder: RepoPath): Declaration {
  const source = joinPath(folder, SKILL_FILE)
  const message = say('license.unrecognized:front_matter')
  const issue: LicenseIssue = { code: 'license.unrecognized', field: 'license', message, path: source }
  return { origin: 'words', kind: 'unknown', name: null, source, issues: [issue] }
}

/** @param words `null` when the declared value is not text */
function declarationOf(
  reading: Reading,
  folder: RepoPath,
  origin: 'words' | 'metadata',
  source: RepoPath,
  words: string | null,
): Declaration {
  const name = words?.trim().replace(/\s+/g, ' ') ?? null
  const field = origin === 'words' ? { field: 'license' as const } : {}
  const meaning = words === null ? ({ kind: 'unknown' } as const) : readLicenseWords(words)
  const issue = (code: LicenseIssue['code'], message: string): LicenseIssue => ({ code, ...field, message, path: source })
  switch (meaning.kind) {
    case 'expression':
      return { origin, ...expressionOf(reading, meaning.expression), source, issues: [] }
    case 'restricted':
      return { origin, kind: 'restricted', name, source, issues: [] }
    case 'unknown':
      return {
        origin,
        kind: 'unknown',
        name,
        source,
        issues: [issue('license.unrecognized', say('license.unrecognized:value'))],
      }
    case 'file': {
      const path = pathFrom(folder, meaning.file)
      const file = path === null || path === '' ? null : findFile(reading.sources, ROOT, path)
      if (file !== null) return withName(readLicenseText(reading, file), origin, name)
      const message = say('license.unresolved', { name: truncateCharacters(meaning.file, LICENSE_NAME_CHARACTERS) })
      return { origin, kind: 'unknown', name, source, issues: [issue('license.unresolved', message)] }
    }
  }
}

/** A license text that a declaration points to: without a name of its own it keeps the declared words. */
function withName(text: Declaration, origin: Declaration['origin'], words: string | null): Declaration {
  return { ...text, origin, name: text.name ?? words }
}

function expressionOf({ settings }: Reading, expression: string): Pick<Declaration, 'kind' | 'name'> {
  return { kind: kindOfExpression(expression, settings) ?? 'unknown', name: expression }
}

interface NamedFile {
  name: string
  meaning: LicenseFileName
  file: FoundFile
}

/** The license files of a folder. Plain names take precedence over suffixed ones; dangling symlinks are ignored. */
function readLicenseFiles(reading: Reading, folder: RepoPath, atRootOrSkill: boolean): Declaration | null {
  const found: NamedFile[] = []
  for (const name of reading.sources.filesIn(folder).keys()) {
    const meaning = readLicenseFileName(name, atRootOrSkill)
    const file = meaning === null ? null : findFile(reading.sources, folder, name)
    if (meaning !== null && file !== null) found.push({ name, meaning, file })
  }
  found.sort((left, right) => fileOrder(left.name) - fileOrder(right.name) || (left.name < right.name ? -1 : 1))
  const plain = found.filter(({ meaning }) => meaning.rank === 'plain')
  return plain.length > 0 ? joinPlain(reading, plain) : joinSuffixed(reading, found)
}

function fileOrder(name: string): number {
  return ['license', 'licence', 'copying', 'unlicense'].findIndex(stem => name.toLowerCase().startsWith(stem))
}

/** Combines files that each claim to be the license: all of them must be open. */
function joinPlain(reading: Reading, files: readonly NamedFile[]): Declaration | null {
  const texts = files.map(({ file }) => readLicenseText(reading, file))
  return (
    texts.find(({ kind }) => kind === 'restricted') ??
    texts.find(({ kind }) => kind === 'unknown') ??
    combineDeclarations(texts, reading.sources)
  )
}

/** Combines `LICENSE-MIT` and `LICENSE-APACHE` as a choice; a file for a part of the folder must be open, too. */
function joinSuffixed(reading: Reading, files: readonly NamedFile[]): Declaration | null {
  const texts = files.map(({ file, meaning }) => ({ ...readLicenseText(reading, file), names: meaning.names }))
  const closedPart = texts.find(({ kind, names }) => kind !== 'open' && names === 'scope')
  const open = texts.filter(({ kind }) => kind === 'open')
  const first = closedPart ?? open[0] ?? texts.find(({ kind }) => kind === 'restricted') ?? texts[0]
  if (first === undefined) return null
  const { origin, kind, source, issues } = first
  const name = kind === 'open' ? [...new Set(open.map(text => text.name))].join(' OR ') : first.name
  return { origin, kind, name, source, issues }
}

function readLicenseText(reading: Reading, file: FoundFile): Declaration {
  const text = recognizeBlob(reading, file.oid)
  const base = { origin: 'file', source: file.path } as const
  switch (text.kind) {
    case 'known':
      return { ...base, ...expressionOf(reading, text.id), issues: [] }
    case 'restricted':
      return { ...base, kind: 'restricted', name: null, issues: [] }
    case 'unknown': {
      const issue: LicenseIssue = {
        code: 'license.unrecognized',
        message: say(
          isLfsPointer(reading.sources.textOf(file.oid) ?? '') ? 'license.unrecognized:lfs' : 'license.unrecognized:text',
        ),
        path: file.path,
      }
      return { ...base, kind: 'unknown', name: null, issues: [issue] }
    }
  }
}

function recognizeBlob({ sources, recognized }: Reading, oid: string): RecognizedText {
  const known = recognized.get(oid)
  if (known !== undefined) return known
  const text = sources.textOf(oid)
  if (text === null || text === undefined) return { kind: 'unknown' }
  const result = recognizeLicenseText(text)
  recognized.set(oid, result)
  return result
}

/** A file that could not be read may declare anything, so its license is unknown. */
function readMetadata(reading: Reading, folder: RepoPath, name: string): Declaration | null {
  const file = findFile(reading.sources, folder, name)
  if (file === null) return null
  const text = reading.sources.textOf(file.oid)
  if (text === undefined) return null
  const words = text === null || isLfsPointer(text) ? null : readMetadataLicense(text)
  return words === undefined ? null : declarationOf(reading, folder, 'metadata', file.path, words)
}

/** The license section of the README at the root, as a fallback. A symlink does not count. */
function readReadme({ sources, settings }: Reading): Declaration | null {
  const files = sources.filesIn(ROOT)
  const name = chooseReadme([...files].flatMap(([name, { mode, target }]) => (mode === '120000' || target ? [] : [name])))
  const oid = name === null ? undefined : files.get(name)?.oid
  const text = oid === undefined ? null : sources.textOf(oid)
  const id = text === null || text === undefined ? null : readLicenseSection(text)
  if (id === null || name === null) return null
  const kind = kindOfExpression(id, settings) ?? 'unknown'
  return { origin: 'file', kind, name: id, source: joinPath(ROOT, name), issues: [] }
}
