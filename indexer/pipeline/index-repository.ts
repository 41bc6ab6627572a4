import { runYielding } from '#core/concurrency/yielding.ts'
import {
  INDEX_PROCESSOR_SECONDS,
  INDEXED_TEXT_BYTES,
  LINK_HOPS,
  LINKED_ENTRIES,
  MANIFEST_BYTES,
  PATH_BYTES,
  READABLE_FILE_BYTES,
} from '#core/limits.ts'
import type { HostRepository, TreeEntry } from '#core/ports/git-host.ts'
import { MANIFEST_FILE } from '#core/repo-path.ts'
import type { DiagnosticRow } from '#core/snapshot/finding-rows.ts'
import { compareBytes, decodeText } from '#core/text.ts'
import { finding, reason } from '#words/findings.ts'
import type { Said } from '#words/t.ts'
import { assembleInSteps } from '../rules/assemble.ts'
import { readFileText } from '../rules/content-kind.ts'
import { createLicenseResolver, type DeclaredLicense, LICENSE_TEXT_BYTES, type LicenseResolver } from '../rules/license/index.ts'
import type { Manifest } from '../rules/manifest.ts'
import { limitDiagnostic, type Plan, planContent, skillCandidates, skillDirectories } from '../rules/plan.ts'
import { type ParsedSkill, parseSkill } from '../rules/skill.ts'
import { buildTree, sumDistinctBytes, type Tree, type TreeFile } from '../rules/tree.ts'
import { applyManifestsInSteps, type Policy } from '../rules/withheld.ts'
import type { BlobReader, RepositoryTree } from '../snapshot/repository-tree.ts'
import type { SnapshotWriter } from '../snapshot/snapshot-writer.ts'
import { IndexError } from './index-error.ts'
import { type IndexOptions, NO_TIME_USED, TIME_SHARES, type UsedTime } from './progress.ts'
import { readContent } from './read-content.ts'
import { readFindings } from './read-findings.ts'
import { withAskedSizes } from './read-tree.ts'

type IndexedRepository = Pick<HostRepository, 'name' | 'visibility'>

/**
 * Turns a repository whose tree was read into a snapshot.
 *
 * Blobs are read in rounds, and pure functions over what is known by then select each of them: where symlinks lead; the manifests; the skills
 * and the license texts; the content, a file at a time. The same commit gives the same objects, unless `usedTime` left files out: which ones depends
 * on the machine.
 *
 * @throws IndexError, ReadError, or an error of the writer
 */
export async function indexRepository<Written>(
  writer: SnapshotWriter<Written>,
  { entries, ...blobs }: RepositoryTree,
  repository: IndexedRepository,
  options: IndexOptions = {},
): Promise<Written> {
  const { onProgress = () => {}, search = null, signal, committedAt } = options
  const asked = withAskedSizes(entries)
  const tree = buildTree(asked, await readLinkTexts(blobs, asked))
  signal?.throwIfAborted()

  onProgress({ stage: 'policy', done: 0, total: null })
  const { plan: whole, truncated } = await readPlan(blobs, tree, repository, options)
  signal?.throwIfAborted()

  const { content, plan, section } = await readContent(blobs, writer, whole, search, options)
  signal?.throwIfAborted()

  onProgress({ stage: 'write', done: 0, total: null })
  const assembled = await runYielding(assembleInSteps(plan, content), signal)
  const { root } = assembled
  const tables = { ...assembled.tables, findings: await readFindings(blobs, plan, assembled, signal) }
  for (const name of Object.keys(tables).sort() as (keyof typeof tables)[]) await writer.addTable(name, tables[name] as never)
  await options.confirm?.()
  signal?.throwIfAborted()
  const isPartial = truncated || plan.truncated
  return writer.finish({ ...(committedAt ? { committedAt } : {}), truncated: isPartial, search: section, root })
}

/**
 * Reads manifests, skills and licenses, and plans the content.
 *
 * @returns `truncated`: a limit left something out
 */
async function readPlan(
  blobs: BlobReader,
  tree: Tree,
  repository: IndexedRepository,
  { signal, usedTime }: IndexOptions,
): Promise<{ plan: Plan; truncated: boolean }> {
  const policy = await runYielding(applyManifestsInSteps(tree, await readManifests(blobs, tree), repository.name), signal)
  const skills = await readSkills(blobs, policy, repository.name, usedTime)
  const { licenses, dropped } = await readLicenses(blobs, tree, policy, skills.parsed)
  const plan = planContent(tree, policy, skills.parsed, licenses, repository.visibility)
  plan.diagnostics.push(...skills.diagnostics)
  if (dropped > 0) {
    plan.diagnostics.push(limitDiagnostic(finding('index.limit_bytes:licenses', { n: dropped, limit: INDEXED_TEXT_BYTES })))
  }
  return { plan, truncated: plan.truncated || skills.truncated || dropped > 0 }
}

/** Reads where the symlinks lead: the first ones in path order, which are those that are followed. */
async function readLinkTexts(blobs: BlobReader, entries: readonly TreeEntry[]): Promise<Map<string, string>> {
  const links = entries
    .filter(({ path, mode }) => path !== null && mode === '120000')
    .sort((left, right) => compareBytes(left.path ?? '', right.path ?? ''))
    .slice(0, LINKED_ENTRIES)
    .filter(({ sizeBytes }) => sizeBytes !== null && sizeBytes <= PATH_BYTES)
  const texts = new Map<string, string>()
  for await (const { oid, bytes } of blobs.read(new Set(links.map(link => link.oid)), PATH_BYTES)) {
    const text = bytes === null ? null : decodeText(bytes)
    if (text !== null) texts.set(oid, text)
  }
  return texts
}

/** Reads the manifests. The returned function answers with the bytes of a blob; `null` for a missing or too large one. */
export async function readManifests(blobs: BlobReader, tree: Tree): Promise<(oid: string) => Uint8Array | null> {
  const files = [...tree.folders.values()].flatMap(folder => folder.files.get(MANIFEST_FILE) ?? [])
  const wanted = files.filter(file => file.sizeBytes !== null && file.sizeBytes <= MANIFEST_BYTES)
  if (sumDistinctBytes(wanted) > INDEXED_TEXT_BYTES)
    throw new IndexError('index.manifests_unreadable', `the manifests exceed ${INDEXED_TEXT_BYTES} bytes`)
  const bytes = await readBlobs(blobs, wanted, MANIFEST_BYTES)
  return oid => bytes.get(oid) ?? null
}

interface ReadSkills {
  parsed: ParsedSkill[]
  /** A limit left skills out. */
  truncated: boolean
  diagnostics: DiagnosticRow[]
}

/** Reads and parses the skills that the limits allow. */
export async function readSkills(
  blobs: BlobReader,
  policy: Policy,
  repositoryName: string,
  usedTime: UsedTime = NO_TIME_USED,
): Promise<ReadSkills> {
  const { files, dropped } = skillCandidates(policy)
  const { readable, unreadable, overBudget } = selectSkills(files)
  const diagnostics = [...unreadable]
  if (dropped > 0) diagnostics.push(limitDiagnostic(finding('index.limit_skills', { n: dropped, limit: files.length })))
  if (overBudget > 0) {
    diagnostics.push(limitDiagnostic(finding('index.limit_bytes:skills', { n: overBudget, limit: INDEXED_TEXT_BYTES })))
  }

  const parsed: ParsedSkill[] = []
  let links = 0
  let at = 0
  let late = 0
  for await (const { bytes } of blobs.read(oidsOf(readable), READABLE_FILE_BYTES)) {
    const file = readable[at++] as TreeFile
    if (late > 0 || usedTime() > TIME_SHARES.parsedSkills) {
      late++
      continue
    }
    const read = bytes === null ? MISSING : readFileText(bytes)
    if (read.kind !== 'text') {
      diagnostics.push(unreadableSkill(file, UNREADABLE[read.kind]))
      continue
    }
    const skill = parseSkill(file.path, read.text, repositoryName)
    links += skill.links?.length ?? 0
    parsed.push(links > KEPT_LINKS ? { ...skill, links: null } : skill)
  }
  if (late > 0) {
    diagnostics.push(limitDiagnostic(finding('index.limit_time:skills', { n: late, limit: INDEX_PROCESSOR_SECONDS })))
  }
  return { parsed, truncated: dropped > 0 || overBudget > 0 || late > 0, diagnostics }
}

const MISSING = { kind: 'missing' } as const
const UNREADABLE = {
  missing: reason('missingBlob'),
  not_text: reason('notText'),
  in_lfs: reason('textInLfs'),
  too_large: reason('largerThan', { limit: READABLE_FILE_BYTES }),
}

/** Links of all skills that are kept; a link takes some hundred bytes. */
const KEPT_LINKS = 50_000

/** Selects skills by size: those too large to read, and those beyond the text of one snapshot, are left out. Equal ones count once. */
function selectSkills(files: readonly TreeFile[]): { readable: TreeFile[]; unreadable: DiagnosticRow[]; overBudget: number } {
  const readable: TreeFile[] = []
  const unreadable: DiagnosticRow[] = []
  const counted = new Set<string>()
  let leftBytes = INDEXED_TEXT_BYTES
  let overBudget = 0
  for (const file of files) {
    if (file.sizeBytes === null) unreadable.push(unreadableSkill(file, reason('missingBlob')))
    else if (file.sizeBytes > READABLE_FILE_BYTES) unreadable.push(unreadableSkill(file, UNREADABLE.too_large))
    else if (counted.has(file.oid)) readable.push(file)
    else if (file.sizeBytes > leftBytes) overBudget++
    else {
      leftBytes -= file.sizeBytes
      counted.add(file.oid)
      readable.push(file)
    }
  }
  return { readable, unreadable, overBudget }
}

function unreadableSkill(file: TreeFile, why: Said): DiagnosticRow {
  return { ...finding('skill.unreadable', { why }), severity: 'error', path: file.path }
}

/** Reads license texts. `dropped` counts those beyond `INDEXED_TEXT_BYTES`. */
export async function readLicenses(
  blobs: BlobReader,
  tree: Tree,
  policy: Policy,
  skills: readonly ParsedSkill[],
): Promise<{ licenses: LicenseResolver; dropped: number }> {
  const texts = new Map<string, string | null>()
  const parsed = new Map(skills.map(skill => [skill.directory, skill]))
  const directories = skillDirectories(policy)
  const resolver = createLicenseResolver({
    filesIn: folder => tree.folders.get(folder)?.files ?? NO_FILES,
    textOf: oid => texts.get(oid),
    skillIn: folder => (directories.has(folder) ? declaredLicense(parsed.get(folder)) : null),
    manifestIn: folder => manifestLicense(policy.manifests.get(folder)),
    isWithheld: path => policy.reasonOf(path) !== null,
  })
  let leftBytes = INDEXED_TEXT_BYTES
  let dropped = 0
  const folders = policy.folders.map(folder => folder.path)
  for (let round = 0; round < LICENSE_ROUNDS; round++) {
    const missing = resolver.missing(folders)
    if (missing.length === 0) break
    for await (const { oid, bytes } of blobs.read(missing, LICENSE_TEXT_BYTES)) {
      const isOver = bytes !== null && bytes.length > leftBytes
      if (isOver) dropped++
      else leftBytes -= bytes?.length ?? 0
      // A dropped text counts as unreadable: files under it are only described.
      texts.set(oid, bytes === null || isOver ? null : decodeText(bytes))
    }
  }
  return { licenses: resolver, dropped }
}

/** What the front matter of a skill declares. `undefined`: its `SKILL.md` was not read as text, or lies beyond a limit. */
function declaredLicense(skill: ParsedSkill | undefined): DeclaredLicense | 'unread' {
  return skill === undefined || skill.hidesLicense ? 'unread' : { license: skill.frontMatter.license, line: skill.licenseLine }
}

const NO_FILES: ReadonlyMap<string, TreeFile> = new Map()
/** Each round follows one symlink of those that the tree has not followed. Then come a file, and the license that it names. */
const LICENSE_ROUNDS = LINK_HOPS + 2

function manifestLicense(manifest: Manifest | undefined): DeclaredLicense | null {
  if (!manifest) return null
  const { license, licenseLine: line } = manifest
  return { license: typeof license === 'string' ? license : license === undefined ? undefined : '', line }
}

async function readBlobs(
  blobs: BlobReader,
  files: readonly TreeFile[],
  maxBytes: number,
): Promise<Map<string, Uint8Array | null>> {
  const read = new Map<string, Uint8Array | null>()
  for await (const { oid, bytes } of blobs.read([...new Set(oidsOf(files))], maxBytes)) read.set(oid, bytes)
  return read
}

function oidsOf(files: readonly TreeFile[]): string[] {
  return files.map(file => file.oid)
}
