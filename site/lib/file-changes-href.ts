import type { Address } from '#core/address.ts'
import type { ChangedPart } from '#core/change-groups.ts'
import type { Cause, ChangedSkill } from '#core/contract/changes.ts'
import { isInside, type RepoPath } from '#core/repo-path.ts'
import { isSkillPath, pageHref } from './links.ts'

/** Parts whose causes are texts that a page compares. The source of a license is served to nobody. */
const COMPARED = new Set<string>(['rules', 'includes', 'files'])

/** The page of a file behind a change of a skill; `null` where there is none. */
export function fileChangesHref(
  address: Address,
  from: string | undefined,
  skill: Pick<ChangedSkill, 'directory' | 'movedFrom'>,
  cause: Pick<Cause, 'path' | 'change'>,
  parts: ChangedPart['parts'],
): string | null {
  const { path } = cause
  const isShown = isInside(address.path as RepoPath, path as RepoPath) && !isSkillPath(path)
  if (!isShown || !parts.some(part => COMPARED.has(part))) return null
  return pageHref(address, 'changes', { path, was: oldPathOf(skill, cause), from })
}

/** The old path of a file that moved with its skill; `undefined` of a file that did not. */
export function oldPathOf(
  { directory, movedFrom }: Pick<ChangedSkill, 'directory' | 'movedFrom'>,
  { path, change }: Pick<Cause, 'path' | 'change'>,
): string | undefined {
  if (movedFrom === undefined || change !== 'changed' || !path.startsWith(`${directory}/`)) return undefined
  return movedFrom.slice(0, movedFrom.lastIndexOf('/') + 1) + path.slice(directory.length + 1)
}
