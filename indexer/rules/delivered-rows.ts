import type { License } from '#core/contract/shared.ts'
import { FACTS_PER_SKILL } from '#core/limits.ts'
import { isBlobId } from '#core/ports/git-host.ts'
import type { RepoPath } from '#core/repo-path.ts'
import {
  type DeclaredInclude,
  type DeliveredBytes,
  type DeliveredDocument,
  type DeliveredFacts,
  type DeliveredFile,
  type DeliveredManifest,
  type DeliveredRow,
  type DeliveredSkill,
  itemKey,
  pageItemKey,
} from '#core/snapshot/delivered.ts'
import type { ContextRow, FileRow } from '#core/snapshot/format.ts'
import { type Content, type Rows, sortRows, titleOf } from './content-facts.ts'
import { pagesOf } from './folder-rows.ts'
import type { Manifest } from './manifest.ts'
import type { Plan, PlannedSkill } from './plan.ts'
import { manifestsAbove, ruleChain } from './rule-chain.ts'
import { boundFacts, countFacts, DIGEST_CHARACTERS, digestOf } from './text-facts.ts'
import type { TreeFile } from './tree.ts'

/** What the rows are made of. */
export interface DeliveredParts {
  plan: Plan
  content: Content
  fileRows: ReadonlyMap<RepoPath, FileRow>
  /** Of the listed skills, by path. */
  contexts: ReadonlyMap<RepoPath, { planned: PlannedSkill; context: ContextRow }>
}

/** The rows of what is delivered, in small steps: every listed skill, document and manifest, and the facts of texts that skills share. */
export function* buildDelivered(parts: DeliveredParts): Generator<void, Rows<'delivered'>> {
  const { plan, content, contexts } = parts
  const chainOf = memoChains(plan)
  const rows: Rows<'delivered'> = []
  for (const [path, { planned, context }] of contexts) {
    yield
    rows.push([itemKey(path, 'skill'), deliveredSkill(planned, context, chainOf(planned.skill.directory), parts)])
  }
  for (const { file, kind, served } of plan.files) {
    if (kind !== 'document') continue
    yield
    rows.push([itemKey(file.path, 'document'), deliveredDocument(file, served, parts)])
  }
  for (const { path } of pagesOf(plan, content)) {
    yield
    rows.push([pageItemKey(path), deliveredDocument(plan.tree.file(path) as TreeFile, true, parts)])
  }
  const inContexts = manifestsInContexts(plan, chainOf)
  for (const manifest of plan.policy.manifests.values()) {
    yield
    rows.push([itemKey(manifest.path, 'manifest'), deliveredManifest(manifest, inContexts.has(manifest), parts)])
  }
  for (const [key, facts] of content.textFacts) {
    if (Object.keys(facts).length > 0) rows.push([key, { kind: 'text', facts }])
  }
  return sortRows(rows)
}

/** Every host that a delivered text links to. */
export function hostsOf(delivered: Rows<'delivered'>): Rows<'hosts'> {
  const hosts = new Set(delivered.flatMap(([, row]) => factsOfRow(row)).flatMap(({ hosts = [] }) => hosts.map(([host]) => host)))
  return sortRows([...hosts].map(host => [host, {}] as const))
}

function factsOfRow(row: DeliveredRow): readonly DeliveredFacts[] {
  if (row.kind === 'manifest') return []
  if (row.kind !== 'skill') return [row.facts]
  const { full } = row
  return [row.descriptionFacts, ...(full ? [full.facts, ...full.fileFacts.map(([, facts]) => facts)] : [])]
}

type ChainOf = (folder: RepoPath) => readonly Manifest[]

function memoChains({ policy }: Plan): ChainOf {
  const chains = new Map<RepoPath, readonly Manifest[]>()
  return folder => {
    const chain = chains.get(folder) ?? manifestsAbove(policy.manifests, folder)
    chains.set(folder, chain)
    return chain
  }
}

/** The manifests whose rules a skill delivers. */
function manifestsInContexts({ skills }: Plan, chainOf: ChainOf): Set<Manifest> {
  return new Set(skills.filter(({ full }) => full).flatMap(({ skill }) => ruleChain(chainOf(skill.directory)).rules))
}

function deliveredSkill(
  planned: PlannedSkill,
  context: ContextRow,
  chain: readonly Manifest[],
  parts: DeliveredParts,
): DeliveredSkill {
  const { directory, name, description, frontMatter, translations, license } = context
  const allowedTools = frontMatter['allowed-tools']
  const skill: DeliveredSkill = {
    kind: 'skill',
    directory,
    name,
    metadata: digestOf({ name, description, frontMatter, translations }),
    description,
    descriptionFacts: planned.skill.descriptionFacts,
    ...(allowedTools === undefined ? {} : { allowedTools }),
    license: withoutLine(license),
  }
  if (context.full === undefined) return skill

  const { rules, includes, files, oversized, incomplete, sha256 } = context.full
  const { texts, facts, budget } = parts.content.measuresOf(planned)
  const [body] = texts.slice(rules.length)
  if (body === undefined) throw new Error(`the body of ${planned.skill.path} was not measured`)
  const installed = new Set([...files, ...oversized.map(({ path }) => path)])
  return {
    ...skill,
    full: {
      ...(sha256 === undefined ? {} : { sha256 }),
      bytes: budget.bytes,
      tokens: budget.tokens,
      complete: !incomplete,
      rules: texts.slice(0, rules.length),
      body,
      includes: texts.slice(rules.length + 1, rules.length + 1 + includes.length),
      files: filesOf(installed, parts),
      declared: declaredIncludes(planned, chain),
      facts,
      fileFacts: factsOfFiles(installed, parts),
    },
  }
}

/** A license is the same wherever its line moves. */
function withoutLine({ kind, name, source }: License): License {
  return { kind, name, source }
}

/** The facts of the files that are served, in order; beyond the limit of a skill only that there are some. */
function factsOfFiles(
  paths: ReadonlySet<string>,
  { content, fileRows }: DeliveredParts,
): [path: string, facts: DeliveredFacts][] {
  let left = FACTS_PER_SKILL
  return [...paths].flatMap((path): [string, DeliveredFacts][] => {
    // Clients install files that no reader is given, too: their bytes are stored.
    const isServed = fileRows.get(path as RepoPath)?.record !== undefined
    const found = isServed ? content.deliveredIn(path as RepoPath) : {}
    if (Object.keys(found).length === 0) return []
    const count = countFacts(found)
    if (count > left) return [[path, boundFacts(found, NO_FACTS)]]
    left -= count
    return [[path, found]]
  })
}

const NO_FACTS = { hidden: 0, hosts: 0, commands: 0 }

/** In byte order of their paths. */
function filesOf(paths: ReadonlySet<string>, { plan, fileRows }: DeliveredParts): DeliveredFile[] {
  const rows = [...paths].map((path): [string, DeliveredFile] => {
    const row = fileRows.get(path as RepoPath)
    const file = plan.tree.file(path as RepoPath)
    const blob = file && isBlobId(file.oid) ? digestOfBlob(file.oid) : null
    const digest = row?.sha256 === undefined ? blob : digestOfBytes(row.sha256)
    return [path, [path, row?.sizeBytes ?? 0, digest, file?.mode === '100755' ? 1 : 0]]
  })
  return sortRows(rows).map(([, file]) => file)
}

/** Of a file whose bytes are held. */
export function digestOfBytes(sha256: string): string {
  return sha256.slice(0, DIGEST_CHARACTERS)
}

/** Of a file whose bytes are not held. */
export function digestOfBlob(oid: string): string {
  return `git:${oid.slice(0, DIGEST_CHARACTERS)}`
}

function declaredIncludes({ skill }: PlannedSkill, chain: readonly Manifest[]): DeclaredInclude[] {
  return [...chain, skill].map(({ path, include }) => [path, include?.length === 0 ? null : digestOf(include)])
}

function deliveredDocument(file: TreeFile, served: boolean, parts: DeliveredParts): DeliveredDocument {
  const { plan, content } = parts
  const { path } = file
  const facts = content.factsOf(path)
  const bytes = served ? servedFile(path, facts?.tokens ?? 0, parts) : null
  return {
    kind: 'document',
    title: titleOf(path, content),
    summary: digestOf(facts?.summary ?? ''),
    license: withoutLine(plan.licenseOfFile(file).license),
    full: served,
    ...(bytes === null ? {} : { file: bytes }),
    facts: bytes === null ? {} : (facts?.delivered ?? {}),
  }
}

function deliveredManifest(manifest: Manifest, isInContext: boolean, parts: DeliveredParts): DeliveredManifest {
  const { path, rules, tokens, declared } = manifest
  const { include = [], exclude = [], license = null, ...others } = declared
  const file = servedFile(path, tokens, parts)
  const isDelivered = file !== null || isInContext
  return {
    kind: 'manifest',
    rules: isDelivered && rules !== null ? digestOf(rules.text) : null,
    include: digestOf(include),
    exclude: digestOf(exclude),
    license: digestOf(license),
    metadata: digestOf(others),
    ...(file === null ? {} : { file }),
  }
}

/** A file as the files endpoint answers with it; `null` when it refuses to. */
function servedFile(path: RepoPath, tokens: number, { fileRows }: DeliveredParts): DeliveredBytes | null {
  const row = fileRows.get(path)
  if (row?.record === undefined || row.sha256 === undefined || row.refusal !== undefined) return null
  return { sha256: row.sha256, bytes: row.sizeBytes, tokens }
}
