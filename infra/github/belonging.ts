import type { HostRepository } from '#core/ports/git-host.ts'
import type { CommitSha } from '#core/snapshot/format.ts'
import { isCommit, isInHistory, listTips, type Remote } from '#infra/git/fetch.ts'
import { createGate } from '#infra/git/gate.ts'
import { openScratch } from '#infra/git/view.ts'
import type { Kept } from './answer-cache.ts'
import { type Trouble, UNAVAILABLE } from './answers.ts'
import type { GitHubApi } from './api.ts'
import { isBehind } from './described.ts'

export interface BelongingOptions {
  api: GitHubApi
  remoteOf(repository: HostRepository): Remote
  /** Ends everything under way. */
  closing: AbortSignal
}

/** Whether a branch or tag of the repository leads to the commit. */
export type Belonging = (repository: HostRepository, commit: CommitSha) => Promise<Kept<CommitSha> | Trouble>

const PROOF_SECONDS = 60
/** Histories fetched at once; each may take hundreds of megabytes on disk. */
const HISTORIES = 2
/** Proofs that may wait for their turn; whoever comes then is told to come again. */
const WAITING = 16
const RETRY_SECONDS = 10

/**
 * The host gives out, under the name of a repository, the commits of all its forks as well. So a commit given by its hash is
 * shown to belong: by a comparison with the default branch, which most do; else since a branch or tag points at it; else by the
 * history of all of them. The host's quota pays for the first only, and where it cannot be asked, git can.
 */
export function createBelonging({ api, remoteOf, closing }: BelongingOptions): Belonging {
  const throughGate = createGate(HISTORIES)
  let pending = 0

  return async (repository, commit) => {
    const { owner, name, defaultBranch } = repository
    const compared = await api.get('/repos/{owner}/{repo}/compare/{basehead}', {
      owner,
      repo: name,
      basehead: `${defaultBranch}...${commit}`,
      per_page: 1,
    })
    if (compared.status === 'ok' && isBehind(compared.data, commit)) return { status: 'ok', value: commit }
    if (compared.status === 'no_commit') return { status: 'missing' }
    // Unrelated histories are missing too, so a missing comparison does not tell whether there is such a commit.
    const mayExist = compared.status !== 'missing' || /common ancestor/i.test(compared.message)
    if (pending >= HISTORIES + WAITING) return { status: 'unavailable', retryAfterSeconds: RETRY_SECONDS }
    pending++
    try {
      return await throughGate(() => askGit(remoteOf(repository), commit, mayExist, closing))
    } finally {
      pending--
    }
  }
}

async function askGit(
  remote: Remote,
  commit: CommitSha,
  withHistory: boolean,
  closing: AbortSignal,
): Promise<Kept<CommitSha> | Trouble> {
  const signal = AbortSignal.any([closing, AbortSignal.timeout(PROOF_SECONDS * 1000)])
  const scratch = await openScratch()
  try {
    const options = { gitDir: scratch.gitDir, remote, signal }
    const tips = await listTips(options)
    const tip = tips.find(({ oid }) => oid === commit)
    // A branch leads to a commit, a tag to anything.
    const isPublished = tip && (tip.ref.startsWith('refs/heads/') || (await isCommit(options, commit)))
    const belongs = isPublished || (withHistory && (await isInHistory(options, commit, tips)))
    return belongs ? { status: 'ok', value: commit } : { status: 'missing' }
  } catch {
    return UNAVAILABLE
  } finally {
    await scratch.remove()
  }
}
