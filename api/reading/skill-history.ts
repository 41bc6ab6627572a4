import type { HistoryQuery, SkillHistory } from '#core/contract/history.ts'
import { ServiceError } from '#core/errors.ts'
import { isInside, parentOf, type RepoPath } from '#core/repo-path.ts'
import type { ContextRow } from '#core/snapshot/format.ts'
import { type ReadyMount, requireValue } from '../mount/open-mount.ts'
import { listContent } from '../mount/overview.ts'

/**
 * The commits that changed the files that a skill delivers, or those that a mount lists; none, and `truncated`, where the host has no history. The
 * host is asked about delivered files only, so a commit that changed nothing but withheld files does not appear.
 *
 * @throws ServiceError `skill.not_found`, `mount.*` when the host cannot be asked, `skill.unavailable`
 */
export async function readHistory(mount: ReadyMount, query: HistoryQuery): Promise<SkillHistory> {
  const { snapshot, address } = mount
  if (query.path === undefined) {
    const paths = await listedPaths(mount)
    return await tellHistory(mount, address.path, { paths, isAll: false, withSubjects: true })
  }
  const path = query.path as RepoPath
  const row = isInside(address.path, path) ? await snapshot.get('contexts', path) : null
  if (row === null) throw new ServiceError('skill.not_found')
  return await tellHistory(mount, path, { paths: pathsOf(path, row), isAll: true, withSubjects: row.full !== undefined })
}

interface Told {
  paths: readonly string[]
  /** Whether they are all files of the skill or the folder. */
  isAll: boolean
  /** A commit message may quote a text whose license does not permit a copy. */
  withSubjects: boolean
}

async function tellHistory(
  { host, repository, commit }: ReadyMount,
  path: RepoPath,
  { paths, isAll, withSubjects }: Told,
): Promise<SkillHistory> {
  const found = host.history
    ? requireValue(await host.history(repository, commit, paths), 'mount.repo_not_found')
    : { commits: [], paths: [], isCut: true }
  const isOnlyCommit = found.commits.some(one => one.commit === commit && one.parent === null)
  return {
    status: 'ready',
    commit,
    path,
    commits: withSubjects ? found.commits : found.commits.map(one => ({ ...one, subject: null })),
    paths: found.paths,
    truncated: !isOnlyCommit && (found.isCut || !isAll || found.paths.length < paths.length),
  }
}

/** The manifest of the folder, and the first skills and documents below it: of each only what may be copied. */
async function listedPaths(mount: ReadyMount): Promise<string[]> {
  const { skills, documents } = await listContent(mount)
  const listed = [...skills, ...documents].filter(one => !one.describedOnly).map(({ path }) => path)
  return [...(await ownManifest(mount)), ...listed]
}

/** None if it may not be copied, or excludes itself. */
async function ownManifest({ folder, address, snapshot }: ReadyMount): Promise<string[]> {
  const { manifest } = folder
  if (manifest === undefined || folder.describedOnly || parentOf(manifest as RepoPath) !== address.path) return []
  return (await snapshot.get('withheld', manifest)) === null ? [manifest] : []
}

/** The delivered files, those that change most often first: the skill, the nearest rules, what it includes, its files. */
function pathsOf(path: RepoPath, { full }: ContextRow): string[] {
  if (full === undefined) return [path]
  const pathOf = (part: { path: string }) => part.path
  const parts = [
    path,
    ...full.rules.map(pathOf).reverse(),
    ...full.includes.map(pathOf),
    ...full.files,
    ...full.oversized.map(pathOf),
  ]
  return [...new Set(parts)]
}
