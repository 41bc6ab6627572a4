import type { CommitSha } from '#core/commit-sha.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import type { Clock } from '#core/ports/system.ts'
import { AnswerCache, type Kept } from './answer-cache.ts'
import { type Trouble, UNAVAILABLE } from './answers.ts'
import type { GitHubApi } from './api.ts'
import { type Repositories, SHOWN_SECONDS, STALE_SECONDS } from './repositories.ts'
import { NOW_SECONDS, type Tips } from './tips.ts'

export interface RefsOptions {
  api: Pick<GitHubApi, 'get' | 'maySeePrivate'>
  tips: Tips
  repositories: Repositories
  patienceMs: number
  clock: Clock
}

/** The commits behind branches, tags and other refs. */
export interface Refs {
  /** @param ref no hash; `null`: the default branch */
  resolve(repository: HostRepository, ref: string | null): Promise<Kept<CommitSha> | Trouble>
  /** All refs of these repositories may have changed. */
  forget(ids: ReadonlySet<string>): void
  /** Refs may have moved. @returns whether somebody has opened this one. After a start nobody has, which costs the next visitor a minute. */
  expire(id: string, ref: string): boolean
}

interface KnownRef {
  commit: CommitSha
  /** What the API is asked for: `heads/main`, `tags/v1`, `refs/pull/1/head`. */
  name: string
  /** When it was seen that the ref means this name, in milliseconds since 1970. */
  namedAt: number
}

const TIMES = { freshSeconds: SHOWN_SECONDS, staleSeconds: STALE_SECONDS }
/** A tag is a tag for so long: that a branch came to have its name, and so to win over it, is noticed then. */
const NAMED_SECONDS = 300
/** However many names are tried, there is one request in so long. That there is none is kept for as long again, so a new one is found within a minute. */
const NAMES_SECONDS = 30
const HELD_REFS = 20_000
const MISSING = { status: 'missing' } as const

export function createRefs({ api, tips, repositories, patienceMs, clock }: RefsOptions): Refs {
  /** By id, and the name or the ref that may be two. */
  const cache = new AnswerCache<KnownRef>({ capacity: HELD_REFS, patienceMs, clock })
  const now = () => clock.now().getTime()

  /** One question, which is answered by "unchanged" where it is. */
  async function askApi(
    repository: HostRepository,
    name: string,
    known: CommitSha | null,
    isAgain: boolean,
  ): Promise<Kept<CommitSha> | Trouble> {
    const askedAt = now()
    // For this media type the tag of the answer is the commit itself, whoever asks.
    const options = { accept: 'application/vnd.github.sha', isAgain, ...(known === null ? {} : { etag: `"${known}"` }) }
    const answer = await api.get(
      '/repos/{owner}/{repo}/commits/{ref}',
      { owner: repository.owner, repo: repository.name, ref: name },
      options,
    )
    switch (answer.status) {
      case 'ok':
      case 'unchanged': {
        const commit = answer.status === 'unchanged' ? known : readCommit(answer.data)
        if (commit === null) return UNAVAILABLE
        if (!api.maySeePrivate) repositories.noteShown(repository, askedAt)
        return { status: 'ok', value: commit }
      }
      case 'no_commit':
        return MISSING
      case 'missing': {
        // It is the repository that was not found, so that is asked about.
        const found = await repositories.find(repository.owner, repository.name, 0)
        return found.status === 'ok' ? MISSING : found
      }
      case 'rate_limited':
      case 'unavailable':
        return answer
    }
  }

  /** A name that can be nothing else. While the API may not be asked, git tells where branches are. */
  async function askName(repository: HostRepository, name: string, known: KnownRef | null): Promise<Kept<KnownRef> | Trouble> {
    const found = (commit: CommitSha): Kept<KnownRef> => ({ status: 'ok', value: { commit, name, namedAt: now() } })
    const answer = await askApi(repository, name, known?.commit ?? null, known !== null)
    if (answer.status === 'ok') return found(answer.value)
    const listed =
      answer.status === 'rate_limited' && /^(?:heads|tags)\//.test(name) ? await tips.list(repository, NOW_SECONDS) : answer
    if (listed.status !== 'ok') return listed.status === 'missing' ? MISSING : answer
    const oid = listed.value.get(`refs/${name}`) ?? null
    if (oid === null) return MISSING
    // Behind a tag may lie what is no commit.
    return name.startsWith('heads/') || oid === known?.commit ? found(oid as CommitSha) : answer
  }

  /** A branch, or else a tag. */
  async function askPlain(repository: HostRepository, ref: string, known: KnownRef | null): Promise<Kept<KnownRef> | Trouble> {
    if (known !== null && now() - known.namedAt < NAMED_SECONDS * 1000) {
      const answer = await askName(repository, known.name, known)
      if (answer.status !== 'missing')
        return answer.status === 'ok' ? { status: 'ok', value: { ...answer.value, namedAt: known.namedAt } } : answer
    }
    const askedAt = now()
    const listed = await tips.list(repository, NAMES_SECONDS)
    if (listed.status !== 'ok') return askBoth(repository, ref)
    // git tells which of the two there is, the API whether it leads to a commit: by an answer that nothing changed, which is free.
    const name = [`heads/${ref}`, `tags/${ref}`].find(candidate => listed.value.has(`refs/${candidate}`))
    if (name === undefined) return MISSING
    return askName(repository, name, { commit: listed.value.get(`refs/${name}`) as CommitSha, name, namedAt: askedAt })
  }

  /** Where git does not tell: the API does not say which it prefers of a branch and a tag of one name. */
  async function askBoth(repository: HostRepository, ref: string): Promise<Kept<KnownRef> | Trouble> {
    const branch = await askName(repository, `heads/${ref}`, null)
    return branch.status === 'missing' ? askName(repository, `tags/${ref}`, null) : branch
  }

  async function commitOf(answer: Promise<Kept<KnownRef> | Trouble>): Promise<Kept<CommitSha> | Trouble> {
    const known = await answer
    return known.status === 'ok' ? { status: 'ok', value: known.value.commit } : known
  }

  return {
    async resolve(repository, ref) {
      const startedAt = performance.now()
      const name = nameOf(ref, repository.defaultBranch)
      const keyOf = (asked: string) => `${repository.id} ${asked}`
      if (name !== null) {
        const answer = await commitOf(cache.get(keyOf(name), TIMES, known => askName(repository, name, known)))
        if (answer.status !== 'missing' || ref !== repository.defaultBranch) return answer
      }
      const plain = ref as string
      // Both lookups together have the patience of one.
      const times = { ...TIMES, patienceMs: Math.max(0, patienceMs - (performance.now() - startedAt)) }
      return commitOf(cache.get(keyOf(`*/${plain}`), times, known => askPlain(repository, plain, known)))
    },

    forget(ids) {
      for (const id of ids) tips.forget(id)
      cache.dropWhere(key => ids.has(key.slice(0, key.indexOf(' '))))
    },

    expire(id, ref) {
      let isOpened = false
      tips.forget(id)
      cache.expireWhere((key, answer) => {
        if (!key.startsWith(`${id} `)) return false
        const asked = key.slice(id.length + 1)
        if (answer?.status === 'ok' && meansOf(asked).includes(ref)) isOpened = true
        return true
      })
      return isOpened
    },
  }
}

/** What the API is asked for; `null` where the ref may be a branch or a tag. The default branch is a branch. */
function nameOf(ref: string | null, defaultBranch: string): string | null {
  if (ref === null || ref === 'HEAD' || ref === defaultBranch) return `heads/${defaultBranch}`
  const known = /^refs\/((?:heads|tags)\/.+)$/.exec(ref)?.[1]
  return known ?? (ref.startsWith('refs/') ? ref : null)
}

/** The refs that a key of the cache may mean. */
function meansOf(asked: string): string[] {
  if (asked.startsWith('*/')) return ['heads', 'tags'].map(folder => `refs/${folder}${asked.slice(1)}`)
  return [asked.startsWith('refs/') ? asked : `refs/${asked}`]
}

function readCommit(data: unknown): CommitSha | null {
  return typeof data === 'string' && /^[0-9a-f]{40}$/.test(data) ? (data as CommitSha) : null
}
