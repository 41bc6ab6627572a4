import { z } from 'zod'
import { CommitSha } from '#core/commit-sha.ts'
import type { DocStore } from '#core/ports/doc-store.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import { lastIndexedKey } from '#core/snapshot/store-keys.ts'

/**
 * Which commit of a repository was indexed last. A hint: what it says may be old, wrong or gone, and then the next commit is built from
 * scratch. So it is written without a lease, the last writer stays, and a store that fails is as good as one that knows nothing.
 */
const LastIndexed = z.object({ commit: CommitSha })

export async function readLastIndexed(docs: DocStore, repository: HostRepository): Promise<CommitSha | null> {
  const stored = await docs.read(lastIndexedKey(repository)).catch(() => null)
  return LastIndexed.safeParse(stored?.value).data?.commit ?? null
}

export async function forgetLastIndexed(docs: DocStore, repository: HostRepository): Promise<void> {
  await docs.remove(lastIndexedKey(repository)).catch(() => {})
}

export async function writeLastIndexed(docs: DocStore, repository: HostRepository, commit: CommitSha): Promise<void> {
  const key = lastIndexedKey(repository)
  try {
    const stored = await docs.read(key)
    await (stored === null ? docs.create(key, { commit }) : docs.replace(key, { commit }, stored.etag))
  } catch {
    // The snapshot is there: only the next one takes longer.
  }
}
