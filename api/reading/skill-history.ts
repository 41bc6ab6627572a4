import type { HistoryQuery, SkillHistory } from '#core/contract/history.ts'
import { ServiceError } from '#core/errors.ts'
import { isInside, type RepoPath } from '#core/repo-path.ts'
import type { ContextRow } from '#core/snapshot/format.ts'
import { type ReadyMount, requireValue } from '../mount/open-mount.ts'

/**
 * The commits that changed the files that a skill delivers; none, and `truncated`, where the host has no history. The host is asked about
 * delivered files only, so a commit that changed nothing but withheld files does not appear.
 *
 * @throws ServiceError `skill.not_found`, `mount.*` when the host cannot be asked, `skill.unavailable`
 */
export async function readSkillHistory(mount: ReadyMount, query: HistoryQuery): Promise<SkillHistory> {
  const { snapshot, address, host, repository, commit } = mount
  const path = query.path as RepoPath
  const row = isInside(address.path, path) ? await snapshot.get('contexts', path) : null
  if (row === null) throw new ServiceError('skill.not_found')
  const paths = pathsOf(path, row)
  const found = host.history
    ? requireValue(await host.history(repository, commit, paths), 'mount.repo_not_found')
    : { commits: [], paths: [], isCut: true }
  return {
    status: 'ready',
    commit,
    path,
    // A commit message may quote a text whose license does not permit a copy.
    commits: row.full ? found.commits : found.commits.map(one => ({ ...one, subject: null })),
    paths: found.paths,
    truncated: found.isCut || found.paths.length < paths.length,
  }
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
