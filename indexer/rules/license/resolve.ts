import type { License } from '#core/contract/shared.ts'
import { visibleLine } from '#core/hidden-text.ts'
import { LICENSE_NAME_CHARACTERS } from '#core/limits.ts'
import { MANIFEST_FILE, type RepoPath, ROOT, SKILL_FILE } from '#core/repo-path.ts'
import { truncateCharacters } from '#core/text.ts'
import { once } from './data.ts'
import { combineDeclarations, type Declaration, namedPart } from './declaration.ts'
import { readWords, unreadFrontMatter } from './declared-words.ts'
import type { LicenseSettings } from './kind.ts'
import { readLicenseFiles, readOtherFile, readReservation } from './license-files.ts'
import { PACKAGE_FILE, PLUGIN_FILES } from './names.ts'
import { readMetadata, readPlugin, readReadme, unreadPlaces } from './other-places.ts'
import type { Reading } from './reading.ts'
import { readLicensesFolder, readLicenseTexts, readReuse, withUnannotated } from './reuse.ts'
import type { LicenseSources, ResolvedLicense } from './sources.ts'
import { upwards } from './tree-files.ts'

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

/** Resolves licenses by the nearest declaration. Each text is recognised once, each folder resolved once. */
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
  const license: License = {
    kind,
    name: name === null ? null : truncateCharacters(visibleLine(name), LICENSE_NAME_CHARACTERS),
    source,
  }
  return { license, issues, open: kind === 'open' }
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
