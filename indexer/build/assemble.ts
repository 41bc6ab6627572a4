import type { FolderOverview } from '#core/contract/browse.ts'
import type { Diagnostic, License, SkillListing } from '#core/contract/shared.ts'
import {
  DIAGNOSTICS_PER_ANSWER,
  MANIFEST_IMAGE_BYTES,
  OVERSIZED_FILES,
  OVERVIEW_DOCUMENTS,
  OVERVIEW_SKILLS,
  READABLE_FILE_BYTES,
  SUPPORTING_FILES,
  WARNINGS_PER_SKILL,
} from '#core/limits.ts'
import { ancestorsOf, baseNameOf, parentOf, type RepoPath, ROOT } from '#core/repo-path.ts'
import {
  type ContextPart,
  type ContextRow,
  type EntryRow,
  entryKey,
  type FileRow,
  type FolderRow,
  type Location,
  type RowOf,
  type SnapshotHeader,
  type TableName,
} from '#core/snapshot/format.ts'
import { compareBytes, countCharacters, utf8Length } from '#core/text.ts'
import { overviewRank } from './content-kind.ts'
import { type TextFacts, titleOfName } from './document.ts'
import { type HiddenFinding, hiddenWarnings } from './hidden-lines.ts'
import { type IncludeFailure, includeDiagnostics, includeWarnings } from './includes.ts'
import type { Manifest } from './manifest.ts'
import { type Plan, type PlannedFile, type PlannedSkill, unreadableBlob } from './plan.ts'
import { resolveDeclaredPath } from './references.ts'
import { manifestMetadata, manifestsAbove, ruleChain } from './rule-chain.ts'
import { isRegular, type TreeFile } from './tree.ts'

/** Everything about the content that came from reading it. */
export interface Content {
  stateOf(oid: string): 'text' | 'not_text' | 'unreadable' | 'unread'
  recordOf(oid: string): Location | null
  factsOf(path: RepoPath): TextFacts | null
  hiddenIn(path: RepoPath): HiddenFinding[]
  /** Characters of an included file. */
  charactersOf(oid: string): number
  includesOf(planned: PlannedSkill): { files: TreeFile[]; failures: IncludeFailure[] }
  linksOf(planned: PlannedSkill): { targets: RepoPath[]; warnings: SkillListing['warnings'] }
  /** Files that are only linked. */
  linked: readonly { file: TreeFile; served: boolean }[]
}

export type Rows<Name extends TableName> = (readonly [key: string, row: RowOf<Name>])[]

export interface Assembled {
  tables: { [Name in Exclude<TableName, `search${string}`>]: Rows<Name> }
  root: SnapshotHeader['root']
}

/** Shapes the rows of every table but the search's. Pure: the same plan and content give the same rows. */
export function assemble(planned: Plan, content: Content): Assembled {
  const plan = withoutUnreadable(planned, content)
  const fileRows = buildFileRows(plan, content)
  const contexts: Rows<'contexts'> = []
  const listings = new Map<RepoPath, SkillListing>()
  for (const planned of plan.skills) {
    const context = buildContext(planned, plan, content, fileRows)
    contexts.push([planned.skill.path, context])
    if (!planned.skill.internal) listings.set(planned.skill.path, buildListing(planned, context))
  }
  const folders = buildFolders(plan, content, listings)
  const documents: Rows<'documents'> = plan.files
    .filter(planned => planned.kind === 'document')
    .map(({ file }) => [
      file.path,
      { path: file.path, title: titleOf(file.path, content), summary: content.factsOf(file.path)?.summary ?? '' },
    ])
  const diagnostics = buildDiagnostics(
    plan,
    contexts.filter(([path]) => listings.has(path as RepoPath)),
    folders.diagnostics,
  )
  const manifests: Rows<'manifests'> = sortRows(
    [...plan.policy.manifests.values()].map(manifest => [
      manifest.path,
      manifestMetadata(manifest, manifestsAbove(plan.policy.manifests, manifest.folder)),
    ]),
  )
  const rootFolder = folders.rows.get(ROOT) as FolderRow
  const rootManifest = plan.policy.manifests.get(ROOT)

  return {
    tables: {
      folders: sortRows([...folders.rows]),
      entries: sortRows(folders.entries),
      manifests,
      skills: [...listings],
      documents,
      diagnostics: diagnostics.map((diagnostic, index) => [`${diagnostic.path}\0${String(index).padStart(6, '0')}`, diagnostic]),
      files: sortRows([...fileRows]),
      contexts,
      withheld: sortRows([...plan.policy.withheld].map(([path, reason]) => [path, { reason }])),
    },
    root: {
      folder: rootFolder,
      ...(rootManifest ? { manifest: manifestMetadata(rootManifest, [rootManifest]) } : {}),
      skills: [...listings.values()].slice(0, OVERVIEW_SKILLS),
      documents: documents.slice(0, OVERVIEW_DOCUMENTS).map(([, row]) => row),
      diagnostics: diagnostics.slice(0, DIAGNOSTICS_PER_ANSWER + 1),
    },
  }
}

// A blob that the tree names but that cannot be read is as good as not there, and said to be.
function withoutUnreadable(plan: Plan, content: Content): Plan {
  const unreadable = plan.files.filter(({ file }) => content.stateOf(file.oid) === 'unreadable')
  if (unreadable.length === 0) return plan
  const files = plan.files.filter(({ file }) => content.stateOf(file.oid) !== 'unreadable')
  return { ...plan, files, diagnostics: [...plan.diagnostics, ...unreadable.map(({ file }) => unreadableBlob(file))] }
}

function buildFileRows(plan: Plan, content: Content): Map<RepoPath, FileRow> {
  const rows = new Map<RepoPath, FileRow>()
  for (const { file, served } of [...plan.files, ...content.linked]) {
    const row = fileRow(file, served, content)
    if (row) rows.set(file.path, row)
  }
  for (const { file } of content.linked) if (rows.get(file.path)?.refusal === 'file.not_text') rows.delete(file.path)
  return rows
}

function fileRow(file: TreeFile, served: boolean, content: Content): FileRow | null {
  if (file.sizeBytes === null) return null
  const sizeBytes = file.sizeBytes
  if (!served) return { sizeBytes, refusal: 'file.not_served' }
  if (sizeBytes > READABLE_FILE_BYTES) return { sizeBytes, refusal: 'file.too_large' }
  const record = content.recordOf(file.oid)
  if (record) return { sizeBytes, record }
  return content.stateOf(file.oid) === 'not_text' ? { sizeBytes, refusal: 'file.not_text' } : null
}

function buildContext(planned: PlannedSkill, plan: Plan, content: Content, fileRows: ReadonlyMap<RepoPath, FileRow>): ContextRow {
  const { skill, license, full } = planned
  const { directory, name, description, frontMatter, translations } = skill
  const identity = { directory, name, description, frontMatter, translations, license: license.license }
  if (!full) return { ...identity, warnings: planned.warnings.slice(0, WARNINGS_PER_SKILL), diagnostics: [] }

  const chain = ruleChain(manifestsAbove(plan.policy.manifests, directory), skill.path)
  const includes = content.includesOf(planned)
  const links = content.linksOf(planned)
  const supporting = planned.supporting.slice(0, SUPPORTING_FILES)
  const isOversized = (path: RepoPath) => fileRows.get(path)?.refusal === 'file.too_large'
  const oversized = [...supporting.map(file => file.path), ...links.targets].filter(isOversized).slice(0, OVERSIZED_FILES)
  const hidden = includes.files.flatMap(file => hiddenWarnings(content.hiddenIn(file.path), file.path))
  const warnings = [...hidden, ...planned.warnings, ...includeWarnings(includes.failures), ...links.warnings]
  if (planned.supporting.length > SUPPORTING_FILES) {
    warnings.push({
      code: 'supporting.truncated',
      message: `${planned.supporting.length} supporting files, of which ${SUPPORTING_FILES} are listed`,
    })
  }

  return {
    ...identity,
    warnings: warnings.slice(0, WARNINGS_PER_SKILL),
    full: {
      rules: chain.rules.map(manifest => rulesPart(manifest, content)),
      body: skill.body,
      includes: includes.files.map(file => includePart(file, content)),
      files: supporting.map(file => file.path),
      references: links.targets.filter(path => fileRows.get(path)?.record !== undefined),
      oversized: [...new Set(oversized)].map(path => ({ path, sizeBytes: fileRows.get(path)?.sizeBytes ?? 0 })),
      incomplete: chain.diagnostics.length > 0 || includes.failures.length > 0,
    },
    diagnostics: [...chain.diagnostics, ...includeDiagnostics(includes.failures, skill.path)],
  }
}

function rulesPart(manifest: Manifest, content: Content): ContextPart {
  const { text, offsetBytes } = manifest.rules ?? { text: '', offsetBytes: 0 }
  const record = content.recordOf(manifest.oid) as Location
  return { path: manifest.path, characters: countCharacters(text), slice: { record, offsetBytes, lengthBytes: utf8Length(text) } }
}

function includePart(file: TreeFile, content: Content): ContextPart {
  const record = content.recordOf(file.oid) as Location
  return {
    path: file.path,
    characters: content.charactersOf(file.oid),
    slice: { record, offsetBytes: 0, lengthBytes: file.sizeBytes ?? 0 },
  }
}

function buildListing(planned: PlannedSkill, context: ContextRow): SkillListing {
  const { directory, name, description, warnings, translations, license } = context
  const listing = { path: planned.skill.path, directory, name, description, warnings, translations, license }
  return planned.full ? listing : { ...listing, describedOnly: true }
}

/** Of a closed folder nothing is told, not even by which file it is licensed. */
const NOTHING_DELIVERED: License = { kind: 'unknown', name: null, source: null }

interface BuiltFolders {
  rows: Map<RepoPath, FolderRow>
  entries: Rows<'entries'>
  diagnostics: Diagnostic[]
}

function buildFolders(plan: Plan, content: Content, listings: ReadonlyMap<RepoPath, SkillListing>): BuiltFolders {
  const { policy } = plan
  const counts = countContent(plan, listings)
  const overviews = chooseOverviews(plan, content)
  const listed = listedFolders(plan, listings, overviews)
  const skillDirectories = new Map([...listings.values()].map(listing => [listing.directory as RepoPath, listing]))
  const owners = new Map(
    plan.skills.filter(planned => planned.skill.directory !== '').map(planned => [planned.skill.directory, planned]),
  )
  const rows = new Map<RepoPath, FolderRow>()
  const entries: Rows<'entries'> = []
  const diagnostics: Diagnostic[] = []

  for (const { path } of policy.folders) {
    const chain = manifestsAbove(policy.manifests, path)
    const nearest = chain.at(-1)
    const overview = overviews.get(path)
    const image = imageOf(chain, plan)
    const owner = owners.get(path) ?? null
    if (image?.invalid && image.manifest.folder === path) diagnostics.push(image.invalid)
    rows.set(path, {
      counts: counts.get(path) ?? { skills: 0, documents: 0 },
      license: policy.withheld.get(path) === 'closed' ? NOTHING_DELIVERED : plan.licenseOf(path, owner).license,
      ...(nearest ? { manifest: nearest.path } : {}),
      ...(image?.image ? { image: image.image } : {}),
      ...(overview ? { overview } : {}),
    })

    if (path === '' || !listed.has(path)) continue
    const own = policy.manifests.get(path)
    const entry: EntryRow = {
      path,
      kind: 'directory',
      counts: counts.get(path) ?? { skills: 0, documents: 0 },
      ...(own && policy.reasonOf(own.path) === null ? { manifest: manifestMetadata(own, chain) } : {}),
      ...(overview ? { overviewPath: overview.path } : {}),
      ...skillFields(skillDirectories.get(path)),
    }
    entries.push([entryKey(parentOf(path), baseNameOf(path)), entry])
  }

  for (const { file, kind, owner } of plan.files) {
    if (kind !== 'skill' && kind !== 'supporting' && kind !== 'document') continue
    if (owner?.skill.internal || file.sizeBytes === null) continue
    const facts = content.factsOf(file.path)
    const title = kind === 'document' ? titleOf(file.path, content) : kind === 'supporting' ? facts?.title : null
    const entry: EntryRow = {
      path: file.path,
      kind: 'file',
      size: file.sizeBytes,
      ...(title ? { title } : {}),
      ...(kind === 'skill' ? skillFields(listings.get(file.path)) : {}),
    }
    entries.push([entryKey(parentOf(file.path), baseNameOf(file.path)), entry])
  }
  return { rows, entries, diagnostics }
}

function skillFields(listing: SkillListing | undefined) {
  if (!listing) return {}
  const { path, name, description, translations, license, describedOnly } = listing
  return { skill: { path, name, description, translations }, license, ...(describedOnly ? { describedOnly } : {}) }
}

function countContent(
  plan: Plan,
  listings: ReadonlyMap<RepoPath, SkillListing>,
): Map<RepoPath, { skills: number; documents: number }> {
  const counts = new Map<RepoPath, { skills: number; documents: number }>()
  for (const { file, kind } of plan.files) {
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

// A folder is shown when there is something to see in it, at any depth.
function listedFolders(
  plan: Plan,
  listings: ReadonlyMap<RepoPath, SkillListing>,
  overviews: ReadonlyMap<RepoPath, FolderOverview>,
): Set<RepoPath> {
  const listed = new Set<RepoPath>()
  const add = (folder: RepoPath) => {
    for (let at = folder; !listed.has(at); at = parentOf(at)) listed.add(at)
  }
  for (const { file, kind, owner } of plan.files) {
    const isListed = kind === 'document' || kind === 'manifest' || (owner !== null && listings.has(owner.skill.path))
    if (isListed) add(parentOf(file.path))
  }
  for (const folder of overviews.keys()) add(folder)
  for (const [path, reason] of plan.policy.withheld) if (reason === 'closed') add(path)
  return listed
}

function chooseOverviews(plan: Plan, content: Content): Map<RepoPath, FolderOverview> {
  const best = new Map<RepoPath, { rank: number; path: RepoPath }>()
  for (const { file, kind, owner } of plan.files) {
    if ((kind !== 'overview' && kind !== 'supporting') || owner?.skill.internal) continue
    const rank = overviewRank(baseNameOf(file.path))
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
  invalid?: Diagnostic
}

/** The picture of the nearest manifest that declares one; when that one is not valid there is none. */
function imageOf(chain: readonly Manifest[], plan: Plan): ManifestImage | null {
  const manifest = chain.findLast(candidate => candidate.image !== undefined)
  if (manifest?.image === undefined) return null
  const invalid = (code: string, message: string): ManifestImage => ({
    manifest,
    invalid: { code, severity: 'warning', path: manifest.path, field: 'image', message },
  })
  if (/^https:/i.test(manifest.image)) {
    return URL.canParse(manifest.image)
      ? { manifest, image: { url: manifest.image } }
      : invalid('manifest.invalid_field', 'not an address')
  }
  const path = /^[a-z][a-z0-9+.-]*:/i.test(manifest.image) ? null : resolveDeclaredPath(manifest.image, manifest.folder)
  if (path === null || !/\.(?:png|jpe?g|gif|webp|avif)$/i.test(path)) {
    return invalid('manifest.invalid_field', 'neither a PNG, JPEG, GIF, WebP or AVIF of this repository nor an https address')
  }
  const file = plan.tree.file(path)
  if (!file || !isRegular(file) || file.sizeBytes === null || file.sizeBytes > MANIFEST_IMAGE_BYTES) {
    return invalid('manifest.image_missing', `there is no picture of at most ${MANIFEST_IMAGE_BYTES} bytes at its path`)
  }
  return { manifest, image: { path } }
}

function buildDiagnostics(plan: Plan, contexts: Rows<'contexts'>, ofFolders: readonly Diagnostic[]): Diagnostic[] {
  const all = [
    ...plan.tree.diagnostics,
    ...plan.policy.diagnostics,
    ...plan.diagnostics,
    ...ofFolders,
    ...contexts.flatMap(([, context]) => context.diagnostics),
  ]
  // Nothing tells of what is withheld, but for the manifest that closes its folder.
  return all
    .filter(diagnostic => diagnostic.boundary !== undefined || plan.policy.reasonOf(diagnostic.path as RepoPath) === null)
    .sort((left, right) => compareBytes(left.path, right.path))
}

function titleOf(path: RepoPath, content: Content): string {
  return content.factsOf(path)?.title ?? titleOfName(path)
}

function sortRows<Row extends readonly [key: string, row: unknown]>(rows: Row[]): Row[] {
  return rows.sort(([left], [right]) => compareBytes(left, right))
}

/** The planned file at each path. */
export function byPath(files: readonly PlannedFile[]): Map<RepoPath, PlannedFile> {
  return new Map(files.map(planned => [planned.file.path, planned]))
}
