import type { FolderOverview } from '#core/contract/browse.ts'
import type { License } from '#core/contract/shared.ts'
import { MANIFEST_IMAGE_BYTES } from '#core/limits.ts'
import { ancestorsOf, baseNameOf, isInside, parentOf, type RepoPath } from '#core/repo-path.ts'
import type { DiagnosticRow } from '#core/snapshot/finding-rows.ts'
import { type EntryRow, entryKey, type FolderRow, type PagesBelow, type SkillRow } from '#core/snapshot/format.ts'
import { type Finding, finding } from '#words/findings.ts'
import { type Content, type Rows, titleOf } from './content-facts.ts'
import { isMarkdown } from './content-kind.ts'
import { readmeRank } from './license/names.ts'
import type { Manifest } from './manifest.ts'
import type { Plan, PlannedFile } from './plan.ts'
import { resolveDeclaredPath } from './references.ts'
import { manifestMetadata, manifestsAbove } from './rule-chain.ts'
import { isRegular } from './tree.ts'

/** The license shown for a closed folder: its license file is not named. */
const CLOSED_LICENSE: License = { kind: 'unknown', name: null, source: null }

interface BuiltFolders {
  rows: Map<RepoPath, FolderRow>
  entries: Rows<'entries'>
  diagnostics: DiagnosticRow[]
}

/** Builds the row of every folder, and the entries that browsing shows. */
export function buildFolders(plan: Plan, content: Content, listings: ReadonlyMap<RepoPath, SkillRow>): BuiltFolders {
  const { policy } = plan
  const counts = countContent(plan.files, listings)
  const described = countContent(plan.files.filter(isDescribedOnly), listings)
  const pages = countPages(pagesOf(plan, content))
  const overviews = chooseOverviews(plan, content)
  const listed = listedFolders(plan, listings, overviews)
  const listingsByFolder = new Map([...listings.values()].map(listing => [listing.directory as RepoPath, listing]))
  const rows = new Map<RepoPath, FolderRow>()
  const entries: Rows<'entries'> = []
  const diagnostics: DiagnosticRow[] = []

  for (const { path } of policy.folders) {
    const chain = manifestsAbove(policy.manifests, path)
    const image = imageOf(chain, plan)
    if (image?.invalid && image.manifest.folder === path) diagnostics.push(image.invalid)
    const isClosed = policy.withheld.get(path) === 'closed'
    const facts: FolderFacts = {
      counts: counts.get(path) ?? { skills: 0, documents: 0 },
      described: described.get(path),
      ...(pages.has(path) ? { pages: pages.get(path) } : {}),
      overview: overviews.get(path),
    }
    // The root is described by what is outside its own skill, which does not own the whole repository.
    const resolved = path === '' ? plan.licenseOutsideSkills(path) : plan.licenseOf(path)
    const license = isClosed ? CLOSED_LICENSE : resolved.license
    const mayCopy = isClosed || plan.isServed(plan.licenseOf(path))
    rows.set(path, { ...folderRow(chain, image, license, facts), ...(mayCopy ? {} : { describedOnly: true }) })
    if (path === '' || !listed.has(path)) continue
    entries.push([entryKey(parentOf(path), baseNameOf(path)), folderEntry(path, plan, chain, listingsByFolder.get(path), facts)])
  }
  return { rows, entries: [...entries, ...fileEntries(plan, content, listings)], diagnostics }
}

interface FolderFacts {
  counts: FolderRow['counts']
  described: FolderRow['described']
  pages?: PagesBelow | undefined
  overview: FolderOverview | undefined
}

function folderRow(
  chain: readonly Manifest[],
  image: ManifestImage | null,
  license: License,
  { counts, described, pages, overview }: FolderFacts,
): FolderRow {
  const nearest = chain.at(-1)
  return {
    counts,
    ...(described ? { described } : {}),
    ...(pages ? { pages } : {}),
    license,
    ...(nearest ? { manifest: nearest.path } : {}),
    ...(image?.image ? { image: image.image } : {}),
    ...(overview ? { overview } : {}),
  }
}

function folderEntry(
  path: RepoPath,
  { policy }: Plan,
  chain: readonly Manifest[],
  listing: SkillRow | undefined,
  { counts, pages, overview }: FolderFacts,
): EntryRow {
  const own = policy.manifests.get(path)
  return {
    path,
    kind: 'directory',
    counts,
    ...(pages ? { pages } : {}),
    // An excluded manifest keeps its effect.
    ...(own ? { manifest: manifestMetadata(own, chain) } : {}),
    ...(overview ? { overviewPath: overview.path } : {}),
    ...skillFields(listing),
  }
}

function fileEntries(plan: Plan, content: Content, listings: ReadonlyMap<RepoPath, SkillRow>): Rows<'entries'> {
  const entries: Rows<'entries'> = []
  for (const planned of plan.files) {
    const { file, kind, owner } = planned
    if (kind !== 'skill' && kind !== 'supporting' && kind !== 'document') continue
    if (owner?.skill.internal || file.sizeBytes === null) continue
    const facts = content.factsOf(file.path)
    const title = kind === 'document' ? titleOf(file.path, content) : kind === 'supporting' ? facts?.title : null
    const entry: EntryRow = {
      path: file.path,
      kind: 'file',
      size: file.sizeBytes,
      ...digestField(planned, content),
      ...(title ? { title } : {}),
      ...(kind === 'skill' ? skillFields(listings.get(file.path)) : unservedFields(planned, plan)),
    }
    entries.push([entryKey(parentOf(file.path), baseNameOf(file.path)), entry])
  }
  return entries
}

function digestField({ file, served }: PlannedFile, content: Content) {
  const stored = served ? content.storedOf(file.oid) : null
  return stored === null ? {} : { sha256: stored.sha256 }
}

/** The fields by which an entry tells a skill. */
export function skillFields(listing: SkillRow | undefined) {
  if (!listing) return {}
  const { path, name, description, translations, license, describedOnly } = listing
  return { skill: { path, name, description, translations }, license, ...(describedOnly ? { describedOnly } : {}) }
}

/** The marks of a listed file that may not be served. */
export function unservedFields(
  { file, served }: Pick<PlannedFile, 'file' | 'served'>,
  plan: Plan,
): { license?: License; describedOnly?: true } {
  return served ? {} : { license: plan.licenseOfFile(file).license, describedOnly: true }
}

/** A searched Markdown file of a skill. In a mount inside the skill's folder, which does not contain the `SKILL.md`, it is a document. */
export interface SkillPage {
  path: RepoPath
  skillDirectory: RepoPath
}

/** In path order. */
export function pagesOf(plan: Plan, content: Content): SkillPage[] {
  return plan.files.flatMap(({ file: { path }, kind, owner, served }) => {
    const isSearched = kind === 'supporting' && owner?.full === true && !owner.skill.internal && served
    if (!isSearched || !isMarkdown(path) || content.factsOf(path) === null) return []
    return [{ path, skillDirectory: owner.skill.directory }]
  })
}

/** The pages below every folder inside a skill. All of them belong to one skill: the pages of a skill in the folder are not counted. */
function countPages(pages: readonly SkillPage[]): Map<RepoPath, PagesBelow> {
  const counts = new Map<RepoPath, PagesBelow>()
  for (const { path, skillDirectory } of pages) {
    for (const folder of ancestorsOf(path)) {
      if (folder === skillDirectory || !isInside(skillDirectory, folder)) continue
      const counted = counts.get(folder) ?? { skill: skillDirectory, count: 0 }
      counts.set(folder, counted)
      counted.count++
    }
  }
  return counts
}

/** A skill or document whose license permits no copy. */
function isDescribedOnly({ kind, owner, served }: PlannedFile): boolean {
  return kind === 'skill' ? owner?.full !== true : !served
}

function countContent(
  files: readonly PlannedFile[],
  listings: ReadonlyMap<RepoPath, SkillRow>,
): Map<RepoPath, { skills: number; documents: number }> {
  const counts = new Map<RepoPath, { skills: number; documents: number }>()
  for (const { file, kind } of files) {
    const isSkill = kind === 'skill' && listings.has(file.path)
    if (!isSkill && kind !== 'document') continue
    for (const folder of ancestorsOf(file.path)) {
      const count = counts.get(folder) ?? { skills: 0, documents: 0 }
      counts.set(folder, count)
      if (isSkill) count.skills++
      else count.documents++
    }
  }
  return counts
}

// A folder is listed when it contains a listed file, a manifest, an overview or a closed folder at any depth.
function listedFolders(
  plan: Plan,
  listings: ReadonlyMap<RepoPath, SkillRow>,
  overviews: ReadonlyMap<RepoPath, FolderOverview>,
): Set<RepoPath> {
  const listed = new Set<RepoPath>()
  const add = (folder: RepoPath) => {
    for (let at = folder; !listed.has(at); at = parentOf(at)) listed.add(at)
  }
  for (const { file, kind, owner } of plan.files) {
    const isListed = kind === 'document' || (owner !== null && listings.has(owner.skill.path))
    if (isListed) add(parentOf(file.path))
  }
  for (const folder of plan.policy.manifests.keys()) add(folder)
  for (const folder of overviews.keys()) add(folder)
  for (const [path, reason] of plan.policy.withheld) if (reason === 'closed') add(path)
  return listed
}

function chooseOverviews(plan: Plan, content: Content): Map<RepoPath, FolderOverview> {
  const best = new Map<RepoPath, { rank: number; path: RepoPath }>()
  for (const { file, kind, owner } of plan.files) {
    if ((kind !== 'overview' && kind !== 'supporting') || owner?.skill.internal) continue
    const rank = readmeRank(baseNameOf(file.path))
    const folder = parentOf(file.path)
    if (rank === null || content.factsOf(file.path) === null || rank >= (best.get(folder)?.rank ?? Infinity)) continue
    best.set(folder, { rank, path: file.path })
  }
  return new Map(
    [...best].map(([folder, { path }]) => {
      const facts = content.factsOf(path)
      return [folder, { path, title: facts?.title ?? null, description: facts?.summary || null }]
    }),
  )
}

interface ManifestImage {
  manifest: Manifest
  image?: NonNullable<FolderRow['image']>
  invalid?: DiagnosticRow
}

/** The image of the nearest manifest that declares one, even if that image is invalid. */
function imageOf(chain: readonly Manifest[], plan: Plan): ManifestImage | null {
  const manifest = chain.findLast(candidate => candidate.image !== undefined)
  if (manifest?.image === undefined) return null
  const invalid = (found: Finding): ManifestImage => ({
    manifest,
    invalid: { ...found, severity: 'warning', path: manifest.path, field: 'image' },
  })
  if (/^https:/i.test(manifest.image)) {
    return URL.canParse(manifest.image)
      ? { manifest, image: { url: manifest.image } }
      : invalid(finding('manifest.invalid_field:url'))
  }
  const path = /^[a-z][a-z0-9+.-]*:/i.test(manifest.image) ? null : resolveDeclaredPath(manifest.image, manifest.folder)
  if (path === null || !/\.(?:png|jpe?g|gif|webp|avif)$/i.test(path)) {
    return invalid(finding('manifest.invalid_field:picture'))
  }
  if (plan.policy.reasonOf(path) !== null) return invalid(finding('image.withheld:excluded'))
  const file = plan.tree.file(path)
  if (!file || !isRegular(file) || file.sizeBytes === null || file.sizeBytes > MANIFEST_IMAGE_BYTES) {
    return invalid(finding('manifest.image_missing', { limit: MANIFEST_IMAGE_BYTES }))
  }
  const mayCopy = plan.isServed(plan.licenseOfFile(file))
  return { manifest, image: { path: file.target ?? path, ...(mayCopy ? {} : { describedOnlyBy: manifest.path }) } }
}
