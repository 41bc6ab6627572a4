import { z } from 'zod'
import { CommitSha } from '#core/commit-sha.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { lastIndexedKey } from '#core/snapshot/store-keys.ts'

/**
 * Which commit of a repository was indexed last. A hint: what it says may be old, wrong or gone, and then the next commit is built from
 * scratch. So it is written without a lease, the last writer stays, and a store that fails is as good as one that knows nothing.
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
    // The snapshot is there: only the next one takes longer.
  }
}
