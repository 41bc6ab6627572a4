import { parentOf, type RepoPath, ROOT } from '#core/repo-path.ts'
import type { Policy } from './withheld.ts'

/** The skill that owns the files of each folder: the nearest one at or above the folder. */
export function ownersOf<Skill>(policy: Policy, byDirectory: ReadonlyMap<RepoPath, Skill>): Map<RepoPath, Skill> {
  const owners = new Map<RepoPath, Skill>()
  const rootSkill = byDirectory.get(ROOT)
  for (const { path } of policy.folders) {
    const owner = byDirectory.get(path) ?? owners.get(parentOf(path))
    if (owner === undefined) continue
    const isOwned = byDirectory.has(path) || path === '' || owner !== rootSkill || ROOT_SKILL_FOLDERS.has(firstSegment(path))
    if (isOwned) owners.set(path, owner)
  }
  return owners
}

/** A skill at the root owns the root folder and these, not the whole repository. */
const ROOT_SKILL_FOLDERS = new Set(['references', 'scripts', 'assets', 'templates', 'examples'])

function firstSegment(path: RepoPath): string {
  return path.split('/', 1)[0] ?? ''
}
