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
    const history = await tellHistory(mount, address.path, await listedPaths(mount), true)
    return { ...history, truncated: true }
  }
  const path = query.path as RepoPath
  const row = isInside(address.path, path) ? await snapshot.get('contexts', path) : null
  if (row === null) throw new ServiceError('skill.not_found')
  return await tellHistory(mount, path, pathsOf(path, row), row.full !== undefined)
}

/** @param withSubjects a commit message may quote a text whose license does not permit a copy */
async function tellHistory(
  { host, repository, commit }: ReadyMount,
  path: RepoPath,
  paths: readonly string[],
  withSubjects: boolean,
): Promise<SkillHistory> {
  const found = host.history
    ? requireValue(await host.history(repository, commit, paths), 'mount.repo_not_found')
    : { commits: [], paths: [], isCut: true }
  return {
    status: 'ready',
    commit,
    path,
    commits: withSubjects ? found.commits : found.commits.map(one => ({ ...one, subject: null })),
    paths: found.paths,
    truncated: found.isCut || found.paths.length < paths.length,
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
