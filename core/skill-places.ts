import type { RepoPath } from './repo-path.ts'
import { compareBytes } from './text.ts'

/**
 * Orders the places of skills that are copies, or have one name, by how much each looks like the one where its author edits it: outside of
 * folders for tests and documentation, outside of hidden folders, near the root.
 */
export function comparePlaces(left: RepoPath, right: RepoPath): number {
  const [leftRank, rightRank] = [rankOf(left), rankOf(right)]
  const at = leftRank.findIndex((value, index) => value !== rightRank[index])
  return at < 0 ? compareBytes(left, right) : (leftRank[at] ?? 0) - (rightRank[at] ?? 0)
}

function rankOf(path: RepoPath): number[] {
  const folders = path.split('/').slice(0, -1)
  return [
    folders.some(name => ASIDE.has(name.toLowerCase())) ? 1 : 0,
    folders.some(name => name.startsWith('.')) ? 1 : 0,
    folders.length,
    path.length,
  ]
}

/** Names of folders whose skills are there to be tested or shown. */
const ASIDE: ReadonlySet<string> = new Set(
  'test tests __tests__ testdata fixture fixtures __fixtures__ eval evals example examples sample samples docs documentation archive archived deprecated backup backups'.split(
    ' ',
  ),
)
