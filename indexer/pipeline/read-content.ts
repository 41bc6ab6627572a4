import { nextTurn } from '#core/concurrency/turns.ts'
import { INDEXED_TEXT_BYTES, READABLE_FILE_BYTES } from '#core/limits.ts'
import { parentOf, type RepoPath } from '#core/repo-path.ts'
import type { Location } from '#core/snapshot/format.ts'
import { compareBytes, countCharacters } from '#core/text.ts'
import type { Content } from '../rules/content-facts.ts'
import { isBinaryName, isProse } from '../rules/content-kind.ts'
import { titleOfName } from '../rules/document.ts'
import { includeCandidates, resolveIncludes } from '../rules/includes.ts'
import type { Manifest } from '../rules/manifest.ts'
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
import { sumBytes, type TreeFile } from '../rules/tree.ts'
import type { SearchBuilder } from '../search/builder.ts'
import type { SearchInput } from '../search/input.ts'
import type { SnapshotWriter } from '../snapshot/snapshot-writer.ts'
import { type ContentStore, createContentStore, type FileContent, type WantedFile } from './content-store.ts'
import type { IndexOptions } from './progress.ts'
import type { BlobReader } from './read-tree.ts'

/** Reads every file whose text matters, a file at a time and in path order, then what is only linked from there. */
export async function readContent(
  blobs: BlobReader,
  writer: SnapshotWriter<unknown>,
  plan: Plan,
  search: Pick<SearchBuilder, 'add'> | null,
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
  const content = createContentStore(blobs, writer, () => {
    signal?.throwIfAborted()
    if (++done % 100 === 0) onProgress({ stage: 'content', done, total: wanted.length })
  })
  await content.read(wanted, ({ file }, read, record) => {
    const found = planned.get(file.path)
    if (found?.kind === 'document' && found.served && read.facts) {
      for (const target of documentTargets(file.path, read.facts.links, plan.tree, plan.policy)) targets.add(target)
    }
    if (included.has(file.path)) characters.set(file.oid, countCharacters(read.text))
    const skill = skills.get(file.path)
    const item = skill ? skillItem(skill, file.oid) : found ? fileItem(found, read, record) : null
    if (item !== null) return search?.add(item)
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
    await nextTurn(signal)
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
    if (
      !served ||
      isBinaryName(file.path) ||
      file.sizeBytes === null ||
      file.sizeBytes > READABLE_FILE_BYTES ||
      file.sizeBytes > leftBytes
    )
      continue
    leftBytes -= file.sizeBytes
    wanted.push({ file, keep: true, described: false, followed: false })
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
  const want = (file: TreeFile, keep: boolean, described: boolean) => {
    if (file.sizeBytes === null || file.sizeBytes > READABLE_FILE_BYTES || isBinaryName(file.path)) return
    const known = wanted.get(file.path)
    const followed = included.has(file.path)
    wanted.set(file.path, {
      file,
      keep: keep || known?.keep === true,
      described: described || known?.described === true || followed,
      followed,
    })
  }
  for (const { file, kind, served } of plan.files) {
    const described = kind === 'document' || kind === 'overview' || (kind === 'supporting' && served)
    if (served || described || kind === 'skill') want(file, served, described)
  }
  for (const path of included) want(plan.tree.file(path) as TreeFile, true, true)
  for (const skill of plan.skills) {
    if (skill.full)
      for (const manifest of chainOf(skill.skill.directory))
        if (manifest.rules) want(plan.tree.file(manifest.path) as TreeFile, true, false)
  }
  return [...wanted.values()].sort((left, right) => compareBytes(left.file.path, right.file.path))
}

/** What is searched of a file that is no skill; `null` when nothing is. */
function fileItem(
  { file, kind, owner, served }: PlannedFile,
  { facts }: FileContent,
  record: Location | null,
): SearchInput | null {
  const isSupporting = kind === 'supporting' && owner?.full === true && served
  if (facts === null || owner?.skill.internal || (kind !== 'document' && !isSupporting)) return null
  const { title, summary, name, keywords, headings, body } = facts
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
      ...(served ? { ...(keywords === '' ? {} : { keywords }), headings, body, blob: file.oid } : {}),
    },
  }
}

function skillItem({ skill, full }: PlannedSkill, blob: string): SearchInput | null {
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

function memo<Key, Value>(compute: (key: Key) => Value): (key: Key) => Value {
  const known = new Map<Key, Value>()
  return key => {
    if (!known.has(key)) known.set(key, compute(key))
    return known.get(key) as Value
  }
}
