import { z } from 'zod'
import { CommitSha } from '#core/commit-sha.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { lastIndexedKey } from '#core/snapshot/store-keys.ts'

/**
 * The commit of a repository that was indexed last. A hint: if it is outdated, wrong or missing, the next commit is built from scratch. So it
 * is written without a lease, the last writer wins, and store errors are ignored.
 */
const LastIndexed = z.object({ commit: CommitSha })

export async function readLastIndexed(states: StateStore, repository: HostRepository): Promise<CommitSha | null> {
  const stored = await states.read(lastIndexedKey(repository)).catch(() => null)
  return LastIndexed.safeParse(stored?.value).data?.commit ?? null
}

export async function forgetLastIndexed(states: StateStore, repository: HostRepository): Promise<void> {
  await states.remove(lastIndexedKey(repository)).catch(() => {})
}

export async function writeLastIndexed(states: StateStore, repository: HostRepository, commit: CommitSha): Promise<void> {
  const key = lastIndexedKey(repository)
  try {
    const stored = await states.read(key)
    await (stored === null ? states.create(key, { commit }) : states.replace(key, { commit }, stored.etag))
  } catch {
    // Only the next snapshot takes longer.
  }
}
