import type { FrontMatterValue } from '#core/contract/skill.ts'
import { baseNameOf, isInside, parentOf, parseRepoPath, type RepoPath } from '#core/repo-path.ts'
import {
  createLicenseResolver,
  type LicenseFile,
  type LicenseSettings,
  type LicenseSources,
} from '#indexer/rules/license/index.ts'
import { textOf } from './license-texts.ts'

export const MODIFIED = `${textOf('MIT')}\n\nYou may not sell it.`

/** A repository as the license resolver sees it. */
export interface Tree {
  /** Text by path; `{ link }` is a symlink. */
  files?: Record<string, string | { link: string }>
  /** `license` of the front matter by folder; `null`: a skill that says nothing. */
  skills?: Record<string, FrontMatterValue | null>
  manifests?: Record<string, FrontMatterValue | null>
  /** Folders with a `SKILL.md` whose front matter could not be read. */
  unread?: string[]
  /** Paths that a manifest withholds. */
  withheld?: string[]
}

export function pathOf(path: string): RepoPath {
  const parsed = parseRepoPath(path)
  if (parsed === null) throw new Error(`no path: ${path}`)
  return parsed
}

export function sourcesOf(
  { files = {}, skills = {}, manifests = {}, unread = [], withheld = [] }: Tree,
  isRead: (path: string) => boolean = () => true,
): LicenseSources {
  const folders = new Map<string, Map<string, LicenseFile>>()
  for (const [path, content] of Object.entries(files)) {
    const folder = parentOf(pathOf(path))
    const entries = folders.get(folder) ?? new Map<string, LicenseFile>()
    folders.set(
      folder,
      entries.set(baseNameOf(pathOf(path)), {
        mode: typeof content === 'string' ? '100644' : '120000',
        oid: path,
        sizeBytes: Buffer.byteLength(typeof content === 'string' ? content : content.link),
      }),
    )
  }
  const declaredIn = (declared: Record<string, FrontMatterValue | null>, folder: string) =>
    Object.hasOwn(declared, folder) ? { license: declared[folder] ?? undefined } : null
  return {
    filesIn: folder => folders.get(folder) ?? new Map(),
    textOf: oid => {
      const content = files[oid]
      if (content === undefined || !isRead(oid)) return undefined
      return typeof content === 'string' ? content : content.link
    },
    skillIn: folder => (unread.includes(folder) ? 'unread' : declaredIn(skills, folder)),
    manifestIn: folder => declaredIn(manifests, folder),
    isWithheld: path => withheld.includes(path),
  }
}

/** The license of the files in a folder; of the nearest skill above it, where there is one. */
export function resolve(tree: Tree, folder: string, settings: LicenseSettings = {}) {
  const owners = [...Object.keys(tree.skills ?? {}), ...(tree.unread ?? [])].filter(skill =>
    isInside(pathOf(skill), pathOf(folder)),
  )
  const owner = owners.sort((left, right) => right.length - left.length)[0]
  return createLicenseResolver(sourcesOf(tree), settings).resolve(pathOf(folder), owner === undefined ? null : pathOf(owner))
}

export function licenseOf(tree: Tree, folder: string) {
  const { kind, name, source } = resolve(tree, folder).license
  return [kind, name, source]
}

export const codesOf = (tree: Tree, folder: string) => resolve(tree, folder).issues.map(({ code }) => code)
