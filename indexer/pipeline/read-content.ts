import { yieldToEventLoop } from '#core/concurrency/yielding.ts'
import { INDEXED_TEXT_BYTES, READABLE_FILE_BYTES, REFERENCES } from '#core/limits.ts'
import { READ_FIRST } from '#core/read-first.ts'
import { baseNameOf, parentOf, type RepoPath } from '#core/repo-path.ts'
import type { Location, SearchSection } from '#core/snapshot/format.ts'
import { compareBytes } from '#core/text.ts'
import type { Content, ContextMeasures } from '../rules/content-facts.ts'
import { isBinaryName, isProse } from '../rules/content-kind.ts'
import { foldCopies } from '../rules/copies.ts'
import { titleOfName } from '../rules/document.ts'
import {
  includeCandidates,
  type ManifestChain,
  manifestIncludeCandidates,
  manifestIncludeFailures,
  resolveIncludes,
} from '../rules/includes.ts'
import { tellLeftOut, withoutFiles } from '../rules/left-out.ts'
import { readmeRank } from '../rules/license/names.ts'
import type { Manifest } from '../rules/manifest.ts'
import { planPackages } from '../rules/packages.ts'
import { byPath, type Plan, type PlannedFile, type PlannedSkill } from '../rules/plan.ts'
import { manifestsAbove } from '../rules/rule-chain.ts'
import {
  createFolderExpansion,
  documentTargets,
  followLinks,
  type LinkedText,
  linkedOnly,
  linksOfRules,
  linksOfText,
  type SkillLinks,
} from '../rules/skill-links.ts'
import { sumDistinctBytes, type TreeFile } from '../rules/tree.ts'
import type { SearchBuilder } from '../search/builder.ts'
import type { Originals, SearchInput } from '../search/input.ts'
import type { BlobReader } from '../snapshot/repository-tree.ts'
import type { SnapshotWriter } from '../snapshot/snapshot-writer.ts'
import { ContentStore, type FileDescription, type FileReading, type WantedFile } from './content-store.ts'
import { measureContexts } from './context-measures.ts'
import { PackageArchives } from './package-archives.ts'
import { type IndexOptions, NO_TIME_USED, TIME_SHARES } from './progress.ts'

/**
 * Reads the content of a planned snapshot in two rounds, each in path order and a file at a time: the files of the plan, then the files that
 * only links lead to. The search section is written once all of them are read.
 *
 * @returns `plan`: without the files for which the time did not suffice, with the originals of copies
 */
export async function readContent(
  blobs: BlobReader,
  writer: SnapshotWriter<unknown>,
  whole: Plan,
  search: Pick<SearchBuilder, 'add' | 'finish'> | null,
  options: IndexOptions,
): Promise<{ content: Content; plan: Plan; section: SearchSection | null }> {
  const chainOf = memo((folder: RepoPath) => manifestsAbove(whole.policy.manifests, folder))
  const included = new Set(includeCandidates(whole, chainOf).map(file => file.path))
  const planned = byPath(whole.files)
  const packages = new PackageArchives(planPackages(whole))
  const wanted = wantedFiles(whole, planned, { included, packages, chainOf })

  const isLeftOut = leavesOut(planned, options)
  const store = new ContentStore(blobs, writer, packages, { isLeftOut, onFile: countFiles(wanted.length, options) })
  const targets = await readPlanned(store, wanted, { plan: whole, planned, search })
  foldCopies(whole, store.leftOut)
  const plan = withoutFiles(whole, store.leftOut)
  options.onProgress?.({ stage: 'content', done: wanted.length, total: wanted.length })

  const stateOf = (oid: string) => store.stateOf(oid)
  const includesOf = memo(({ skill }: PlannedSkill) => resolveIncludes(chainOf(skill.directory), skill, plan, stateOf))
  const followLinksOf = linkReader(store, plan, chainOf, includesOf)
  const kept = new Map<PlannedSkill, SkillLinks>()
  for (const skill of plan.skills) {
    // Every skill below a manifest follows all links of its rules: give the time limit and the lease their turns.
    await yieldToEventLoop(options.signal)
    if (!skill.full) continue
    const links = followLinksOf(skill)
    for (const target of links.targets) targets.add(target)
    // Longer lists are followed again: those of thousands of skills would not fit into memory.
    if (links.targets.length <= REFERENCES) kept.set(skill, links)
  }

  const linked = linkedOnly(new Set([...targets, ...included]), planned, plan.tree)
    .sort((left, right) => compareBytes(left.path, right.path))
    .map(file => ({ file, served: included.has(file.path) || mayCopy(plan, file) }))
  const unread = linked.filter(({ file }) => !included.has(file.path))
  const { selected, overBudget } = selectLinked(unread, wanted, oid => store.recordOf(oid) !== null)
  await store.read(selected)
  // All records are added. The search section comes next: a second processor writes it while this one measures skills.
  const [section, { measures, textFacts }] = await both(
    search?.finish(originalsOf(plan)) ?? Promise.resolve(null),
    measureContexts(blobs, plan.skills, { chainOf, includesOf }, options.signal),
  )
  const packageRows = await packages.rows(blobs, oid => stateOf(oid) === 'text')

  const content: Content = {
    stateOf,
    recordOf: oid => store.recordOf(oid),
    storedOf: oid => store.storedOf(oid),
    measuresOf: skill => measures.get(skill) ?? NOTHING,
    textFacts,
    packageOf: skill => packageRows.get(skill) ?? null,
    factsOf: path => store.factsOf(path),
    deliveredIn: path => store.deliveredIn(path),
    hiddenIn: path => store.hiddenIn(path),
    charactersOf: oid => store.charactersOf(oid),
    includesOf,
    manifestFailures: manifestIncludeFailures(plan, stateOf),
    linksOf: skill => kept.get(skill) ?? followLinksOf(skill),
    linked,
  }
  const lateSkills = whole.skills.length - plan.skills.length
  return { content, plan: tellLeftOut(plan, { late: store.leftOut.size, lateSkills, overBudget }), section }
}

function originalsOf({ skills }: Plan): Originals {
  return new Map(skills.flatMap(({ skill, copyOf }) => (copyOf === null ? [] : [[skill.path, copyOf.skill.path]])))
}

/** The values of both, once neither goes on: after a failure, too. */
async function both<Left, Right>(left: Promise<Left>, right: Promise<Right>): Promise<[Left, Right]> {
  await Promise.allSettled([left, right])
  return Promise.all([left, right])
}

/** The measures of a skill that is described without a copy: agents receive nothing of it. */
const NOTHING: ContextMeasures = {
  sha256: null,
  rules: [],
  body: 0,
  includes: [],
  budget: { bytes: 0, tokens: 0, pages: 0 },
  texts: [],
  facts: {},
}

/**
 * Which files are left out once most of the time is used. A skill that was begun is finished, so that the search section has the `SKILL.md` of each
 * supporting file. Manifests and required reading stay: without them no skill is whole.
 */
function leavesOut(
  planned: ReadonlyMap<RepoPath, PlannedFile>,
  { usedTime = NO_TIME_USED }: IndexOptions,
): FileReading['isLeftOut'] {
  const begun = new Set<PlannedSkill>()
  return ({ file, followed }) => {
    const { kind, owner } = planned.get(file.path) ?? { kind: 'document', owner: null }
    const isSkill = kind === 'skill'
    const mayLeave = !followed && kind !== 'manifest' && !(isSkill && owner && begun.has(owner))
    const isLeft = mayLeave && usedTime() > (isSkill ? TIME_SHARES.skills : TIME_SHARES.files)
    if (!isLeft && owner) begun.add(owner)
    return isLeft
  }
}

/** The license of the skill that owns a file counts, also where the file is no part of what the skill delivers. */
function mayCopy(plan: Plan, file: TreeFile): boolean {
  return plan.isServed(plan.licenseOfFile(file))
}

/**
 * Reports every hundredth file of the plan; those that only links lead to are read afterwards. The returned function throws the reason of `signal`
 * once that is aborted.
 */
function countFiles(total: number, { onProgress = () => {}, signal }: IndexOptions): () => void {
  let done = 0
  return () => {
    signal?.throwIfAborted()
    if (++done % 100 === 0 && done < total) onProgress({ stage: 'content', done, total })
  }
}

interface PlannedReading {
  plan: Plan
  planned: ReadonlyMap<RepoPath, PlannedFile>
  search: Pick<SearchBuilder, 'add'> | null
}

/** Reads the wanted files and adds them to the search section. Returns the link targets of served documents. */
async function readPlanned(
  content: ContentStore,
  wanted: readonly WantedFile[],
  { plan, planned, search }: PlannedReading,
): Promise<Set<RepoPath>> {
  const skills = new Map(plan.skills.map(skill => [skill.skill.path, skill]))
  const targets = new Set<RepoPath>()
  await content.read(wanted, ({ file }, description, record) => {
    const found = planned.get(file.path)
    if (found?.kind === 'document' && found.served && description) {
      for (const target of documentTargets(file.path, description.facts.links, plan.tree, plan.policy)) targets.add(target)
    }
    // It is required reading of another skill, too.
    const isOfLate = found?.owner != null && content.leftOut.has(found.owner.file.path)
    const input = isOfLate ? null : searchInputOf(file, found, skills.get(file.path), description, record)
    if (input !== null) return search?.add(input)
  })
  return targets
}

/** The links of a skill's required reading: rules, body, includes. */
function linkReader(
  content: ContentStore,
  plan: Plan,
  chainOf: ManifestChain,
  includesOf: Content['includesOf'],
): Content['linksOf'] {
  const rulesLinks = memo(linksOfRules)
  const filesBelow = createFolderExpansion(plan.files, ({ file, served }) => {
    return served && (content.recordOf(file.oid) !== null || (file.sizeBytes ?? 0) > READABLE_FILE_BYTES)
  })
  return (skill: PlannedSkill): SkillLinks => {
    const { directory, body, links } = skill.skill
    const texts: LinkedText[] = [
      ...chainOf(directory).map(rulesLinks),
      links === null ? linksOfText(directory, body) : { folder: directory, links },
      ...includesOf(skill).files.map(file => ({ folder: parentOf(file.path), links: content.factsOf(file.path)?.links ?? [] })),
    ]
    return followLinks(skill, texts, plan.tree, plan.policy, filesBelow)
  }
}

/** Its tokens are told. */
function isReadFirst({ path }: TreeFile): boolean {
  return READ_FIRST.some(name => path === name || path.endsWith(`/${name}`))
}

/** Its title is told where its folder is described, also in a skill that may not be copied. */
function isReadme({ path }: TreeFile): boolean {
  return readmeRank(baseNameOf(path)) !== null
}

/**
 * The files to read, in path order: those of packages, served files, files listed by their own title and summary, rules and includes of served skills. Other
 * includes of manifests are read to find out whether they are text.
 */
function wantedFiles(
  plan: Plan,
  planned: ReadonlyMap<RepoPath, PlannedFile>,
  { included, packages, chainOf }: { included: ReadonlySet<RepoPath>; packages: PackageArchives; chainOf: ManifestChain },
): WantedFile[] {
  const wanted = new Map<RepoPath, WantedFile>()
  const want = (file: TreeFile, keep: boolean, described: boolean) => {
    const packaged = packages.has(file.path)
    if (!isReadable(file) && !packaged) return
    const known = wanted.get(file.path)
    const followed = included.has(file.path)
    wanted.set(file.path, {
      file,
      keep: keep || known?.keep === true,
      packaged,
      described: described || known?.described === true || followed,
      mayCopy: followed || planned.get(file.path)?.served === true,
      followed,
    })
  }
  for (const { file, kind, served } of plan.files) {
    const described =
      kind === 'document' || kind === 'overview' || (kind === 'supporting' && (served || isReadme(file))) || isReadFirst(file)
    if (served || described || kind === 'skill') want(file, served, described)
  }
  for (const path of included) want(plan.tree.file(path) as TreeFile, true, true)
  for (const file of manifestIncludeCandidates(plan)) want(file, false, false)
  for (const { path } of manifestsWithRules(plan, chainOf)) want(plan.tree.file(path) as TreeFile, true, false)
  return [...wanted.values()].sort((left, right) => compareBytes(left.file.path, right.file.path))
}

/** The manifests whose rules apply to a served skill. */
function manifestsWithRules(plan: Plan, chainOf: ManifestChain): Set<Manifest> {
  const served = plan.skills.filter(skill => skill.full)
  return new Set(served.flatMap(({ skill }) => chainOf(skill.directory).filter(manifest => manifest.rules !== null)))
}

/** Memoizes by identity of the key. */
function memo<Key, Value>(compute: (key: Key) => Value): (key: Key) => Value {
  const values = new Map<Key, Value>()
  return key => {
    if (!values.has(key)) values.set(key, compute(key))
    return values.get(key) as Value
  }
}

/**
 * The search input of a file; `null` when find never answers with it.
 *
 * @param skill the skill that the file defines, if it is a `SKILL.md`
 * @param description of a file that is read for it
 */
function searchInputOf(
  file: TreeFile,
  planned: PlannedFile | undefined,
  skill: PlannedSkill | undefined,
  description: FileDescription | null,
  record: Location | null,
): SearchInput | null {
  if (skill) return skillInput(skill, file.oid)
  return planned && description ? fileInput(planned, description, record) : null
}

function skillInput({ skill, full }: PlannedSkill, blob: string): SearchInput | null {
  const { path, name, description, keywords, headings, body, internal } = skill
  if (internal) return null
  return {
    path,
    kind: 'skill',
    owner: path,
    title: name,
    summary: '',
    text: null,
    fields: { name, description, ...(full ? { ...(keywords === '' ? {} : { keywords }), headings, body, blob } : {}) },
  }
}

function fileInput(
  { file, kind, owner, served }: PlannedFile,
  { facts, readText }: FileDescription,
  record: Location | null,
): SearchInput | null {
  const isSupporting = kind === 'supporting' && owner?.full === true && served
  if (owner?.skill.internal || (kind !== 'document' && !isSupporting)) return null
  const { title, summary, name, keywords } = facts
  return {
    path: file.path,
    kind: isSupporting ? 'supporting' : 'document',
    owner: owner?.skill.path ?? null,
    title: title ?? titleOfName(file.path),
    summary,
    text: served && isProse(file.path) ? record : null,
    fields: {
      ...(name === null ? {} : { name }),
      description: summary,
      ...(served ? { ...(keywords === '' ? {} : { keywords }), blob: file.oid } : {}),
    },
    ...(served ? { readText } : {}),
  }
}

/** A file that only links lead to. */
interface LinkedFile {
  file: TreeFile
  served: boolean
}

/**
 * Selects linked files that are served and readable, up to the text of one snapshot. Each blob is read, and counts, once.
 *
 * @param before the files that were wanted already
 * @param isHeld whether the bytes of a blob are in the snapshot
 * @returns `overBudget`: how many exceed that text
 */
export function selectLinked(
  linked: readonly LinkedFile[],
  before: readonly WantedFile[],
  isHeld: (oid: string) => boolean,
): { selected: WantedFile[]; overBudget: number } {
  const texts = before.map(({ file }) => file).filter(({ path }) => !isBinaryName(path))
  const counted = new Set(texts.map(({ oid }) => oid))
  const selected = new Map<string, WantedFile>()
  let leftBytes = INDEXED_TEXT_BYTES - sumDistinctBytes(texts)
  let overBudget = 0
  for (const { file, served } of linked) {
    if (!served || !isReadable(file) || selected.has(file.oid) || isHeld(file.oid)) continue
    const bytes = counted.has(file.oid) ? 0 : file.sizeBytes
    if (bytes > leftBytes) overBudget++
    else {
      leftBytes -= bytes
      selected.set(file.oid, { file, keep: true, packaged: false, described: false, mayCopy: true, followed: false })
    }
  }
  return { selected: [...selected.values()], overBudget }
}

function isReadable(file: TreeFile): file is TreeFile & { sizeBytes: number } {
  return file.sizeBytes !== null && file.sizeBytes <= READABLE_FILE_BYTES && !isBinaryName(file.path)
}
