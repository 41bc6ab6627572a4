import type { CommitSha } from '#core/commit-sha.ts'
import type { BlobSelection, ReadLimits, RepositoryReader } from '#core/ports/git-host.ts'
import { fetchIfSmall, fetchTrees } from './fetch.ts'
import { openReader } from './reader.ts'
import { type AskRemote, type BlobSupply, createBlobSupply, type SupplyOptions } from './remote-blobs.ts'
import { openScratch } from './view.ts'

export interface RemoteReaderOptions {
  /** Asks the host. @param question may run several times */
  ask: AskRemote
  commit: CommitSha
  limits: ReadLimits
  selection: BlobSelection | undefined
  listSizes: SupplyOptions['listSizes']
  /** Aborts all reading. */
  signal: AbortSignal
  /** Called once: by `close`, or when opening fails. */
  onClosed: () => void
}

/** Most repositories of skills are smaller. Of a larger one this much is fetched in vain. */
const SMALL_PACK_BYTES = 4 * 1024 * 1024

/**
 * Opens a commit of a remote repository: fetches a small one in one request; else the trees, then the selected blobs in one batch. They go
 * into a scratch repository that is removed with the reader. Nothing is checked out. Decision 0010.
 *
 * @throws ReadError
 */
export async function openRemoteReader(options: RemoteReaderOptions): Promise<RepositoryReader> {
  const { ask, commit, limits, selection, listSizes, onClosed } = options
  const { gitDir, remove } = await openScratch()
  let supply: BlobSupply | null = null
  return openReader({
    gitDir,
    commit,
    limits,
    signal: options.signal,
    async connect(signal) {
      const hasSmallBlobs = await ask(async remote => {
        const fetching = { gitDir, remote, signal }
        // Where an earlier snapshot holds most blobs, only the others are fetched.
        const small = selection && !selection.heldAmong ? { maxBytes: selection.maxBytes, packBytes: SMALL_PACK_BYTES } : null
        if (small !== null && (await fetchIfSmall(fetching, commit, small))) return true
        await fetchTrees(fetching, commit)
        return false
      }, signal)
      supply = createBlobSupply({ gitDir, ask, signal, commit, selection, listSizes, hasSmallBlobs })
      return supply
    },
    async release() {
      await supply?.settled()
      await remove()
      onClosed()
    },
  })
}
