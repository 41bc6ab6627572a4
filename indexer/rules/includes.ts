import { INCLUDE_FILE_BYTES, INCLUDE_FILES, INCLUDE_TOTAL_BYTES, TITLE_CHARACTERS } from '#core/limits.ts'
import { parentOf, type RepoPath } from '#core/repo-path.ts'
import { canonicalJson } from '#core/snapshot/canonical-json.ts'
import type { DiagnosticRow, WarningRow } from '#core/snapshot/finding-rows.ts'
import { type Finding, finding } from '#words/findings.ts'
import type { BlobState } from './content-kind.ts'
import { MALFORMED_INCLUDE, type Manifest } from './manifest.ts'
import type { Plan } from './plan.ts'
import { resolveDeclaredPath } from './references.ts'
import { manifestsAbove, ruleChain } from './rule-chain.ts'
import { shortLine } from './short-line.ts'
import type { ParsedSkill } from './skill.ts'
import { isRegular, type TreeFile } from './tree.ts'

/** The included files of one skill or chain of manifests, and the includes that failed. */
export interface Includes {
  files: TreeFile[]
  failures: IncludeFailure[]
}

type StateOf = (oid: string) => BlobState

/** The manifests at or above a folder, root first. */
export type ManifestChain = (folder: RepoPath) => readonly Manifest[]

export interface IncludeFailure extends Finding {
  /** The file that declares it. */
  by: RepoPath
}

/**
 * Resolves the includes of a skill: those of the manifests above it, root first, then its own; each file once.
 *
 * @param skill `null`: those of the manifests alone
 * @param stateOf what a blob was found to be
 */
export function resolveIncludes(chain: readonly Manifest[], skill: ParsedSkill | null, plan: Plan, stateOf: StateOf): Includes {
  const files: TreeFile[] = []
  const failures: IncludeFailure[] = []
  let leftBytes = INCLUDE_TOTAL_BYTES

  const { wanted, malformed, cutBy } = wantedPaths(chain, skill)
  for (const by of malformed) failures.push({ by, ...MALFORMED_INCLUDE })
  for (const { target, by } of wanted) {
    const found = findTarget(target, plan, stateOf)
    if ('code' in found) {
      failures.push({ by, ...found })
      continue
    }
    leftBytes -= found.sizeBytes ?? 0
    if (leftBytes < 0) return { files, failures: [...failures, tooLarge(by)] }
    files.push(found)
  }
  return { files, failures: cutBy === null ? failures : [...failures, tooLarge(cutBy)] }
}

function tooLarge(by: RepoPath): IncludeFailure {
  return { by, ...finding('include.too_large:all', { fileLimit: INCLUDE_FILES, byteLimit: INCLUDE_TOTAL_BYTES }) }
}

/**
 * The failed includes that manifests declare, each at its manifest. They follow from the manifest and those above it, so that every mount
 * is told the same, whichever skills it contains. Where the folder of the manifest may not be copied itself, that its includes may not
 * is no fault of theirs.
 */
export function manifestIncludeFailures(plan: Plan, stateOf: StateOf): IncludeFailure[] {
  return includingManifests(plan).flatMap(({ path, chain }) => {
    const failures = resolveIncludes(chain, null, plan, stateOf).failures.filter(({ by }) => by === path)
    const isServed = plan.isServed(plan.licenseOf(parentOf(path)))
    return isServed ? failures : failures.filter(({ code }) => code !== 'include.not_served')
  })
}

/** The files that served skills include, before it is known whether they are text. Withheld and unserved files are left out. */
export function includeCandidates(plan: Plan, chainOf: ManifestChain): TreeFile[] {
  const served = plan.skills.filter(planned => planned.full)
  return findAll(
    served.map(({ skill }) => wantedPaths(chainOf(skill.directory), skill)),
    plan,
  )
}

/** The files that manifests include, likewise. Some of them may be included by no served skill. */
export function manifestIncludeCandidates(plan: Plan): TreeFile[] {
  return findAll(
    includingManifests(plan).map(({ chain }) => wantedPaths(chain, null)),
    plan,
  )
}

function includingManifests({ policy }: Plan): { path: RepoPath; chain: readonly Manifest[] }[] {
  return [...policy.manifests.values()]
    .filter(({ include }) => include === null || include.length > 0)
    .map(({ path, folder }) => ({ path, chain: manifestsAbove(policy.manifests, folder) }))
}

function findAll(lists: readonly WantedPaths[], plan: Plan): TreeFile[] {
  const files = new Map<RepoPath, TreeFile>()
  for (const { wanted } of lists) {
    for (const { target } of wanted) {
      const found = typeof target === 'string' && files.has(target) ? null : findTarget(target, plan, () => 'text')
      if (found !== null && !('code' in found)) files.set(found.path, found)
    }
  }
  return [...files.values()]
}

/** Each at the file that declares it: the skill or a manifest above. */
export function includeDiagnostics(failures: readonly IncludeFailure[]): DiagnosticRow[] {
  return failures.map(({ by, ...found }) => ({ ...found, severity: 'error', path: by, field: 'include' }))
}

export function includeWarnings(failures: readonly IncludeFailure[]): WarningRow[] {
  return failures.map(({ by: _by, ...found }) => ({ ...found, field: 'include' }))
}

interface WantedPath {
  target: Target
  /** The file that declares it. */
  by: RepoPath
}

/** The path that an include declares, or why it declares none. */
type Target = RepoPath | { notPath: Finding }

interface WantedPaths {
  wanted: WantedPath[]
  /** The files whose `include` is not a list of paths. */
  malformed: RepoPath[]
  /** The file that declares the first path beyond the limits. */
  cutBy: RepoPath | null
}

/** The paths that manifests and a skill include, and what is wrong with those that are none. */
export function includedPaths(chain: readonly Manifest[], skill: Including): (RepoPath | { notPath: Finding })[] {
  return wantedPaths(chain, skill).wanted.map(({ target }) => target)
}

/** The first `INCLUDE_FILES` paths that manifests and a skill include, each once, without those that are in its context as rules or body. */
function wantedPaths(chain: readonly Manifest[], skill: Including | null): WantedPaths {
  const declaring: Declaring[] = [
    ...chain.map(manifest => ({ include: manifest.include, folder: manifest.folder, by: manifest.path })),
    ...(skill === null ? [] : [{ include: skill.include, folder: skill.directory, by: skill.path }]),
  ]
  const malformed = declaring.filter(one => one.include === null).map(({ by }) => by)
  const all = declaring.flatMap(({ include, folder, by }) => {
    return (include ?? []).slice(0, MAX_DECLARATIONS + 1).map(declared => ({ declared, folder, by }))
  })
  const delivered = new Set([...(skill === null ? [] : [skill.path]), ...ruleChain(chain).rules.map(({ path }) => path)])

  const wanted = new Map<string, WantedPath>()
  const cutAt = (by: RepoPath | null): WantedPaths => ({ wanted: [...wanted.values()], malformed, cutBy: by })
  for (const { declared, folder, by } of all.slice(0, MAX_DECLARATIONS)) {
    const target = targetOf(declared, folder)
    const key = typeof target === 'string' ? target : canonicalJson(target)
    if (wanted.has(key) || delivered.has(key as RepoPath)) continue
    if (wanted.size === INCLUDE_FILES) return cutAt(by)
    wanted.set(key, { target, by })
  }
  return cutAt(all[MAX_DECLARATIONS]?.by ?? null)
}

// Far above `INCLUDE_FILES`; bounds the time that a hostile list takes for every skill.
const MAX_DECLARATIONS = 256

function targetOf(declared: string, folder: RepoPath): Target {
  const shown = `"${shortLine(declared, TITLE_CHARACTERS)}"`
  if (declared.trim() === '') return { notPath: finding('include.missing:empty', { shown }) }
  if (/^[a-z][a-z0-9+.-]*:/i.test(declared)) return { notPath: finding('include.missing:url', { shown }) }
  const path = resolveDeclaredPath(declared, folder)
  if (path === null) return { notPath: finding('include.missing:outside', { shown }) }
  return path === '' ? { notPath: finding('include.missing:root', { shown }) } : path
}

/** The part of a skill that decides what it includes. */
type Including = Pick<ParsedSkill, 'path' | 'directory' | 'include'>

interface Declaring {
  include: readonly string[] | null
  folder: RepoPath
  by: RepoPath
}

function findTarget(target: Target, plan: Plan, stateOf: StateOf): TreeFile | Omit<IncludeFailure, 'by'> {
  if (typeof target !== 'string') return target.notPath
  const path = target
  const shown = { path: shortLine(path, TITLE_CHARACTERS) }
  const file = plan.tree.file(path)
  // Messages do not name withheld files.
  const reason = plan.policy.reasonOf(path)
  if (reason === 'excluded') return finding('include.excluded')
  if (reason === 'closed') return finding('include.missing:closed')
  if (!file || !isRegular(file) || file.sizeBytes === null) return finding('include.missing:file', shown)
  if (file.sizeBytes > INCLUDE_FILE_BYTES) return finding('include.too_large:file', { ...shown, limit: INCLUDE_FILE_BYTES })
  if (!plan.isServed(plan.licenseOfFile(file))) {
    return finding('include.not_served', shown)
  }
  const state = stateOf(file.oid)
  if (state === 'in_lfs') return finding('include.not_text:lfs', shown)
  if (state !== 'text') return finding('include.not_text', shown)
  return file
}
