import type { CommitSha } from '#core/commit-sha.ts'
import type { BlobSelection, ReadLimits, RepositoryReader } from '#core/ports/git-host.ts'
import { fetchTrees } from './fetch.ts'
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

/**
 * Opens a commit of a remote repository: fetches the trees, then the selected blobs in one batch, into a scratch repository that is
 * removed with the reader. Nothing is checked out.
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
      await ask(remote => fetchTrees({ gitDir, remote, signal }, commit), signal)
      supply = createBlobSupply({ gitDir, ask, signal, commit, selection, listSizes })
      return supply
    },
    async release() {
      await supply?.settled()
      await remove()
      onClosed()
    },
  })
}
