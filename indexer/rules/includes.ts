import type { Diagnostic, Warning } from '#core/contract/shared.ts'
import { INCLUDE_FILE_BYTES, INCLUDE_FILES, INCLUDE_TOTAL_BYTES } from '#core/limits.ts'
import { parentOf, type RepoPath } from '#core/repo-path.ts'
import { MALFORMED_INCLUDE, type Manifest } from './manifest.ts'
import type { Plan, PlannedSkill } from './plan.ts'
import { resolveDeclaredPath } from './references.ts'
import { ruleChain } from './rule-chain.ts'
import { isRegular, type TreeFile } from './tree.ts'

/** The included files of one skill, and the includes that failed. */
export interface SkillIncludes {
  files: TreeFile[]
  failures: IncludeFailure[]
}

export interface IncludeFailure {
  /** The file that declares it. */
  by: RepoPath
  code: 'include.missing' | 'include.excluded' | 'include.too_large' | 'include.not_text' | 'include.not_served'
  message: string
}

/**
 * Resolves the includes of a skill: those of the manifests above it, root first, then its own; each file once.
 *
 * @param isText whether a blob was read and is text
 */
export function resolveIncludes(
  planned: PlannedSkill,
  chain: readonly Manifest[],
  plan: Plan,
  isText: (oid: string) => boolean,
): SkillIncludes {
  const files: TreeFile[] = []
  const failures: IncludeFailure[] = []
  let leftBytes = INCLUDE_TOTAL_BYTES

  const { wanted, malformed, cutBy } = wantedPaths(planned, chain)
  for (const by of malformed) failures.push({ by, code: 'include.missing', message: MALFORMED_INCLUDE })
  for (const { path, by } of wanted) {
    const found = path === null ? null : findTarget(path, plan, isText)
    if (found === null || 'code' in found) {
      failures.push({ by, ...(found ?? { code: 'include.missing', message: `${by} includes a path outside the repository` }) })
      continue
    }
    leftBytes -= found.sizeBytes ?? 0
    if (leftBytes < 0) return { files, failures: [...failures, tooLarge(by)] }
    files.push(found)
  }
  return { files, failures: cutBy === null ? failures : [...failures, tooLarge(cutBy)] }
}

function tooLarge(by: RepoPath): IncludeFailure {
  return { by, code: 'include.too_large', message: `includes exceed ${INCLUDE_FILES} files or ${INCLUDE_TOTAL_BYTES} bytes` }
}

/** The files that served skills include, before it is known whether they are text. Withheld and unserved files are left out. */
export function includeCandidates(plan: Plan, chainOf: (folder: RepoPath) => readonly Manifest[]): TreeFile[] {
  const files = new Map<RepoPath, TreeFile>()
  for (const planned of plan.skills) {
    if (!planned.full) continue
    for (const { path } of wantedPaths(planned, chainOf(planned.skill.directory)).wanted) {
      const found = path === null || files.has(path) ? null : findTarget(path, plan, () => true)
      if (found !== null && !('code' in found)) files.set(found.path, found)
    }
  }
  return [...files.values()]
}

/** Each at the file that declares it: the skill or a manifest above. */
export function includeDiagnostics(failures: readonly IncludeFailure[]): Diagnostic[] {
  return failures.map(({ by, code, message }) => ({ code, severity: 'error', path: by, field: 'include', message }))
}

export function includeWarnings(failures: readonly IncludeFailure[]): Warning[] {
  return failures.map(({ code, message }) => ({ code, field: 'include', message }))
}

interface WantedPath {
  /** `null` when it lies outside the repository. */
  path: RepoPath | null
  /** The file that declares it. */
  by: RepoPath
}

interface WantedPaths {
  wanted: WantedPath[]
  /** The files whose `include` is not a list of paths. */
  malformed: RepoPath[]
  /** The file that declares the first path beyond the limits. */
  cutBy: RepoPath | null
}

/** The first `INCLUDE_FILES` paths that a skill includes, each once, without those that are in its context as rules or body. */
function wantedPaths(planned: PlannedSkill, chain: readonly Manifest[]): WantedPaths {
  const { path: skillPath, directory, include } = planned.skill
  const declaring: Declaring[] = [
    ...chain.map(manifest => ({ include: manifest.include, folder: manifest.folder, by: manifest.path })),
    { include, folder: directory, by: skillPath },
  ]
  const malformed = declaring.filter(one => one.include === null).map(({ by }) => by)
  const all = declaring.flatMap(({ include, folder, by }) => (include ?? []).map(declared => ({ declared, folder, by })))
  const delivered = new Set([skillPath, ...ruleChain(chain).rules.map(({ path }) => path)])

  const wanted = new Map<RepoPath | null, WantedPath>()
  const cutAt = (by: RepoPath | null): WantedPaths => ({ wanted: [...wanted.values()], malformed, cutBy: by })
  for (const { declared, folder, by } of all.slice(0, MAX_DECLARATIONS)) {
    // A URL is never a path.
    const path = /^[a-z][a-z0-9+.-]*:/i.test(declared) ? null : resolveDeclaredPath(declared, folder)
    if (wanted.has(path) || (path !== null && delivered.has(path))) continue
    if (wanted.size === INCLUDE_FILES) return cutAt(by)
    wanted.set(path, { path, by })
  }
  return cutAt(all[MAX_DECLARATIONS]?.by ?? null)
}

// Far above `INCLUDE_FILES`; bounds the time that a hostile list takes for every skill.
const MAX_DECLARATIONS = 256

interface Declaring {
  include: readonly string[] | null
  folder: RepoPath
  by: RepoPath
}

function findTarget(path: RepoPath, plan: Plan, isText: (oid: string) => boolean): TreeFile | Omit<IncludeFailure, 'by'> {
  const file = plan.tree.file(path)
  // Messages do not name withheld files.
  const reason = plan.policy.reasonOf(path)
  if (reason === 'excluded') return { code: 'include.excluded', message: 'an included file is excluded by a manifest' }
  if (reason === 'closed') return { code: 'include.missing', message: 'an included file lies in a closed folder' }
  if (!file || !isRegular(file) || file.sizeBytes === null) return { code: 'include.missing', message: `no regular file ${path}` }
  if (file.sizeBytes > INCLUDE_FILE_BYTES)
    return { code: 'include.too_large', message: `${path} is larger than ${INCLUDE_FILE_BYTES} bytes` }
  const folder = parentOf(path)
  if (!plan.isServed(plan.licenseOf(folder, plan.ownerOf(folder)))) {
    return { code: 'include.not_served', message: `the license of ${path} does not permit copies` }
  }
  if (!isText(file.oid)) return { code: 'include.not_text', message: `${path} is not UTF-8 text` }
  return file
}
