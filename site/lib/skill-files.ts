import { type Address, formatAddress } from '#core/address.ts'
import type { ChangedPart } from '#core/change-groups.ts'
import type { Cause, ChangedSkill, SkillChangesPage } from '#core/contract/changes.ts'
import { isInside, type RepoPath } from '#core/repo-path.ts'
import type { ApiClient } from './api-client.ts'
import { type FileDifference, loadFileDifference } from './file-difference.ts'
import { isSkillPath, pageHref } from './links.ts'

/** A supporting file of a skill that differs. */
export interface ChangedFile extends Pick<Cause, 'path' | 'change'> {
  /** The path on the old side, where it is another one: the skill moved. */
  movedFrom: string | undefined
  /** `null` where it has a page of its own only. */
  difference: FileDifference | null
}

/** Files of which the difference stands on the page of the skill, and characters of each side that are read for it. */
const SHOWN_FILES = 20
const SHOWN_CHARACTERS = 40_000
/** Bytes of UTF-8 of all these differences: as much as of the texts before them. */
const SHOWN_BYTES = 16 * 1024

/** The supporting files of a skill that differ: after its last text, as many differences as the bounds of a page permit. */
export async function loadSkillFiles(client: ApiClient, address: Address, page: SkillChangesPage): Promise<ChangedFile[]> {
  if (page.nextCursor !== null) return []
  const sides = { from: { ...address, ref: page.from.commit }, to: { ...address, ref: page.to.commit } }
  const files: ChangedFile[] = []
  let left = SHOWN_BYTES
  for (const cause of await filesThatDiffer(client, sides, page)) {
    const movedFrom = oldPathOf(page.skill, cause)
    const isRead = files.length < SHOWN_FILES && left > 0
    const old = cause.change === 'added' ? null : { address: sides.from, path: movedFrom ?? cause.path }
    const new_ = cause.change === 'removed' ? null : { address: sides.to, path: cause.path }
    const difference = isRead ? await loadFileDifference(client, old, new_, SHOWN_CHARACTERS) : null
    const bytes = Buffer.byteLength(difference?.pieces?.join('') ?? '')
    const fits = difference?.pieces != null && bytes <= left
    files.push({ ...cause, movedFrom, difference: fits ? difference : null })
    if (fits) left -= bytes
  }
  return files
}

type FileCause = Pick<Cause, 'path' | 'change'>

/** Of a skill that is on one side only, changes name no files: those that it lists there. */
async function filesThatDiffer(
  client: ApiClient,
  sides: { from: Address; to: Address },
  { skill, entries }: SkillChangesPage,
): Promise<FileCause[]> {
  const { change, path, causes } = skill
  if (change !== 'added' && change !== 'removed') {
    return causes.filter(({ part }) => part === 'files').map(cause => ({ path: cause.path, change: cause.change }))
  }
  const side = change === 'added' ? sides.to : sides.from
  const result = await client.get('skills', formatAddress(side), { path })
  const { files = [] } = result.ok && result.answer.status === 'ready' ? result.answer.skill : {}
  const shown = new Set(entries.map(entry => entry.path))
  return files.filter(file => !shown.has(file)).map(file => ({ path: file, change }))
}

/** Parts whose causes are texts that a page compares. The service does not serve the source of a license. */
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
function oldPathOf(
  { directory, movedFrom }: Pick<ChangedSkill, 'directory' | 'movedFrom'>,
  { path, change }: Pick<Cause, 'path' | 'change'>,
): string | undefined {
  if (movedFrom === undefined || change !== 'changed' || !path.startsWith(`${directory}/`)) return undefined
  return movedFrom.slice(0, movedFrom.lastIndexOf('/') + 1) + path.slice(directory.length + 1)
}
