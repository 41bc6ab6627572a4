import { z } from 'zod'
import { CommitSha } from '#core/commit-sha.ts'
import { type Fallbacks, NO_FALLBACKS } from '#core/ports/fallbacks.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { lastIndexedKey } from '#core/snapshot/store-keys.ts'

/**
 * The commit of a repository that was indexed last. A hint: if it is outdated, wrong or missing, the next commit is built from scratch. So it
 * is written without a lease, the last writer wins, and store errors are fallbacks.
 */
const LastIndexed = z.object({ commit: CommitSha })

export interface LastIndexedCommits {
  read(): Promise<CommitSha | null>
  forget(): Promise<void>
  write(commit: CommitSha): Promise<void>
}

/** The entry of one repository. */
export function lastIndexedOf(
  states: StateStore,
  repository: HostRepository,
  fallbacks: Fallbacks = NO_FALLBACKS,
): LastIndexedCommits {
  const key = lastIndexedKey(repository)
  const lost = (error: unknown) => {
    fallbacks.note('last_commit', error)
    return null
  }
  const write = async (commit: CommitSha) => {
    const stored = await states.read(key)
    await (stored === null ? states.create(key, { commit }) : states.replace(key, { commit }, stored.etag))
  }
  return {
    async read() {
      const stored = await states.read(key).catch(lost)
      if (stored === null) return null
      const parsed = LastIndexed.safeParse(stored.value)
      return parsed.success ? parsed.data.commit : lost(parsed.error)
    },
    async forget() {
      await states.remove(key).catch(lost)
    },
    async write(commit) {
      await write(commit).catch(lost)
    },
  }
}
