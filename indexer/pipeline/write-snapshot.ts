import type { CommitSha } from '#core/commit-sha.ts'
import { createDamageReports } from '#core/damage-reports.ts'
import { INDEX_WALL_SECONDS, INDEX_WALL_WITH_FETCH_SECONDS, TREE_ENTRIES } from '#core/limits.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { GitHost, HostRepository } from '#core/ports/git-host.ts'
import type { IndexJob } from '#core/ports/job-queue.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { headerKey, packKey } from '#core/snapshot/store-keys.ts'
import { openEarlierSnapshot } from '../reuse/earlier-snapshot.ts'
import { forgetLastIndexed, readLastIndexed, writeLastIndexed } from '../reuse/last-indexed.ts'
import { createReuse } from '../reuse/reuse.ts'
import { createSearchBuilder } from '../search/builder.ts'
import { openPreviousSection } from '../search/previous.ts'
import { isDamaged, writingOver } from '../snapshot/repair.ts'
import { createSnapshotWriter, type WrittenSnapshot } from '../snapshot/snapshot-writer.ts'
import { IndexError } from './index-error.ts'
import { indexRepository } from './index-repository.ts'
import type { Progress } from './progress.ts'
import { INDEXED_BLOBS } from './select-blobs.ts'

/** What of a host indexing asks for. */
export type ReadableHost = Pick<GitHost, 'segment' | 'isRemote' | 'open'>

export interface SnapshotDeps {
  blobs: BlobStore
  hosts: readonly ReadableHost[]
  /** Without it every snapshot is built from scratch. */
  states?: StateStore
}

export interface BuildOptions {
  signal: AbortSignal
  onProgress?: (progress: Progress) => void
}

/**
 * Reads the repository and writes its snapshot; `null` when it is there already, and as it was written as far as anybody knows.
 * It goes on from the commit that was indexed last, which changes how long it takes and how much is stored, and nothing of what it says.
 *
 * @throws IndexError, ReadError, the reason of `signal`, or whatever the store throws
 */
export async function writeSnapshot(
  { blobs, states, hosts }: SnapshotDeps,
  job: IndexJob,
  signal: AbortSignal,
  onProgress?: (progress: Progress) => void,
): Promise<WrittenSnapshot | null> {
  const { repository, commit } = job
  const damages = states ? createDamageReports(states) : null
  // Documents that cannot be read now report no damage; the next visitor does.
  const damage = (await damages?.find(repository, commit).catch(() => null)) ?? null
  const settle = async () => damage && (await damages?.settle(repository, commit, new Date()).catch(() => {}))
  if ((await blobs.read(headerKey(repository, commit))) !== null) {
    if (damage === null) return null
    // Packs that are whole, and a reader who says again that they are not: it is the header that is wrong about them.
    if (damage.repairs === 0 && !(await isDamaged(blobs, repository, commit))) {
      await settle()
      return null
    }
  }
  const host = hosts.find(candidate => candidate.segment === repository.host)
  if (!host) throw new IndexError('index.fetch_failed', `no host ${repository.host} in this deployment`)

  const seconds = host.isRemote ? INDEX_WALL_WITH_FETCH_SECONDS : INDEX_WALL_SECONDS
  const outOfTime = new AbortController()
  const timer = setTimeout(() => outOfTime.abort(new IndexError('index.timeout', `more than ${seconds} seconds`)), seconds * 1000)
  try {
    const options = { signal: AbortSignal.any([signal, outOfTime.signal]), ...(onProgress ? { onProgress } : {}) }
    const last = states && damage === null ? await readLastIndexed(states, repository) : null
    const written = await buildSnapshot({ blobs, states, host, seconds, isRepair: damage !== null }, job, last, options)
    if (states) await writeLastIndexed(states, repository, commit)
    await settle()
    return written
  } finally {
    clearTimeout(timer)
  }
}

export interface BuildDeps {
  blobs: BlobStore
  states: StateStore | undefined
  host: ReadableHost
  /** Wall time of all reading. */
  seconds: number
  /** What stands there already may be damaged. */
  isRepair: boolean
}

/**
 * Builds the snapshot, and makes sure that what its header refers to is there.
 *
 * Whoever tidies the store may have removed a pack, which nothing referred to, after it was found there and before the header was.
 * Either that removal came before the look that is taken here once the header stands; then the snapshot is taken back and built from scratch.
 * Or the header stood before the removal; then whoever removed finds it, since they look at the headers once more afterwards.
 */
export async function buildSnapshot(
  deps: BuildDeps,
  job: IndexJob,
  last: CommitSha | null,
  options: BuildOptions,
): Promise<WrittenSnapshot> {
  const { blobs } = deps
  const { repository, commit } = job
  for (const base of [last, null]) {
    const written = await build(deps, job, base, options)
    // Another one's header refers to packs that the other one looks after.
    if (!written.isFirst || (await areThere(blobs, repository, written))) return written
    await blobs.remove(headerKey(repository, commit))
  }
  throw new Error('packs were removed while a snapshot was written that refers to them')
}

async function areThere(blobs: BlobStore, repository: HostRepository, { header }: WrittenSnapshot): Promise<boolean> {
  const lastBytes = await Promise.all(
    header.packs.map(({ name, sizeBytes }) => blobs.readRange(packKey(repository, name), sizeBytes - 1, 1)),
  )
  return lastBytes.every(bytes => bytes?.length === 1)
}

/** @param last the commit to go on from; `null`: from scratch */
async function build(
  { blobs, states, host, seconds, isRepair }: BuildDeps,
  { repository, commit }: IndexJob,
  last: CommitSha | null,
  options: BuildOptions,
): Promise<WrittenSnapshot> {
  const earlier = last === null ? null : await openEarlierSnapshot(blobs, repository, last)
  const { select, read, parts } = createReuse(earlier, host.isRemote)
  const reader = await host.open(repository, commit, { ...TREE_LIMITS, seconds }, select(INDEXED_BLOBS))
  try {
    const writer = createSnapshotWriter(isRepair ? writingOver(blobs) : blobs, repository, commit, parts)
    const previous = await openPreviousSection(earlier, options.signal)
    const search = createSearchBuilder(writer, { previous, signal: options.signal })
    try {
      return await indexRepository(writer, read(reader), repository, { ...options, search })
    } catch (error) {
      // Should it be what was gone on from that fails the job, then the next try does not.
      if (states && earlier && !options.signal.aborted) await forgetLastIndexed(states, repository)
      throw error
    } finally {
      await search.close()
    }
  } finally {
    await reader.close()
  }
}

// Paths that are too deep are left out one by one when the tree is built, so reading only stops at the number of entries.
const TREE_LIMITS = { treeEntries: TREE_ENTRIES, treeDepthSegments: Number.MAX_SAFE_INTEGER }
