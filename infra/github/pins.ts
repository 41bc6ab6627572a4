import { LRUCache } from 'lru-cache'
import type { CommitSha } from '#core/commit-sha.ts'
import { GateFull } from '#core/concurrency/gate.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import type { Clock } from '#core/ports/system.ts'
import { createHistories } from '#infra/git/histories.ts'
import { type TipSet, tipSetOf } from '#infra/git/history.ts'
import type { Remote } from '#infra/git/upload-pack.ts'
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
  /** After `closing`. */
  close(): Promise<void>
}

const FOR_EVER = { freshSeconds: Number.POSITIVE_INFINITY, staleSeconds: Number.POSITIVE_INFINITY }
const HELD_PINS = 20_000
/** However many hashes are tried that lead nowhere, branches and tags are listed once in so long. */
const UNKNOWN_SECONDS = 30
/** As many wait for proofs as may. */
const BUSY: Trouble = { status: 'unavailable', retryAfterSeconds: 10 }

/**
 * The host gives out, under the name of a repository, the commits of all its forks as well. So a commit given by its hash is
 * shown to belong: by a comparison with the default branch, which most do; else since a branch or tag points at it; else by the
 * history of all of them, which is kept for a while. The host's quota pays for the first only, and where it cannot be asked, git can.
 */
export function createPins({ api, tips, remoteOf, hasGit, patienceMs, clock, closing }: PinsOptions): Pins {
  /** By id and hash. */
  const cache = new AnswerCache<CommitSha>({ capacity: HELD_PINS, patienceMs, clock })
  const histories = createHistories({ clock, closing })
  /** By id and hash: the tips of which git has shown that none leads there. While they stay, nobody has to show it again. */
  const refuted = new LRUCache<string, TipSet['fingerprint']>({ max: HELD_PINS })
  const tipSets = new WeakMap<TipList, TipSet>()

  async function prove(repository: HostRepository, commit: CommitSha): Promise<Kept<CommitSha> | Trouble> {
    return (await isStillRefuted(repository, commit)) ? { status: 'missing' } : ask(repository, commit)
  }

  async function isStillRefuted(repository: HostRepository, commit: CommitSha): Promise<boolean> {
    const fingerprint = refuted.get(keyOf(repository, commit))
    if (fingerprint === undefined) return false
    const listed = await tips.list(repository, UNKNOWN_SECONDS)
    return listed.status === 'ok' && tipSetOfList(listed.value).fingerprint === fingerprint
  }

  async function ask(repository: HostRepository, commit: CommitSha): Promise<Kept<CommitSha> | Trouble> {
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
    const source = { id: repository.id, remote: remoteOf(repository) }
    const tipSet = tipSetOfList(listed.value)
    try {
      // Of what a tag points at, only what it is remains to be seen.
      const isProven = await (refs.length > 0 ? histories.isCommit(source, commit) : histories.leadTo(source, tipSet, commit))
      if (isProven) return belonging
      refuted.set(keyOf(repository, commit), tipSet.fingerprint)
      return { status: 'missing' }
    } catch (error) {
      return error instanceof GateFull ? BUSY : UNAVAILABLE
    }
  }

  function tipSetOfList(list: TipList): TipSet {
    const known = tipSets.get(list) ?? tipSetOf(list.values())
    tipSets.set(list, known)
    return known
  }

  return {
    resolve: (repository, commit) => {
      return cache.get(keyOf(repository, commit), FOR_EVER, () => prove(repository, commit))
    },
    close: () => histories.close(),
  }
}

function keyOf(repository: HostRepository, commit: CommitSha): string {
  return `${repository.id} ${commit}`
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
