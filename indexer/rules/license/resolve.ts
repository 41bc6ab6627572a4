import type { License } from '#core/contract/shared.ts'
import { visibleLine } from '#core/hidden-text.ts'
import { LICENSE_NAME_CHARACTERS } from '#core/limits.ts'
import { baseNameOf, joinPath, MANIFEST_FILE, parentOf, type RepoPath, ROOT, SKILL_FILE } from '#core/repo-path.ts'
import { isLfsPointer, truncateCharacters } from '#core/text.ts'
import { finding } from '#words/findings.ts'
import { isCopyrightOnly } from './copyright.ts'
import { once } from './data.ts'
import { combineDeclarations, type Declaration, namedPart } from './declaration.ts'
import { idsOfExpression, isContentLicense, kindOfExpression, type LicenseSettings } from './kind.ts'
import { takeLicenseNames } from './license-ids.ts'
import { declaresLicense, lineOfMetadataLicense, type PluginLicenses, readMarketplace, readMetadataLicense } from './metadata.ts'
import {
  chooseReadme,
  type LicenseFileName,
  MARKETPLACE_FILE,
  PACKAGE_FILE,
  PLUGIN_FILES,
  readLicenseFileName,
  UNREAD_FILES,
} from './names.ts'
import { normalizeText } from './normalize.ts'
import { declarationOf, expressionOf, type Reading, readLicenseText, readWords, unreadFrontMatter } from './reading.ts'
import { readLicensesFolder, readLicenseTexts, readReuse, withUnannotated } from './reuse.ts'
import { hasLicenseSection, readLicenseSection } from './section.ts'
import { ABSOLUTE, NAMING } from './significant-words.ts'
import {
  type FoundFile,
  findFile,
  type LicenseIssue,
  type LicenseSources,
  pathFrom,
  type ResolvedLicense,
  upwards,
} from './sources.ts'

export interface LicenseResolver {
  /**
   * The blobs that resolving these folders needs and for which `textOf` returns `undefined`. Read them and call again until the list is
   * empty; a round follows one symlink. For an unreadable blob `textOf` returns `null`.
   */
  missing(folders: Iterable<RepoPath>): string[]

  /**
   * The license of the files directly in a folder. Memoized. A text that was not read counts as unreadable.
   *
   * @param skillDirectory folder of the skill that the files belong to, also of one that could not be read; `null` outside skills
   */
  resolve(folder: RepoPath, skillDirectory: RepoPath | null): ResolvedLicense
}

/** Resolves licenses by the nearest declaration. Each text is recognized once, each folder resolved once. */
export function createLicenseResolver(sources: LicenseSources, settings: LicenseSettings = {}): LicenseResolver {
  const memos = { recognized: new Map(), plugins: new Map(), reuse: new Map() }
  const reading: Reading = { sources: { ...sources, textOf: oid => sources.textOf(oid) ?? null }, settings, ...memos }
  const declared = new Map<string, Declaration | null>()
  const resolved = new Map<string, ResolvedLicense>()
  const unlicensed = once(
    (): ResolvedLicense => ({
      license: { kind: 'none', name: null, source: null },
      issues: unreadPlaces(reading),
      open: false,
    }),
  )

  function declaredIn(folder: RepoPath, inSkill: boolean): Declaration | null {
    const key = `${inSkill ? 's' : 'd'}${folder}`
    const known = declared.get(key)
    const found = known === undefined ? readFolder(reading, folder, inSkill) : known
    declared.set(key, found)
    return found
  }

  function resolve(folder: RepoPath, skillDirectory: RepoPath | null): ResolvedLicense {
    const inSkill = skillDirectory !== null
    const key = `${inSkill ? 's' : 'd'}${folder}`
    const known = resolved.get(key)
    if (known !== undefined) return known
    const nearest = nearestDeclaration(reading, folder, level => declaredIn(level, inSkill))
    const license = nearest === null ? unlicensed() : asResolved(nearest, sources)
    resolved.set(key, license)
    return license
  }

  function missing(folders: Iterable<RepoPath>): string[] {
    const wanted = new Set<string>()
    const watched: Reading = { ...reading, sources: { ...sources, textOf: oid => textOrWanted(sources, oid, wanted) } }
    const seen = new Set<RepoPath>()
    for (const folder of folders) {
      for (const level of upwards(folder)) {
        const reuse = readReuse(watched, level, folder)
        if (reuse !== null && reuse.unannotated !== null) readLicenseTexts(watched)
      }
      for (const level of upwards(folder)) {
        if (seen.has(level)) break
        seen.add(level)
        readFolder(watched, level, true)
        if (level !== ROOT) continue
        // Front matter at the root says nothing of files outside skills: theirs may be the license that the README names.
        if (readFolder(watched, level, false) === null) unreadPlaces(watched)
      }
    }
    return [...wanted]
  }

  return { missing, resolve }
}

function textOrWanted(sources: LicenseSources, oid: string, wanted: Set<string>): string | null | undefined {
  const text = sources.textOf(oid)
  if (text === undefined) wanted.add(oid)
  return text
}

function asResolved(declaration: Declaration, sources: LicenseSources): ResolvedLicense {
  const { kind, issues } = declaration
  const { name, source } = namedPart(declaration, sources)
  const line = source === null ? undefined : lineIn(sources, declaration.source)
  const license: License = {
    kind,
    name: name === null ? null : truncateCharacters(visibleLine(name), LICENSE_NAME_CHARACTERS),
    source,
    ...(line === undefined ? {} : { line }),
  }
  return { license, issues, open: kind === 'open' }
}

/** The line of a file with front matter, or of a plugin or package file, that declares a license. */
function lineIn(sources: LicenseSources, path: RepoPath): number | undefined {
  const folder = parentOf(path)
  switch (baseNameOf(path)) {
    case SKILL_FILE: {
      const skill = sources.skillIn(folder)
      return skill === null || skill === 'unread' ? undefined : skill.line
    }
    case MANIFEST_FILE:
      return sources.manifestIn(folder)?.line
    default: {
      const file = path.endsWith('.json') ? findFile(sources, ROOT, path) : null
      return file === null ? undefined : lineOfMetadataLicense(sources.textOf(file.oid) ?? '')
    }
  }
}

/**
 * The nearest declaration for the files of a folder: of a folder above them, or of its `REUSE.toml`, which annotates them one by one. Files
 * that it does not annotate are under the next declaration, or, where there is none, under all licenses of `LICENSES/`.
 */
function nearestDeclaration(
  reading: Reading,
  folder: RepoPath,
  declaredIn: (level: RepoPath) => Declaration | null,
  levels = upwards(folder),
): Declaration | null {
  for (const [index, level] of levels.entries()) {
    const own = declaredIn(level)
    const reuse = readReuse(reading, level, folder)
    // What cannot be read may restrict; only words of the same folder say more.
    const isUnclear = reuse?.declaration.kind === 'unknown' && own?.kind === 'open' && own.origin !== 'words'
    const declared = isUnclear
      ? reuse.declaration
      : combineDeclarations(
          [own, reuse?.declaration ?? null].filter(one => one !== null),
          reading.sources,
        )
    if (declared === null) continue
    if (own !== null || reuse === null || reuse.unannotated === null) return declared
    const rest = nearestDeclaration(reading, folder, declaredIn, levels.slice(index + 1)) ?? readLicenseTexts(reading)
    return withUnannotated(declared, rest, reuse.unannotated)
  }
  return null
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
    ...PLUGIN_FILES.map(name => readMetadata(reading, folder, name)),
    folder === ROOT ? null : readPlugin(reading, folder),
    atRootOrSkill ? readMetadata(reading, folder, PACKAGE_FILE) : null,
    atRootOrSkill ? readReservation(reading, folder) : null,
  ].filter(declaration => declaration !== null)
  return combineDeclarations(declarations, sources) ?? readFallback(reading, folder, atRootOrSkill)
}

/** What counts where a folder declares nothing else, the best known place first. */
function readFallback(reading: Reading, folder: RepoPath, atRootOrSkill: boolean): Declaration | null {
  const other = atRootOrSkill ? readOtherFile(reading, folder) : null
  if (folder !== ROOT || other?.kind === 'open') return other
  return readLicensesFolder(reading) ?? readPlugin(reading, ROOT) ?? readReadme(reading) ?? other
}

interface LicenseText extends LicenseFileName {
  oid: string
  text: Declaration
}

/**
 * The license files of a folder. Plain names take precedence over suffixed ones, except over those of another part: a license of texts
 * beside one of software. Dangling symlinks are ignored.
 */
function readLicenseFiles(reading: Reading, folder: RepoPath, atRootOrSkill: boolean): Declaration | null {
  const texts = textsIn(reading, folder, atRootOrSkill)
  const plain = texts.filter(({ rank }) => rank === 'plain').map(({ text }) => text)
  const suffixed = texts.filter(({ rank }) => rank === 'suffixed')
  const main = joinPlain(reading, plain)
  if (main === null) return joinSuffixed(suffixed)
  if (main.kind !== 'open') return main
  // A file that offers a choice names the files with the texts.
  const choice = isChoice(main) ? joinSuffixed(suffixed) : null
  if (choice !== null && choice.kind !== 'open') return choice
  const parts = suffixed.filter(
    ({ names, text }) => names === 'content' || (text.kind !== 'unknown' && isContent(text) !== isContent(main)),
  )
  const { vague = [], clear = [] } = Object.groupBy(parts, ({ text, oid }) =>
    text.kind === 'unknown' && namesOpenLicense(reading, oid) ? 'vague' : 'clear',
  )
  const joined = joinParts(main, clear)
  return { ...joined, issues: [...joined.issues, ...vague.flatMap(({ text }) => text.issues)] }
}

/**
 * Whether a text that is not recognized names open licenses only, and no subject of a restriction: "texts are under CC BY 4.0, unless a notice
 * says otherwise". Such a text is told, and the plain file stays in force.
 */
function namesOpenLicense({ sources }: Reading, oid: string): boolean {
  const text = sources.textOf(oid)
  if (typeof text !== 'string' || text.length > NOTE_CHARACTERS) return false
  const { words } = normalizeText(text)
  const { ids } = takeLicenseNames(words)
  return (
    ids.size > 0 &&
    [...ids].every(id => kindOfExpression(id) === 'open') &&
    !words.some(word => ABSOLUTE.test(word) || NAMING.test(word))
  )
}

const NOTE_CHARACTERS = 3_000

/** A copyright file that reserves rights, which it does whatever else the folder declares. */
function readReservation(reading: Reading, folder: RepoPath): Declaration | null {
  for (const name of reading.sources.filesIn(folder).keys()) {
    const file = readLicenseFileName(name, true)?.rank === 'copyright' ? findFile(reading.sources, folder, name) : null
    if (file === null || isNotice(reading, file)) continue
    const text = readLicenseText(reading, file)
    if (text.kind === 'restricted') return text
  }
  return null
}

/** The file that counts where a folder declares nothing else: a copyright file with a license, or a license that cannot be read. */
function readOtherFile(reading: Reading, folder: RepoPath): Declaration | null {
  for (const name of [...reading.sources.filesIn(folder).keys()].sort()) {
    const rank = readLicenseFileName(name, true)?.rank
    const file = rank === 'copyright' || rank === 'unread' ? findFile(reading.sources, folder, name) : null
    if (file === null) continue
    if (rank === 'copyright') {
      const text = readLicenseText(reading, file)
      if (text.kind !== 'unknown' || !isNotice(reading, file)) return text
      continue
    }
    const issues = [{ ...finding('license.unrecognized:format'), path: file.path }]
    return { origin: 'file', kind: 'unknown', name: null, source: joinPath(folder, name), issues }
  }
  return null
}

/** Whether a copyright file only names the holders, who may reserve their rights. */
function isNotice({ sources }: Reading, { oid }: FoundFile): boolean {
  const text = sources.textOf(oid)
  if (typeof text !== 'string') return false
  const { words, copyright } = normalizeText(text)
  return words.length === 0 && copyright.every(line => isCopyrightOnly(line, new Set()))
}

function textsIn(reading: Reading, folder: RepoPath, atRootOrSkill: boolean): LicenseText[] {
  const found: (LicenseText & { name: string })[] = []
  for (const name of reading.sources.filesIn(folder).keys()) {
    const meaning = readLicenseFileName(name, atRootOrSkill)
    if (meaning?.rank !== 'plain' && meaning?.rank !== 'suffixed') continue
    const file = findFile(reading.sources, folder, name)
    if (file !== null) found.push({ ...meaning, name, oid: file.oid, text: readLicenseText(reading, file) })
  }
  return found.sort((left, right) => fileOrder(left.name) - fileOrder(right.name) || (left.name < right.name ? -1 : 1))
}

function fileOrder(name: string): number {
  const order = ['license', 'licence', 'copying', 'unlicense'].findIndex(stem => name.toLowerCase().startsWith(stem))
  return order < 0 ? Number.MAX_SAFE_INTEGER : order
}

/** Combines files that each claim to be the license: all of them must be open. */
function joinPlain(reading: Reading, texts: readonly Declaration[]): Declaration | null {
  return (
    texts.find(({ kind }) => kind === 'restricted') ??
    texts.find(({ kind }) => kind === 'unknown') ??
    combineDeclarations(texts, reading.sources)
  )
}

/** Combines `LICENSE-MIT` and `LICENSE-APACHE` as a choice; a file for a part of the folder, or for its texts, must be open, too. */
function joinSuffixed(texts: readonly LicenseText[]): Declaration | null {
  const isPart = ({ names, text }: LicenseText) => names !== 'license' || isContent(text)
  const choices = texts.filter(one => !isPart(one)).map(({ text }) => text)
  const open = choices.filter(({ kind }) => kind === 'open')
  const first = open[0] ?? choices.find(({ kind }) => kind === 'restricted') ?? choices[0]
  const parts = texts.filter(isPart)
  if (first === undefined) return parts[0] === undefined ? null : joinParts(parts[0].text, parts.slice(1))
  const name = open.length > 1 ? unique(open.map(({ name }) => name)).join(' OR ') : first.name
  return joinParts({ ...first, name }, parts)
}

/** Licenses of different parts of one whole: all of them apply, so the whole is open only if each one is. */
function joinParts(main: Declaration, parts: readonly LicenseText[]): Declaration {
  const texts = parts.map(({ text }) => text)
  const closed = texts.find(({ kind }) => kind === 'restricted') ?? texts.find(({ kind }) => kind === 'unknown')
  if (closed !== undefined) return closed
  if (main.kind !== 'open') return main
  const names = unique([main, ...texts].map(({ name }) => name))
  return { ...main, name: names.map(name => (names.length > 1 && name?.includes(' OR ') ? `(${name})` : name)).join(' AND ') }
}

function unique<Value>(values: readonly Value[]): Value[] {
  return [...new Set(values)]
}

function isChoice({ name }: Declaration): boolean {
  return name?.includes(' OR ') === true
}

/** Whether the text is a license of texts, data or fonts alone. */
function isContent({ name }: Declaration): boolean {
  const ids = idsOfExpression(name ?? '')
  return ids.length > 0 && ids.every(isContentLicense)
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

/** What the marketplace at the root says of the plugin in this folder. */
function readPlugin(reading: Reading, folder: RepoPath): Declaration | null {
  const file = findFile(reading.sources, ROOT, MARKETPLACE_FILE)
  const text = file === null ? null : reading.sources.textOf(file.oid)
  if (file === null || text === null || text === undefined) return null
  const known = reading.plugins.get(file.oid)
  const plugins: PluginLicenses = known ?? readMarketplace(text, source => pathFrom(ROOT, source))
  if (known === undefined) reading.plugins.set(file.oid, plugins)
  const words = plugins.get(folder)
  return words === undefined ? null : declarationOf(reading, folder, 'metadata', file.path, words)
}

/** The license section of the README at the root, as a fallback. A symlink does not count. */
function readReadme(reading: Reading): Declaration | null {
  const readme = readmeOf(reading)
  const name = readme === null ? null : readLicenseSection(readme.text)
  return readme === null || name === null
    ? null
    : { origin: 'file', ...expressionOf(reading, name), source: readme.path, issues: [] }
}

/** Where a license may be declared that is not read: told where a repository declares none. */
function unreadPlaces(reading: Reading): LicenseIssue[] {
  const { sources } = reading
  const issues: LicenseIssue[] = []
  const readme = readmeOf(reading)
  if (readme !== null && hasLicenseSection(readme.text))
    issues.push({ ...finding('license.unrecognized:section'), path: readme.path })
  for (const name of UNREAD_FILES) {
    const file = findFile(sources, ROOT, name)
    const text = file === null ? null : sources.textOf(file.oid)
    if (file !== null && text !== null && text !== undefined && declaresLicense(text)) {
      issues.push({ ...finding('license.unrecognized:place'), path: file.path })
    }
  }
  return issues.filter(({ path }) => !sources.isWithheld(path as RepoPath))
}

function readmeOf({ sources }: Reading): { path: RepoPath; text: string } | null {
  const files = sources.filesIn(ROOT)
  const name = chooseReadme([...files].flatMap(([name, { mode, target }]) => (mode === '120000' || target ? [] : [name])))
  const oid = name === null ? undefined : files.get(name)?.oid
  const text = oid === undefined ? null : sources.textOf(oid)
  return name === null || text === null || text === undefined ? null : { path: joinPath(ROOT, name), text }
}
