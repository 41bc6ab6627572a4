import { type Address, atPath, formatAddress } from '#core/address.ts'
import type { Overview } from '#core/contract/mount.ts'
import { baseNameOf, isInside, parentOf, type RepoPath } from '#core/repo-path.ts'
import type { ApiClient } from './api-client.ts'
import { isSkillPath } from './links.ts'

/** How many of the skills of an address have their license from a file. */
export interface Governed {
  skills: number
  all: number
  /** Not all skills are known: more may be. */
  isPartial: boolean
  /** The line that declares it; `null` where the file is the license, or lines differ. */
  declared: { license: string; line: number } | null
}

/**
 * Counts the skills that have their license from a file: of the address, or where that has more than an overview lists, of the folder to which the
 * file applies.
 *
 * @returns `null` for a file that is no license of a listed skill. A `SKILL.md` governs nothing but itself.
 */
export async function loadGoverned(
  client: ApiClient,
  address: Address,
  overview: Overview,
  path: string,
): Promise<Governed | null> {
  if (isSkillPath(path)) return null
  const near = isWhole(overview) ? null : await loadFolder(client, address, folderOfLicense(path as RepoPath))
  return countGoverned(near ?? overview, path, overview.counts.skills)
}

/** @param all skills of the address */
export function countGoverned(overview: Overview, path: string, all: number): Governed | null {
  const licenses = overview.skills.flatMap(({ license }) => (license.source === path ? [license] : []))
  const [first] = licenses
  if (first === undefined) return null
  const isOne = licenses.every(({ name, line }) => name === first.name && line === first.line)
  const declared = isOne && first.line !== undefined && first.name !== null ? { license: first.name, line: first.line } : null
  return { skills: licenses.length, all, isPartial: !isWhole(overview), declared }
}

function isWhole({ skills, counts, truncated }: Overview): boolean {
  return !truncated && skills.length === counts.skills
}

/** Its own folder; of the file in a folder such as `.claude-plugin`, the folder above. */
function folderOfLicense(path: RepoPath): RepoPath {
  const folder = parentOf(path)
  return baseNameOf(folder).startsWith('.') ? parentOf(folder) : folder
}

async function loadFolder(client: ApiClient, address: Address, folder: RepoPath): Promise<Overview | null> {
  if (folder === address.path || !isInside(address.path, folder)) return null
  const mount = await client.get('mounts', formatAddress(atPath(address, folder)), {})
  return mount.ok && mount.answer.index.status === 'ready' ? mount.answer.index : null
}
