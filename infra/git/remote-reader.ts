import type { CommitSha } from '#core/commit-sha.ts'
import type { BlobSelection, ReadLimits, RepositoryReader } from '#core/ports/git-host.ts'
import { fetchTrees } from './fetch.ts'
import { openReader } from './reader.ts'
import { type BlobSupply, createBlobSupply, type SupplyOptions } from './remote-blobs.ts'
import type { Remote } from './upload-pack.ts'
import { openScratch } from './view.ts'

export interface RemoteReaderOptions {
  remote: Remote
  commit: CommitSha
  limits: ReadLimits
  selection: BlobSelection | undefined
  tellSizes: SupplyOptions['tellSizes']
  /** Ends all reading. */
  signal: AbortSignal
  /** Called once, by `close` or when opening fails. */
  onClosed: () => void
}

/**
 * Opens a commit of a repository on another machine: the trees first, then the wanted blobs in one batch, into a repository of our
 * own that goes with the reader. Nothing is ever checked out.
 *
 * @throws ReadError
 */
export async function openRemoteReader(options: RemoteReaderOptions): Promise<RepositoryReader> {
  const { remote, commit, limits, selection, tellSizes, onClosed } = options
  const { gitDir, remove } = await openScratch()
  let supply: BlobSupply | null = null
  return openReader({
    gitDir,
    commit,
    limits,
    signal: options.signal,
    async connect(signal) {
      await fetchTrees({ gitDir, remote, signal }, commit)
      supply = createBlobSupply({ gitDir, remote, signal, commit, selection, tellSizes })
      return supply
    },
    async release() {
      await supply?.settled()
      await remove()
      onClosed()
    },
  })
}
