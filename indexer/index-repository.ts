import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Diagnostic, IndexErrorCode } from '#core/contract/shared.ts'
import { INDEXED_TEXT_BYTES, MANIFEST_BYTES, READABLE_FILE_BYTES } from '#core/limits.ts'
import type { HostRepository, RepositoryReader, TreeEntry } from '#core/ports/git-host.ts'
import { parentOf, type RepoPath } from '#core/repo-path.ts'
import { formatOwners } from '#core/search/owners.ts'
import { compareBytes, countCharacters } from '#core/text.ts'
import { assemble, byPath, type Content } from './build/assemble.ts'
import { titleOfName } from './build/document.ts'
import { readableText } from './build/file-text.ts'
import { includeCandidates, resolveIncludes } from './build/includes.ts'
import { createLicenseResolver, LICENSE_TEXT_BYTES, type LicenseResolver } from './build/license/index.ts'
import { MANIFEST_FILE, type Manifest } from './build/manifest.ts'
import { licensePlaces, limitDiagnostic, type Plan, type PlannedSkill, planContent, skillCandidates } from './build/plan.ts'
import { manifestsAbove } from './build/rule-chain.ts'
import { createSearchBuilder, type SearchBuilder } from './build/search.ts'
import { type ParsedSkill, parseSkill } from './build/skill.ts'
import {
  createFolderExpansion,
  documentTargets,
  followLinks,
  type LinkedText,
  linkedOnly,
  linksOfRules,
  linksOfText,
  type SkillLinks,
} from './build/skill-links.ts'
import { buildTree, type Tree, type TreeFile } from './build/tree.ts'
import { applyManifestsInSteps, type Policy } from './build/withheld.ts'
import { type ContentStore, createContentStore, type FileContent, type WantedFile } from './content-store.ts'
import type { SnapshotWriter } from './snapshot-writer.ts'

/** The repository cannot be indexed. */
export class IndexError extends Error {
  readonly code: IndexErrorCode

  constructor(code: IndexErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'IndexError'
    this.code = code
  }
}

/** Where a job is. `total` is `null` while it is not known. */
export interface Progress {
  stage: 'tree' | 'policy' | 'content' | 'write'
  done: number
  total: number | null
}

export interface IndexOptions {
  onProgress?: (progress: Progress) => void
  /** Aborted when the job must stop: out of time, or no longer ours. Its reason is thrown. */
  signal?: AbortSignal
}

/**
 * Turns an opened repository into a snapshot, from its tree to the header.
 *
 * Bytes are read in three rounds, each decided by pure functions over what is known by then: manifests; skills and licences;
 * then the content, a file at a time. The same commit gives the same objects.
 *
 * @throws IndexError, ReadError, or whatever the writer throws
 */
export async function indexRepository<Written>(
  writer: SnapshotWriter<Written>,
  reader: RepositoryReader,
  repository: Pick<HostRepository, 'name' | 'visibility'>,
  options: IndexOptions = {},
): Promise<Written> {
  const { onProgress = () => {}, signal } = options

  const tree = buildTree(await readEntries(reader, onProgress))
  signal?.throwIfAborted()

  onProgress({ stage: 'policy', done: 0, total: null })
  const policy = await inTurns(applyManifestsInSteps(tree, await readManifests(reader, tree), repository.name), signal)
  const skills = await readSkills(reader, policy, repository.name)
  const { licenses, dropped } = await readLicenses(reader, tree, policy, skills.parsed)
  const plan = planContent(tree, policy, skills.parsed, licenses, repository.visibility)
  plan.diagnostics.push(...skills.diagnostics)
  if (dropped > 0)
    plan.diagnostics.push(
      limitDiagnostic('index.limit_bytes', `${dropped} license texts left out behind ${INDEXED_TEXT_BYTES} bytes of them`),
    )
  signal?.throwIfAborted()

  const search = createSearchBuilder()
  const content = await readContent(reader, writer, plan, search, options)
  signal?.throwIfAborted()

  onProgress({ stage: 'write', done: 0, total: null })
  const { tables, root } = assemble(plan, content)
  for (const name of Object.keys(tables).sort() as (keyof typeof tables)[]) await writer.addTable(name, tables[name] as never)
  const { items, terms, spelling, owners } = search.finish()
  await writer.addTable('searchItems', items)
  await writer.addTable('searchTerms', terms)
  await writer.addTable('searchSpelling', spelling)
  const searchOwners = owners.length === 0 ? null : await writer.addRecord(formatOwners(owners))
  signal?.throwIfAborted()
  return writer.finish({ truncated: plan.truncated || skills.truncated || dropped > 0, searchOwners, root })
}

async function readEntries(reader: RepositoryReader, onProgress: (progress: Progress) => void): Promise<TreeEntry[]> {
  const entries: TreeEntry[] = []
  for await (const entry of reader.entries()) {
    if (entries.push(entry) % 10_000 === 0) onProgress({ stage: 'tree', done: entries.length, total: null })
  }
  // A manifest that was not seen may exclude what was: a part of the tree cannot be delivered.
  if (reader.cut) throw new IndexError('index.too_large', `more than ${entries.length} tree entries`)
  onProgress({ stage: 'tree', done: entries.length, total: entries.length })
  return entries
}

async function readManifests(reader: RepositoryReader, tree: Tree): Promise<(oid: string) => Uint8Array | null> {
  const files = [...tree.folders.values()].flatMap(folder => folder.files.get(MANIFEST_FILE) ?? [])
  const wanted = files.filter(file => file.sizeBytes !== null && file.sizeBytes <= MANIFEST_BYTES)
  if (sumBytes(wanted) > INDEXED_TEXT_BYTES)
    throw new IndexError('index.manifests_unreadable', `more than ${INDEXED_TEXT_BYTES} bytes of manifests`)
  const bytes = await readBlobs(reader, wanted, MANIFEST_BYTES)
  return oid => bytes.get(oid) ?? null
}

interface ReadSkills {
  parsed: ParsedSkill[]
  truncated: boolean
  diagnostics: Diagnostic[]
}

async function readSkills(reader: RepositoryReader, policy: Policy, repositoryName: string): Promise<ReadSkills> {
  const { files, dropped } = skillCandidates(policy)
  const read: ReadSkills = { parsed: [], truncated: dropped > 0, diagnostics: [] }
  const readable: TreeFile[] = []
  let leftBytes = INDEXED_TEXT_BYTES
  let overBudget = 0
  for (const file of files) {
    if (file.sizeBytes === null) read.diagnostics.push(unreadableSkill(file, 'its blob cannot be read'))
    else if (file.sizeBytes > READABLE_FILE_BYTES)
      read.diagnostics.push(unreadableSkill(file, `larger than ${READABLE_FILE_BYTES} bytes`))
    else if (file.sizeBytes > leftBytes) overBudget++
    else {
      leftBytes -= file.sizeBytes
      readable.push(file)
    }
  }
  if (dropped > 0)
    read.diagnostics.push(limitDiagnostic('index.limit_skills', `${dropped} skills left out behind the first ${files.length}`))
  if (overBudget > 0) {
    read.truncated = true
    read.diagnostics.push(
      limitDiagnostic('index.limit_bytes', `${overBudget} skills left out behind ${INDEXED_TEXT_BYTES} bytes`),
    )
  }

  let at = 0
  for await (const { bytes } of reader.read(oidsOf(readable), READABLE_FILE_BYTES)) {
    const file = readable[at++] as TreeFile
    const text = bytes === null ? null : readableText(bytes)
    if (text === null) read.diagnostics.push(unreadableSkill(file, bytes === null ? 'its blob cannot be read' : 'not UTF-8 text'))
    else read.parsed.push(parseSkill(file.path, text, repositoryName))
  }
  return read
}

function unreadableSkill(file: TreeFile, message: string): Diagnostic {
  return { code: 'skill.unreadable', severity: 'error', path: file.path, message }
}

async function readLicenses(
  reader: RepositoryReader,
  tree: Tree,
  policy: Policy,
  skills: readonly ParsedSkill[],
): Promise<{ licenses: LicenseResolver; dropped: number }> {
  const texts = new Map<string, string | null>()
  const licensesOfSkills = new Map(skills.map(skill => [skill.directory, { license: skill.frontMatter.license }]))
  const resolver = createLicenseResolver({
    filesIn: folder =>
      (tree.folders.get(folder)?.files ?? NO_FILES) as ReadonlyMap<string, TreeFile & { mode: '100644' | '100755' | '120000' }>,
    textOf: oid => texts.get(oid),
    skillIn: folder => licensesOfSkills.get(folder) ?? null,
    manifestIn: folder => manifestLicense(policy.manifests.get(folder)),
  })
  let leftBytes = INDEXED_TEXT_BYTES
  let dropped = 0
  const places = licensePlaces(policy, skills)
  for (let round = 0; round < LICENSE_ROUNDS; round++) {
    const missing = resolver.missing(places)
    if (missing.length === 0) break
    for await (const { oid, bytes } of reader.read(missing, LICENSE_TEXT_BYTES)) {
      const isOver = bytes !== null && bytes.length > leftBytes
      if (isOver) dropped++
      else leftBytes -= bytes?.length ?? 0
      // A text that is left out counts as unreadable, so what it governs is described only.
      texts.set(oid, bytes === null || isOver ? null : readableText(bytes))
    }
  }
  return { licenses: resolver, dropped }
}

const NO_FILES: ReadonlyMap<string, TreeFile> = new Map()
/** A licence text can be a link to another, which can be a link. */
const LICENSE_ROUNDS = 8

function manifestLicense(manifest: Manifest | undefined): { license: ParsedSkill['frontMatter'][string] | undefined } | null {
  if (!manifest) return null
  return { license: typeof manifest.license === 'string' ? manifest.license : manifest.license === undefined ? undefined : '' }
}

/** Reads every file whose text matters, a file at a time and in path order, then what is only linked from there. */
async function readContent(
  reader: RepositoryReader,
  writer: SnapshotWriter<unknown>,
  plan: Plan,
  search: SearchBuilder,
  { onProgress = () => {}, signal }: IndexOptions,
): Promise<Content> {
  const chainOf = memo((folder: RepoPath) => manifestsAbove(plan.policy.manifests, folder))
  const included = new Set(includeCandidates(plan, chainOf).map(file => file.path))
  const planned = byPath(plan.files)
  const skills = new Map(plan.skills.map(skill => [skill.skill.path, skill]))
  const wanted = wantedFiles(plan, included, chainOf)
  const targets = new Set<RepoPath>()
  const characters = new Map<string, number>()

  let done = 0
  const content = createContentStore(reader, writer, () => {
    signal?.throwIfAborted()
    if (++done % 100 === 0) onProgress({ stage: 'content', done, total: wanted.length })
  })
  await content.read(wanted, ({ file }, read) => {
    const found = planned.get(file.path)
    if (found?.kind === 'document' && found.served) {
      for (const target of documentTargets(file.path, read.facts.links, plan.tree, plan.policy)) targets.add(target)
    }
    if (included.has(file.path)) characters.set(file.oid, countCharacters(read.text))
    if (found && found.kind !== 'skill' && !found.owner?.skill.internal) addToSearch(search, found, read)
    const skill = skills.get(file.path)
    if (skill && !skill.skill.internal) addSkillToSearch(search, skill)
  })
  onProgress({ stage: 'content', done, total: wanted.length })

  const includesOf = memo((skill: PlannedSkill) =>
    resolveIncludes(skill, chainOf(skill.skill.directory), plan, oid => content.stateOf(oid) === 'text'),
  )
  const rulesLinks = memo(linksOfRules)
  const filesBelow = createFolderExpansion(plan.files)
  const linksOf = memo((skill: PlannedSkill): SkillLinks => {
    const { directory, body } = skill.skill
    const texts: LinkedText[] = [
      ...chainOf(directory).map(rulesLinks),
      linksOfText(directory, body),
      ...includesOf(skill).files.map(file => ({ folder: parentOf(file.path), links: content.factsOf(file.path)?.links ?? [] })),
    ]
    return followLinks(skill, texts, plan.tree, plan.policy, filesBelow)
  })
  for (const skill of plan.skills) {
    // Every skill below a manifest follows all of its links: the time limit and the lease must get their turns.
    await nextTurn()
    signal?.throwIfAborted()
    if (skill.full) for (const target of linksOf(skill).targets) targets.add(target)
  }

  const linked = linkedOnly(targets, planned, plan.tree)
    .sort((left, right) => compareBytes(left.path, right.path))
    .map(file => ({ file, served: plan.isServed(plan.licenseOf(parentOf(file.path), null)) }))
  await readLinked(content, linked, sumBytes(wanted.map(({ file }) => file)))

  return {
    stateOf: content.stateOf,
    recordOf: content.recordOf,
    factsOf: content.factsOf,
    hiddenIn: content.hiddenIn,
    charactersOf: oid => characters.get(oid) ?? 0,
    includesOf,
    linksOf,
    linked,
  }
}

async function readLinked(
  content: ContentStore,
  linked: readonly { file: TreeFile; served: boolean }[],
  usedBytes: number,
): Promise<void> {
  let leftBytes = INDEXED_TEXT_BYTES - usedBytes
  const wanted: WantedFile[] = []
  for (const { file, served } of linked) {
    if (!served || file.sizeBytes === null || file.sizeBytes > READABLE_FILE_BYTES || file.sizeBytes > leftBytes) continue
    leftBytes -= file.sizeBytes
    wanted.push({ file, keep: true, followed: false })
  }
  await content.read(wanted)
}

/** Files to read, in path order: what is delivered, what is described by its own words, rules and includes of delivered skills. */
function wantedFiles(
  plan: Plan,
  included: ReadonlySet<RepoPath>,
  chainOf: (folder: RepoPath) => readonly Manifest[],
): WantedFile[] {
  const wanted = new Map<RepoPath, WantedFile>()
  const want = (file: TreeFile, keep: boolean) => {
    if (file.sizeBytes === null || file.sizeBytes > READABLE_FILE_BYTES) return
    wanted.set(file.path, { file, keep: keep || wanted.get(file.path)?.keep === true, followed: included.has(file.path) })
  }
  for (const { file, kind, served } of plan.files) {
    if (served || kind === 'document' || kind === 'overview' || kind === 'skill') want(file, served)
  }
  for (const path of included) want(plan.tree.file(path) as TreeFile, true)
  for (const skill of plan.skills) {
    if (skill.full)
      for (const manifest of chainOf(skill.skill.directory))
        if (manifest.rules) want(plan.tree.file(manifest.path) as TreeFile, true)
  }
  return [...wanted.values()].sort((left, right) => compareBytes(left.file.path, right.file.path))
}

function addToSearch(
  search: SearchBuilder,
  { file, kind, owner, served }: { file: TreeFile; kind: string; owner: PlannedSkill | null; served: boolean },
  read: FileContent,
): void {
  if (kind !== 'document' && !(kind === 'supporting' && owner?.full && served)) return
  search.add({
    path: file.path,
    kind: kind === 'document' ? 'document' : 'supporting',
    owner: owner?.skill.path ?? null,
    title: read.facts.title ?? titleOfName(file.path),
    summary: read.facts.summary,
    fields: { description: read.facts.summary, ...(served ? { headings: read.facts.headings, body: read.facts.body } : {}) },
  })
}

function addSkillToSearch(search: SearchBuilder, { skill, full }: PlannedSkill): void {
  const { path, name, description, body, headings } = skill
  search.add({
    path,
    kind: 'skill',
    owner: path,
    title: name,
    summary: '',
    fields: { name, description, ...(full ? { headings, body } : {}) },
  })
}

async function readBlobs(
  reader: RepositoryReader,
  files: readonly TreeFile[],
  maxBytes: number,
): Promise<Map<string, Uint8Array | null>> {
  const blobs = new Map<string, Uint8Array | null>()
  for await (const { oid, bytes } of reader.read(oidsOf(files), maxBytes)) blobs.set(oid, bytes)
  return blobs
}

function oidsOf(files: readonly TreeFile[]): string[] {
  return files.map(file => file.oid)
}

function sumBytes(files: readonly TreeFile[]): number {
  return files.reduce((sum, file) => sum + (file.sizeBytes ?? 0), 0)
}

/** Takes the steps of a long walk, and lets the process look after its timers and the lease between them. */
async function inTurns<Result>(steps: Generator<void, Result>, signal: AbortSignal | undefined): Promise<Result> {
  let turnEndsAt = performance.now() + TURN_MILLISECONDS
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    if (performance.now() < turnEndsAt) continue
    await nextTurn()
    signal?.throwIfAborted()
    turnEndsAt = performance.now() + TURN_MILLISECONDS
  }
}

const TURN_MILLISECONDS = 50

function memo<Key, Value>(compute: (key: Key) => Value): (key: Key) => Value {
  const known = new Map<Key, Value>()
  return key => {
    if (!known.has(key)) known.set(key, compute(key))
    return known.get(key) as Value
  }
}
