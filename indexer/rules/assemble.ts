import type { DocumentListing } from '#core/contract/shared.ts'
import { DIAGNOSTICS_PER_ANSWER, OVERVIEW_DOCUMENTS, OVERVIEW_SKILLS, READABLE_FILE_BYTES } from '#core/limits.ts'
import { ancestorsOf, parentOf, type RepoPath, ROOT } from '#core/repo-path.ts'
import { canonicalJson } from '#core/snapshot/canonical-json.ts'
import type { DiagnosticRow } from '#core/snapshot/finding-rows.ts'
import { type FileRow, type FolderRow, pageKey, type RowOf, type SnapshotHeader, type TableName } from '#core/snapshot/format.ts'
import { compareBytes } from '#core/text.ts'
import { reason } from '#words/findings.ts'
import { type Content, type Rows, sortRows, titleOf } from './content-facts.ts'
import { isBinaryName } from './content-kind.ts'
import { buildDelivered, type DeliveredParts, hostsOf } from './delivered-rows.ts'
import { buildFolders, pagesOf, unservedFields } from './folder-rows.ts'
import { includeDiagnostics } from './includes.ts'
import { type Plan, type PlannedSkill, skillDirectories, unreadableBlob } from './plan.ts'
import { manifestMetadata, manifestsAbove, ruleChain } from './rule-chain.ts'
import { buildContext, buildListing } from './skill-rows.ts'
import { isOwnLink, type TreeFile } from './tree.ts'
import { unlicensedFolders } from './unlicensed.ts'
import { buildWholeTree } from './whole-tree.ts'

export interface Assembled {
  /** Without that of findings, for which texts are read once more. */
  tables: { [Name in Exclude<TableName, 'findings'>]: Rows<Name> }
  root: SnapshotHeader['root']
}

type ListedContexts = DeliveredParts['contexts'] & Map<RepoPath, { planned: PlannedSkill; context: RowOf<'contexts'> }>

/** Builds the rows of every table, in small steps, for `runYielding`: the links of many skills take long. Pure. */
export function* assembleInSteps(planned: Plan, content: Content): Generator<void, Assembled> {
  const plan = withoutUnreadable(planned, content)
  const fileRows = buildFileRows(plan, content)
  const contexts: Rows<'contexts'> = []
  const packages = new Map<RepoPath, RowOf<'packages'>>()
  const listings = new Map<RepoPath, RowOf<'skills'>>()
  const listed: ListedContexts = new Map()
  for (const planned of plan.skills) {
    yield
    const context = buildContext(planned, plan, content, fileRows)
    contexts.push([planned.skill.path, context])
    const packaged = packageRow(planned, context, content)
    if (packaged) packages.set(planned.skill.path, packaged)
    if (planned.skill.internal) continue
    listings.set(planned.skill.path, buildListing(planned, context))
    listed.set(planned.skill.path, { planned, context })
  }
  const originals = new Map(plan.skills.map(({ skill, copyOf }) => [skill.path, copyOf?.skill.path]))
  const folders = buildFolders(plan, content, listings)
  const documents: Rows<'documents'> = plan.files
    .filter(planned => planned.kind === 'document')
    .map(planned => [planned.file.path, { ...documentListing(planned.file.path, content), ...unservedFields(planned, plan) }])
  const pages: Rows<'pages'> = pagesOf(plan, content).map(({ path, skillDirectory }) => {
    return [pageKey(skillDirectory, path), documentListing(path, content)]
  })
  const ofSkills = contexts.filter(([path]) => listings.has(path as RepoPath)).flatMap(ownDiagnostics)
  const diagnostics = buildDiagnostics(plan, [
    ...folders.diagnostics,
    ...includeDiagnostics(content.manifestFailures),
    ...missingRules(plan),
    ...ofSkills,
  ])
  const manifests: Rows<'manifests'> = sortRows(
    [...plan.policy.manifests.values()].map(manifest => [
      manifest.path,
      manifestMetadata(manifest, manifestsAbove(plan.policy.manifests, manifest.folder)),
    ]),
  )
  const delivered = yield* buildDelivered({ plan, content, fileRows, contexts: listed })
  if (plan.visibility === 'public') {
    const ownContexts = contexts.filter(([path, { target }]) => target === undefined || listings.has(path as RepoPath))
    for (const [folder, unlicensed] of unlicensedFolders([...ownContexts, ...documents], folders.rows)) {
      const row = folders.rows.get(folder)
      if (row) folders.rows.set(folder, { ...row, unlicensed })
    }
  }
  const files = new Map([...fileRows, ...linkRows(plan, fileRows)])
  const whole = yield* buildWholeTree(plan, content, { folders: folders.rows, entries: folders.entries, files, contexts })
  const rootFolder = whole.folders.get(ROOT) as FolderRow
  const rootManifest = plan.policy.manifests.get(ROOT)

  return {
    tables: {
      folders: sortRows([...whole.folders]),
      entries: sortRows(whole.entries),
      others: whole.others,
      manifests,
      skills: [...listings],
      documents,
      pages: sortRows(pages),
      diagnostics: diagnostics.map((diagnostic, index) => [`${diagnostic.path}\0${String(index).padStart(6, '0')}`, diagnostic]),
      files: sortRows([...files]),
      packages: [...packages].map(([path, row]) => [path, withOriginal(row, originals.get(path), packages)]),
      contexts,
      delivered,
      hosts: hostsOf(delivered),
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

// A file whose blob is missing is left out, with a diagnostic.
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
  // Of these only a pointer was meant as a text.
  for (const { file } of content.linked) {
    const row = rows.get(file.path)
    if (row?.refusal === 'file.not_text' && row.inLfs === undefined) rows.delete(file.path)
  }
  return rows
}

function fileRow(file: TreeFile, served: boolean, content: Content): FileRow | null {
  if (file.sizeBytes === null) return null
  const place = { sizeBytes: file.sizeBytes, ...(file.target === undefined ? {} : { target: file.target }) }
  if (!served) return { ...place, refusal: 'file.not_served' }
  const stored = content.storedOf(file.oid)
  const known = { ...place, ...stored, ...(file.mode === '100755' ? { executable: true as const } : {}) }
  if (file.sizeBytes > READABLE_FILE_BYTES) return { ...known, refusal: 'file.too_large' }
  if (content.recordOf(file.oid)) return known
  const state = content.stateOf(file.oid)
  if (state === 'in_lfs') return { ...known, refusal: 'file.not_text', inLfs: true }
  return isBinaryName(file.path) || state === 'not_text' ? { ...known, refusal: 'file.not_text' } : null
}

/** Symlinks outside of skills are read at their own paths, whatever their names, where what they lead to is. */
function linkRows({ policy, isServed, licenseOfFile }: Plan, known: ReadonlyMap<RepoPath, FileRow>): Map<RepoPath, FileRow> {
  const skills = skillDirectories(policy)
  const rows = new Map<RepoPath, FileRow>()
  for (const folder of policy.folders) {
    if (policy.withheld.has(folder.path)) continue
    for (const file of folder.files.values()) {
      const { path, target } = file
      const row = target === undefined || known.has(path) ? undefined : known.get(target)
      if (row?.record === undefined || row.refusal !== undefined || !isOwnLink(file, folder)) continue
      if (policy.withheld.has(path) || ancestorsOf(path).some(above => skills.has(above))) continue
      if (isServed(licenseOfFile(file))) rows.set(path, { ...row, ...(target === undefined ? {} : { target }) })
    }
  }
  return rows
}

/** A copy stands for itself where the skill that it is a copy of cannot be installed: its license file may be too large. */
function withOriginal(
  row: RowOf<'packages'>,
  original: RepoPath | undefined,
  packages: ReadonlyMap<RepoPath, RowOf<'packages'>>,
): RowOf<'packages'> {
  const ofOriginal = original === undefined ? undefined : packages.get(original)
  return ofOriginal === undefined || 'refusal' in ofOriginal || 'refusal' in row ? row : { ...row, copyOf: original }
}

/** A client that installs a skill expects all that an agent needs of it. */
function packageRow(planned: PlannedSkill, { full }: RowOf<'contexts'>, content: Content): RowOf<'packages'> | null {
  const row = content.packageOf(planned)
  return row && full?.incomplete ? { refusal: reason('notAllThere') } : row
}

function documentListing(path: RepoPath, content: Content): DocumentListing {
  return { path, title: titleOf(path, content), summary: content.factsOf(path)?.summary ?? '' }
}

/** Those at the skill itself. A fault of a manifest above is told of the manifest, for every mount alike. */
function ownDiagnostics([path, { diagnostics }]: Rows<'contexts'>[number]): DiagnosticRow[] {
  return diagnostics.filter(diagnostic => diagnostic.path === path)
}

/** The manifests whose rules exceed the limits of a chain. */
function missingRules({ policy: { manifests } }: Plan): DiagnosticRow[] {
  return [...manifests.values()]
    .filter(({ rules }) => rules !== null)
    .flatMap(({ path, folder }) => ruleChain(manifestsAbove(manifests, folder)).diagnostics.filter(one => one.path === path))
}

function buildDiagnostics(plan: Plan, ofRows: readonly DiagnosticRow[]): DiagnosticRow[] {
  const all = [...plan.tree.diagnostics, ...plan.policy.diagnostics, ...plan.diagnostics, ...ofRows]
  // A malformed `include` is found when the manifest is read, and again when it is resolved.
  const unique = new Map(all.map(diagnostic => [canonicalJson(diagnostic), diagnostic]))
  return [...unique.values()]
    .filter(diagnostic => isShown(diagnostic, plan))
    .sort((left, right) => compareBytes(left.path, right.path))
}

/** No diagnostic names a withheld path, except that of a manifest: it closes its folder, or it is excluded and keeps its effect. */
function isShown({ path, boundary }: DiagnosticRow, { policy }: Plan): boolean {
  const isManifest = policy.manifests.get(parentOf(path as RepoPath))?.path === path
  return boundary !== undefined || isManifest || policy.reasonOf(path as RepoPath) === null
}
