import { joinPath, type RepoPath, ROOT } from '#core/repo-path.ts'
import { isLfsPointer } from '#core/text.ts'
import { say } from '#core/words/findings.ts'
import type { Declaration } from './declaration.ts'
import { declarationOf } from './declared-words.ts'
import { declaresLicense, type PluginLicenses, readMarketplace, readMetadataLicense } from './metadata.ts'
import { chooseReadme, MARKETPLACE_FILE, UNREAD_FILES } from './names.ts'
import { expressionOf, type Reading } from './reading.ts'
import { hasLicenseSection, readLicenseSection } from './section.ts'
import type { LicenseIssue } from './sources.ts'
import { findFile, pathFrom } from './tree-files.ts'

/** A file that could not be read may declare anything, so its license is unknown. */
export function readMetadata(reading: Reading, folder: RepoPath, name: string): Declaration | null {
  const file = findFile(reading.sources, folder, name)
  if (file === null) return null
  const text = reading.sources.textOf(file.oid)
  if (text === undefined) return null
  const words = text === null || isLfsPointer(text) ? null : readMetadataLicense(text)
  return words === undefined ? null : declarationOf(reading, folder, 'metadata', file.path, words)
}

/** What the marketplace at the root says of the plugin in this folder. */
export function readPlugin(reading: Reading, folder: RepoPath): Declaration | null {
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
export function readReadme(reading: Reading): Declaration | null {
  const readme = readmeOf(reading)
  const name = readme === null ? null : readLicenseSection(readme.text)
  return readme === null || name === null
    ? null
    : { origin: 'file', ...expressionOf(reading, name), source: readme.path, issues: [] }
}

/** Where a license may be declared that is not read: told where a repository declares none. */
export function unreadPlaces(reading: Reading): LicenseIssue[] {
  const { sources } = reading
  const issues: LicenseIssue[] = []
  const tell = (message: string, path: RepoPath) => issues.push({ code: 'license.unrecognized', message, path })
  const readme = readmeOf(reading)
  if (readme !== null && hasLicenseSection(readme.text)) tell(say('license.unrecognized:section'), readme.path)
  for (const name of UNREAD_FILES) {
    const file = findFile(sources, ROOT, name)
    const text = file === null ? null : sources.textOf(file.oid)
    if (file !== null && text !== null && text !== undefined && declaresLicense(text)) {
      tell(say('license.unrecognized:place'), file.path)
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
