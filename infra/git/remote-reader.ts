import type { BlobSelection, ReadLimits, RepositoryReader } from '#core/ports/git-host.ts'
import type { CommitSha } from '#core/snapshot/format.ts'
import { fetchTrees, type Remote } from './fetch.ts'
import { openReader } from './reader.ts'
import { type BlobSupply, createBlobSupply, type SupplyOptions } from './remote-blobs.ts'
import type { Scratch, ScratchPool } from './scratch-pool.ts'

export interface RemoteReaderOptions {
  remote: Remote
  commit: CommitSha
  limits: ReadLimits
  selection: BlobSelection | undefined
  tellSizes: SupplyOptions['tellSizes']
  pool: ScratchPool
  /** The repository: what was fetched for one is used for no other. */
  key: string
  /** Ends all reading. */
  signal: AbortSignal
  /** Called once, by `close` or when opening fails. */
  onClosed: () => void
}

/**
 * Opens a commit of a repository on another machine: the trees first, then the wanted blobs in one batch, into a repository of our
 * own. Nothing is ever checked out.
 *
 * @throws ReadError
 */
export async function openRemoteReader(options: RemoteReaderOptions): Promise<RepositoryReader> {
  const { pool, key, signal } = options
  const scratch = await pool.take(key)
  try {
    return await openIn(scratch, options)
  } catch (error) {
    // What was kept may have been damaged by a process that was killed, or been removed.
    if (scratch.isNew || signal.aborted) throw error
    return openIn(await pool.takeNew(), options)
  }
}

async function openIn(scratch: Scratch, options: RemoteReaderOptions): Promise<RepositoryReader> {
  const { remote, commit, limits, selection, tellSizes, pool, key, onClosed } = options
  const { gitDir } = scratch
  let supply: BlobSupply | null = null
  return openReader({
    gitDir,
    commit,
    limits,
    signal: options.signal,
    async connect(signal) {
      await fetchTrees({ gitDir, remote, signal }, commit)
      supply = createBlobSupply({ scratch, gitDir, remote, signal, commit, selection, tellSizes })
      return supply
    },
    async release(hasFailed) {
      await supply?.settled()
      // What made a reading fail may lie in what was fetched, and would fail the next one.
      await (hasFailed ? pool.remove(scratch) : pool.give(key, scratch, commit))
      onClosed()
    },
  })
}
