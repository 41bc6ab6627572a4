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

/** Whether a path lies in a folder whose files are there to be tested with. */
export function isTestPlace(path: string): boolean {
  return foldersOf(path).some(name => TESTS.has(name))
}

/** Whether a skill lies in a folder for tests, examples or documentation. */
export function isShownPlace(path: string): boolean {
  return foldersOf(path).some(name => TESTS.has(name) || SHOWN.has(name))
}

function foldersOf(path: string): string[] {
  return path.toLowerCase().split('/').slice(0, -1)
}

function rankOf(path: RepoPath): number[] {
  const folders = foldersOf(path)
  return [isShownPlace(path) ? 1 : 0, folders.some(name => name.startsWith('.')) ? 1 : 0, folders.length, path.length]
}

const TESTS: ReadonlySet<string> = new Set([
  'test',
  'tests',
  '__tests__',
  'testdata',
  'fixture',
  'fixtures',
  '__fixtures__',
  'eval',
  'evals',
])
/** Further folders whose skills are there to be shown. */
const SHOWN: ReadonlySet<string> = new Set(
  'example examples sample samples docs documentation archive archived deprecated backup backups'.split(' '),
)
