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
  const files = new Map<RepoPath, TreeFile>()
  const failures: IncludeFailure[] = []
  let leftBytes = INCLUDE_TOTAL_BYTES

  for (const { declared, folder, by } of declarations(planned, chain)) {
    const path = resolveDeclaredPath(declared, folder)
    if (path !== null && files.has(path)) continue
    const found = path === null ? null : findTarget(path, plan, isText)
    if (found === null || 'code' in found) {
      failures.push(found ?? { code: 'include.missing', message: `${by} includes a file outside the repository` })
      continue
    }
    leftBytes -= found.sizeBytes ?? 0
    if (files.size === INCLUDE_FILES || leftBytes < 0) {
      failures.push({
        code: 'include.too_large',
        message: `more is included than ${INCLUDE_FILES} files or ${INCLUDE_TOTAL_BYTES} bytes`,
      })
      break
    }
    files.set(found.path, found)
  }
  return { files: [...files.values()], failures }
}

/** Every blob that some skill may include, whether or not it turns out to be deliverable. */
export function includeCandidates(plan: Plan, chainOf: (folder: RepoPath) => readonly Manifest[]): TreeFile[] {
  const files = new Map<RepoPath, TreeFile>()
  for (const planned of plan.skills) {
    if (!planned.full) continue
    for (const { declared, folder } of declarations(planned, chainOf(planned.skill.directory))) {
      const path = resolveDeclaredPath(declared, folder)
      const file = path === null ? null : plan.tree.file(path)
      if (file && isRegular(file) && (file.sizeBytes ?? 0) <= INCLUDE_FILE_BYTES) files.set(file.path, file)
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
  ].slice(0, MOST_DECLARATIONS)
}

// Far above what a context can hold; keeps a hostile list from being resolved for every skill.
const MOST_DECLARATIONS = 256

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
