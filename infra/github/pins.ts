import type { HostRepository } from '#core/ports/git-host.ts'
import type { Clock } from '#core/ports/system.ts'
import type { CommitSha } from '#core/snapshot/format.ts'
import { isCommit, isInHistory } from '#infra/git/fetch.ts'
import { createGate } from '#infra/git/gate.ts'
import type { Remote } from '#infra/git/upload-pack.ts'
import { openScratch } from '#infra/git/view.ts'
import { AnswerCache, type Kept } from './answer-cache.ts'
import { type ApiAnswer, type Trouble, UNAVAILABLE } from './answers.ts'
import type { GitHubApi } from './api.ts'
import { isBehind } from './described.ts'
import { NOW_SECONDS, type TipList, type Tips } from './tips.ts'

export interface PinsOptions {
  api: Pick<GitHubApi, 'get'>
  tips: Pick<Tips, 'list'>
  remoteOf(repository: HostRepository): Remote
  /** Whether there is a git program. Without it, histories cannot be looked through. */
  hasGit: boolean
  patienceMs: number
  clock: Clock
  /** Ends everything under way. */
  closing: AbortSignal
}

/** Commits that are given by their hash. */
export interface Pins {
  /** The commit where a branch or tag of the repository leads to it. It does so for ever. */
  resolve(repository: HostRepository, commit: CommitSha): Promise<Kept<CommitSha> | Trouble>
}

const FOR_EVER = { freshSeconds: Number.POSITIVE_INFINITY, staleSeconds: Number.POSITIVE_INFINITY }
const HELD_PINS = 20_000
/** However many hashes are tried of which the host knows nothing, branches and tags are listed once in so long. */
const UNKNOWN_SECONDS = 30
const PROOF_SECONDS = 60
/** Histories fetched at once; each may take hundreds of megabytes on disk. */
const HISTORIES = 2
/** Proofs that may wait for their turn; whoever comes then is told to come again. */
const WAITING = 16
const BUSY: Trouble = { status: 'unavailable', retryAfterSeconds: 10 }

/**
 * The host gives out, under the name of a repository, the commits of all its forks as well. So a commit given by its hash is
 * shown to belong: by a comparison with the default branch, which most do; else since a branch or tag points at it; else by the
 * history of all of them. The host's quota pays for the first only, and where it cannot be asked, git can.
 */
export function createPins({ api, tips, remoteOf, hasGit, patienceMs, clock, closing }: PinsOptions): Pins {
  /** By id and hash. */
  const cache = new AnswerCache<CommitSha>({ capacity: HELD_PINS, patienceMs, clock })
  const throughGate = createGate(HISTORIES)
  let pending = 0

  async function prove(repository: HostRepository, commit: CommitSha): Promise<Kept<CommitSha> | Trouble> {
    const { owner, name, defaultBranch } = repository
    const belonging = { status: 'ok', value: commit } as const
    const compared = await api.get('/repos/{owner}/{repo}/compare/{basehead}', {
      owner,
      repo: name,
      basehead: `${defaultBranch}...${commit}`,
      per_page: 1,
    })
    if (compared.status === 'ok' && isBehind(compared.data, commit)) return belonging
    if (compared.status === 'no_commit') return { status: 'missing' }
    const existence = existenceOf(compared)
    // What there is may have been pushed just now; of hashes for nothing there is no end.
    const listed = await tips.list(repository, existence === 'commit' ? NOW_SECONDS : UNKNOWN_SECONDS)
    if (listed.status !== 'ok') return listed
    const refs = [...listed.value].filter(([, oid]) => oid === commit).map(([ref]) => ref)
    // A branch leads to a commit, a tag to anything.
    if (refs.some(ref => ref.startsWith('refs/heads/')) || (refs.length > 0 && existence === 'commit')) return belonging
    if (existence === 'nothing' && refs.length === 0) return { status: 'missing' }
    if (!hasGit) return UNAVAILABLE
    if (pending >= HISTORIES + WAITING) return BUSY
    pending++
    try {
      const isProven = await throughGate(() => askGit(repository, commit, refs.length > 0, listed.value))
      return isProven ? belonging : { status: 'missing' }
    } catch {
      return UNAVAILABLE
    } finally {
      pending--
    }
  }

  /** @param isTagged only what it is remains to be seen */
  async function askGit(repository: HostRepository, commit: CommitSha, isTagged: boolean, tips: TipList): Promise<boolean> {
    const signal = AbortSignal.any([closing, AbortSignal.timeout(PROOF_SECONDS * 1000)])
    const { gitDir, remove } = await openScratch()
    try {
      const options = { gitDir, remote: remoteOf(repository), signal }
      return isTagged ? await isCommit(options, commit) : await isInHistory(options, commit, tips.values())
    } finally {
      await remove()
    }
  }

  return {
    resolve: (repository, commit) => cache.get(`${repository.id} ${commit}`, FOR_EVER, () => prove(repository, commit)),
  }
}

/** What a comparison tells of its commit. Of unrelated histories it says that there is nothing in common, by the status of a missing one. */
function existenceOf(compared: ApiAnswer): 'commit' | 'nothing' | 'unknown' {
  switch (compared.status) {
    case 'ok':
      return 'commit'
    case 'missing':
      return /common ancestor/i.test(compared.message) ? 'commit' : 'nothing'
    default:
      return 'unknown'
  }
}
