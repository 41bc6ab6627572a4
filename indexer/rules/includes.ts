import type { Diagnostic, Warning } from '#core/contract/shared.ts'
import { INCLUDE_FILE_BYTES, INCLUDE_FILES, INCLUDE_TOTAL_BYTES } from '#core/limits.ts'
import { parentOf, type RepoPath } from '#core/repo-path.ts'
import type { Manifest } from './manifest.ts'
import type { Plan, PlannedSkill } from './plan.ts'
import { resolveDeclaredPath } from './references.ts'
import { isRegular, type TreeFile } from './tree.ts'

/** The required files of one skill, and what of them is missing. */
export interface SkillIncludes {
  files: TreeFile[]
  failures: IncludeFailure[]
}

export interface IncludeFailure {
  code: 'include.missing' | 'include.excluded' | 'include.too_large' | 'include.not_text' | 'include.not_served'
  message: string
}

/**
 * Resolves what a skill includes: the manifests above it root first, then its own declaration; each file once.
 *
 * @param isText whether a blob is readable text, as far as it was read
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

  const { wanted, more } = wantedPaths(planned, chain)
  for (const { path, by } of wanted) {
    const found = path === null ? null : findTarget(path, plan, isText)
    if (found === null || 'code' in found) {
      failures.push(found ?? { code: 'include.missing', message: `${by} includes what is no file of the repository` })
      continue
    }
    leftBytes -= found.sizeBytes ?? 0
    if (leftBytes < 0) return { files, failures: [...failures, TOO_MUCH] }
    files.push(found)
  }
  return { files, failures: more ? [...failures, TOO_MUCH] : failures }
}

const TOO_MUCH: IncludeFailure = {
  code: 'include.too_large',
  message: `more is included than ${INCLUDE_FILES} files or ${INCLUDE_TOTAL_BYTES} bytes`,
}

/** The files whose bytes some skill delivers, if they are text: never one that is withheld, or whose license permits no copy. */
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

export function includeDiagnostics(failures: readonly IncludeFailure[], skillPath: RepoPath): Diagnostic[] {
  return failures.map(({ code, message }) => ({ code, severity: 'error', path: skillPath, field: 'include', message }))
}

export function includeWarnings(failures: readonly IncludeFailure[]): Warning[] {
  return failures.map(({ code, message }) => ({ code, field: 'include', message }))
}

interface WantedPath {
  /** `null`: outside the repository. */
  path: RepoPath | null
  /** The file that includes it. */
  by: RepoPath
}

/** What a skill includes, each path once, at most as many as a context holds; `more`: there is more than that. */
function wantedPaths(planned: PlannedSkill, chain: readonly Manifest[]): { wanted: WantedPath[]; more: boolean } {
  const wanted = new Map<RepoPath | null, WantedPath>()
  const all = declarations(planned, chain)
  for (const { declared, folder, by } of all.slice(0, MOST_DECLARATIONS)) {
    // A URL is no path, however it could be read as one.
    const path = /^[a-z][a-z0-9+.-]*:/i.test(declared) ? null : resolveDeclaredPath(declared, folder)
    if (wanted.has(path)) continue
    if (wanted.size === INCLUDE_FILES) return { wanted: [...wanted.values()], more: true }
    wanted.set(path, { path, by })
  }
  return { wanted: [...wanted.values()], more: all.length > MOST_DECLARATIONS }
}

// Far above what a context can hold; keeps a hostile list from being resolved for every skill.
const MOST_DECLARATIONS = 256

interface Declaration {
  declared: string
  folder: RepoPath
  by: RepoPath
}

function declarations(planned: PlannedSkill, chain: readonly Manifest[]): Declaration[] {
  const { path, directory, include } = planned.skill
  return [
    ...chain.flatMap(manifest => manifest.include.map(declared => ({ declared, folder: manifest.folder, by: manifest.path }))),
    ...include.map(declared => ({ declared, folder: directory, by: path })),
  ]
}

function findTarget(path: RepoPath, plan: Plan, isText: (oid: string) => boolean): TreeFile | IncludeFailure {
  const file = plan.tree.file(path)
  // What is withheld is not named: a message must not tell what an exclusion hides.
  const reason = plan.policy.reasonOf(path)
  if (reason === 'excluded') return { code: 'include.excluded', message: 'an included file is excluded by a manifest' }
  if (reason === 'closed') return { code: 'include.missing', message: 'an included file lies in a folder that is closed' }
  if (!file || !isRegular(file) || file.sizeBytes === null)
    return { code: 'include.missing', message: `there is no regular file ${path}` }
  if (file.sizeBytes > INCLUDE_FILE_BYTES)
    return { code: 'include.too_large', message: `${path} is larger than ${INCLUDE_FILE_BYTES} bytes` }
  const folder = parentOf(path)
  if (!plan.isServed(plan.licenseOf(folder, plan.ownerOf(folder)))) {
    return { code: 'include.not_served', message: `the license of ${path} permits no copy` }
  }
  if (!isText(file.oid)) return { code: 'include.not_text', message: `${path} is not UTF-8 text` }
  return file
}
