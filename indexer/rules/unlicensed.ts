import { ancestorsOf, isInside, parentOf, type RepoPath, ROOT } from '#core/repo-path.ts'
import type { FolderRow } from '#core/snapshot/format.ts'

type Licensed = readonly [path: string, row: { license?: { kind: string } | undefined }]

/**
 * The folder in which a license is missing, for every folder with content that has none: itself where nothing in it has a license, else the deepest
 * folder around all that has none.
 *
 * @param content skills and documents
 * @param rows of the folders: inside a skill its Markdown files are content, too
 */
export function unlicensedFolders(content: readonly Licensed[], rows: ReadonlyMap<RepoPath, FolderRow>): Map<RepoPath, RepoPath> {
  const totals = new Map<RepoPath, number>()
  const found = new Map<RepoPath, { count: number; around: RepoPath }>()
  for (const [path, { license }] of content) {
    const place = parentOf(path as RepoPath)
    for (const folder of ancestorsOf(path as RepoPath)) {
      totals.set(folder, (totals.get(folder) ?? 0) + 1)
      if (license?.kind !== 'none') continue
      const before = found.get(folder)
      found.set(folder, { count: (before?.count ?? 0) + 1, around: before ? commonFolder(before.around, place) : place })
    }
  }
  return new Map(
    [...found].map(([folder, { count, around }]) => {
      const total = (totals.get(folder) ?? 0) + (rows.get(folder)?.pages?.count ?? 0)
      return [folder, count === total ? folder : around]
    }),
  )
}

function commonFolder(left: RepoPath, right: RepoPath): RepoPath {
  return [...ancestorsOf(left), left].findLast(folder => isInside(folder, right)) ?? ROOT
}
