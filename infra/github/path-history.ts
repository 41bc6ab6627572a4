import { z } from 'zod'
import { type CommitSha, isCommitSha } from '#core/commit-sha.ts'
import { HISTORY_COMMITS } from '#core/limits.ts'
import type { HistoryCommit, HostAnswer, HostRepository, PathHistory } from '#core/ports/git-host.ts'
import type { Clock } from '#core/ports/system.ts'
import { commitSubject } from '../git/path-history.ts'
import { AnswerCache, type CachedAnswer } from './answer-cache.ts'
import { failureOf, type HostFailure } from './answers.ts'
import type { GitHubApi } from './api.ts'

export interface PathHistoriesOptions {
  api: Pick<GitHubApi, 'get'>
  patienceMs: number
  clock: Clock
}

/** The histories of paths of repositories at commits. Who may see the repository is decided before. */
export interface PathHistories {
  read(repository: HostRepository, commit: CommitSha, paths: readonly string[]): Promise<HostAnswer<PathHistory>>
  /** The first parent of the commit; `null` for the first one. */
  parent(repository: HostRepository, commit: CommitSha): Promise<HostAnswer<CommitSha | null>>
}

/** The commits of one path. */
interface OnePath {
  commits: HistoryCommit[]
  isCut: boolean
}

const Sha = z.custom<CommitSha>(value => typeof value === 'string' && isCommitSha(value))
const Rows = z
  .array(
    z.object({
      sha: Sha,
      commit: z.object({ message: z.string(), committer: z.object({ date: z.string().optional() }).nullable() }),
      parents: z.array(z.object({ sha: Sha })),
    }),
  )
  .max(HISTORY_COMMITS)

/** Each path is a question to the API, which has a quota. */
const PATHS = 3
const KEPT_BYTES = 8 * 1024 * 1024
const FOREVER = { freshSeconds: Number.POSITIVE_INFINITY, staleSeconds: Number.POSITIVE_INFINITY }

/**
 * Asks the API for the commits of a few files, one question each, and joins them. What lies behind a commit never changes, so an answer is kept as long
 * as there is room. Files are asked about, never their folders: a commit that changed only what is withheld beside them is not told.
 */
export function createPathHistories({ api, patienceMs, clock }: PathHistoriesOptions): PathHistories {
  const cache = new AnswerCache<OnePath>({ maxBytes: KEPT_BYTES, patienceMs, clock })

  /** @param path `null`: of the whole repository */
  async function ask(
    repository: HostRepository,
    commit: CommitSha,
    path: string | null,
  ): Promise<CachedAnswer<OnePath> | HostFailure> {
    const { owner, name } = repository
    const ofPath = path === null ? { per_page: 1 } : { path, per_page: HISTORY_COMMITS }
    const parameters = { owner, repo: name, sha: commit, ...ofPath }
    const answer = await api.get('/repos/{owner}/{repo}/commits', parameters, { of: repository, subject: 'history' })
    const rows = answer.status === 'ok' ? Rows.safeParse(answer.data).data : undefined
    if (answer.status !== 'ok' || rows === undefined) return failureOf(answer)
    return { status: 'ok', value: { commits: rows.map(commitOf), isCut: answer.link?.includes('rel="next"') === true } }
  }

  return {
    async parent(repository, commit) {
      const answer = await cache.get(`${repository.id} ${commit}`, FOREVER, () => ask(repository, commit, null))
      if (answer.status !== 'ok') return answer
      const [own] = answer.value.commits
      return own?.commit === commit ? { status: 'ok', value: own.parent } : { status: 'missing' }
    },
    async read(repository, commit, paths) {
      const asked = paths.slice(0, PATHS)
      const answers = await Promise.all(
        asked.map(path => cache.get(`${repository.id} ${commit} ${path}`, FOREVER, () => ask(repository, commit, path))),
      )
      const [first] = answers
      if (first !== undefined && first.status !== 'ok') return first
      const found = answers.flatMap((answer, index) =>
        answer.status === 'ok' ? [{ path: asked[index] as string, ...answer.value }] : [],
      )
      const commits = join(found.map(one => one.commits))
      return {
        status: 'ok',
        value: {
          commits: commits.slice(0, HISTORY_COMMITS),
          paths: found.map(({ path }) => path),
          isCut: commits.length > HISTORY_COMMITS || found.some(({ isCut }) => isCut),
        },
      }
    },
  }
}

function commitOf({ sha, commit, parents }: z.infer<typeof Rows>[number]): HistoryCommit {
  const at = Date.parse(commit.committer?.date ?? '')
  return {
    commit: sha,
    parent: parents[0]?.sha ?? null,
    committedAt: Number.isNaN(at) ? null : new Date(at).toISOString(),
    subject: commitSubject(commit.message),
  }
}

/** Each commit once, the latest first. */
function join(lists: readonly HistoryCommit[][]): HistoryCommit[] {
  const byCommit = new Map(lists.flat().map(one => [one.commit, one]))
  return [...byCommit.values()].sort((left, right) => timeOf(right) - timeOf(left))
}

function timeOf({ committedAt }: HistoryCommit): number {
  return committedAt === null ? 0 : Date.parse(committedAt)
}
