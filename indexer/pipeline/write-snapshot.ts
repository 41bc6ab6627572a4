import type { CommitSha } from '#core/commit-sha.ts'
import { createDamageReports, type DamageReport } from '#core/damage-reports.ts'
import { INDEX_PROCESSOR_SECONDS, INDEX_WALL_SECONDS, TREE_ENTRIES } from '#core/limits.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import { type Fallbacks, NO_FALLBACKS } from '#core/ports/fallbacks.ts'
import type { GitHost, HostRepository, RepositoryReader, TreeEntry } from '#core/ports/git-host.ts'
import type { IndexJob } from '#core/ports/job-queue.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import type { Clock } from '#core/ports/system.ts'
import { headerKey, packKey } from '#core/snapshot/store-keys.ts'
import { isProse } from '../rules/content-kind.ts'
import { sumBytes } from '../rules/tree.ts'
import { createSearchBuilder } from '../search/builder.ts'
import { openPreviousSection } from '../search/previous.ts'
import type { SearchThreads } from '../search/search-thread.ts'
import { loadReadings, NO_READINGS } from '../snapshot/earlier-readings.ts'
import {
  type EarlierSnapshot,
  type LastIndexedCommits,
  lastIndexedOf,
  openEarlierSnapshot,
} from '../snapshot/earlier-snapshot.ts'
import { isDamaged, replacingDamaged } from '../snapshot/repair.ts'
import { reuseEarlier, selectUnheld } from '../snapshot/reuse.ts'
import { createSnapshotWriter, type WrittenSnapshot } from '../snapshot/snapshot-writer.ts'
import { IndexError } from './index-error.ts'
import { indexRepository } from './index-repository.ts'
import { type Progress, startUsedTime as startMeasuring, type UsedTime } from './progress.ts'
import { INDEXED_BLOBS, readTree } from './read-tree.ts'

/** The part of a host that indexing uses. */
export type ReadableHost = Pick<GitHost, 'segment' | 'isRemote' | 'open'>

export interface SnapshotDeps {
  blobs: BlobStore
  hosts: readonly ReadableHost[]
  /** Without it every snapshot is built from scratch. */
  states?: StateStore
  /** Told of failures that do not fail the job. Default: not counted. */
  fallbacks?: Fallbacks
  /** Says when a repair ended. Default: the machine's. */
  clock?: Clock
  /** Starts to measure the processor time of a job. Default: that of this process, up to `INDEX_PROCESSOR_SECONDS`. For tests. */
  startUsedTime?: () => UsedTime
  /** Builds search sections beside this thread. Default: `null`, this thread builds them. */
  searchThreads?: SearchThreads | null
}

export interface BuildOptions {
  signal: AbortSignal
  onProgress?: (progress: Progress) => void
  usedTime?: UsedTime
}

/**
 * Reads the repository and writes its snapshot; `null` when the snapshot exists and no reader reported damage.
 * Building on the commit that was indexed last changes the time and the bytes stored, and none of the answers.
 *
 * @throws IndexError, ReadError, the reason of `signal`, or an error of the store
 */
export async function writeSnapshot(
  { blobs, states, hosts, fallbacks = NO_FALLBACKS, clock, startUsedTime = ofThisProcess, searchThreads = null }: SnapshotDeps,
  job: IndexJob,
  signal: AbortSignal,
  onProgress?: (progress: Progress) => void,
): Promise<WrittenSnapshot | null> {
  const { repository, commit } = job
  const damages = states ? createDamageReports(states) : null
  const lost = (error: unknown) => {
    fallbacks.note('damage_report', error)
    return null
  }
  // A report that cannot be read now is found by the next visitor.
  const damage = (await damages?.find(repository, commit).catch(lost)) ?? null
  const settle = async () => damage && (await damages?.settle(repository, commit, clock?.now() ?? new Date()).catch(lost))
  if (await isIntact(blobs, job, damage)) {
    await settle()
    return null
  }
  const host = hosts.find(candidate => candidate.segment === repository.host)
  if (!host) throw new IndexError('index.fetch_failed', `this deployment has no host ${repository.host}`)

  const lastIndexed = states ? lastIndexedOf(states, repository, fallbacks) : null
  const last = damage === null ? ((await lastIndexed?.read()) ?? null) : null
  const usedTime = startUsedTime()
  const written = await withinLimits(usedTime, signal, limited => {
    const options = { signal: limited, usedTime, ...(onProgress ? { onProgress } : {}) }
    return buildSnapshot({ blobs, lastIndexed, host, isRepair: damage !== null, fallbacks, searchThreads }, job, last, options)
  })
  await lastIndexed?.write(commit)
  await settle()
  return written
}

/**
 * Whether the job has nothing to build. Without a report, an existing header is enough. At a first report, the header and its packs are
 * verified. At a report soon after an earlier one was settled, the answer is `false`.
 */
async function isIntact(blobs: BlobStore, { repository, commit }: IndexJob, damage: DamageReport | null): Promise<boolean> {
  if ((await blobs.read(headerKey(repository, commit))) === null) return false
  if (damage === null) return true
  // If damage is reported again after a repair, the packs are assumed intact and the header wrong, so it is rebuilt.
  return damage.repairs === 0 && !(await isDamaged(blobs, repository, commit))
}

const ofThisProcess = () => startMeasuring(INDEX_PROCESSOR_SECONDS)

/** @throws IndexError `index.timeout` by way of the signal that `work` receives */
async function withinLimits<Value>(
  usedTime: UsedTime,
  signal: AbortSignal,
  work: (limited: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const outOfTime = new AbortController()
  const end = (limit: string) => outOfTime.abort(new IndexError('index.timeout', `more than ${limit}`))
  const wall = setTimeout(() => end(`${INDEX_WALL_SECONDS} seconds`), INDEX_WALL_SECONDS * 1000)
  const processor = setInterval(() => {
    if (usedTime() > 1) end(`${INDEX_PROCESSOR_SECONDS} seconds of processor time`)
  }, LOOK_MILLISECONDS)
  try {
    return await work(AbortSignal.any([signal, outOfTime.signal]))
  } finally {
    clearTimeout(wall)
    clearInterval(processor)
  }
}

const LOOK_MILLISECONDS = 500

export interface BuildDeps {
  blobs: BlobStore
  /** `null`: every snapshot is built from scratch. */
  lastIndexed: LastIndexedCommits | null
  host: ReadableHost
  /** Objects of this snapshot may exist and be damaged. */
  isRepair: boolean
  fallbacks: Fallbacks
  searchThreads: SearchThreads | null
}

/**
 * Builds the snapshot and checks that every pack its header lists exists.
 *
 * A concurrent sweep may remove an unused pack after this job found it and before it wrote the header. Two cases: if the pack went before the
 * check here, the snapshot is removed and built from scratch; if the header was written before the pack went, the sweep finds that header when
 * it lists the headers once more, and removes it.
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
    // A header of another job lists packs that the other job checks.
    if (!written.isFirst || (await havePacks(blobs, repository, written))) return written
    await blobs.remove(headerKey(repository, commit))
  }
  throw new Error('a sweep removed packs while the snapshot that lists them was written')
}

async function havePacks(blobs: BlobStore, repository: HostRepository, { header }: WrittenSnapshot): Promise<boolean> {
  const lastBytes = await Promise.all(
    header.packs.map(({ name, sizeBytes }) => blobs.readRange(packKey(repository, name), sizeBytes - 1, 1)),
  )
  return lastBytes.every(bytes => bytes?.length === 1)
}

/** @param base the commit to build on; `null`: from scratch */
async function build(deps: BuildDeps, job: IndexJob, base: CommitSha | null, options: BuildOptions): Promise<WrittenSnapshot> {
  const { blobs, lastIndexed, host, fallbacks } = deps
  const { repository, commit } = job
  const earlier = base === null ? null : await openEarlierSnapshot(blobs, repository, base, fallbacks)
  const reader = await host.open(repository, commit, READ_LIMITS, selectUnheld(INDEXED_BLOBS, earlier))
  try {
    return await buildFrom(reader, earlier, deps, job, options)
  } catch (error) {
    // The earlier snapshot may be the cause: the next attempt starts from scratch.
    if (earlier && !options.signal.aborted) await lastIndexed?.forget()
    throw error
  } finally {
    await reader.close()
  }
}

async function buildFrom(
  reader: RepositoryReader,
  earlier: EarlierSnapshot | null,
  { blobs, host, isRepair, searchThreads }: BuildDeps,
  { repository, commit }: IndexJob,
  options: BuildOptions,
): Promise<WrittenSnapshot> {
  const read = await readTree(reader, options.onProgress)
  const readings = earlier === null ? NO_READINGS : await loadReadings(earlier)
  const { tree, parts } = reuseEarlier(earlier, readings, read, { noteSizes: host.isRemote })
  const target = isRepair ? replacingDamaged(blobs) : blobs
  const writer = createSnapshotWriter(target, repository, commit, parts)
  const previous = await openPreviousSection(earlier, options.signal)
  const beside = previous === null ? searchThreads?.start(writer, options.signal, textBytesOf(tree.entries)) : null
  const search = beside ?? createSearchBuilder(writer, { previous, signal: options.signal })
  try {
    const confirm = async () => reader.confirm?.()
    return await indexRepository(writer, tree, repository, {
      ...options,
      search,
      confirm,
      committedAt: reader.committedAt ?? null,
    })
  } finally {
    await search.close()
  }
}

function textBytesOf(entries: readonly TreeEntry[]): number {
  return sumBytes(entries.filter(({ path }) => path !== null && isProse(path)))
}

// `buildTree` skips each path that is too deep, so the reader limits only the number of entries.
const READ_LIMITS = { treeEntries: TREE_ENTRIES, treeDepthSegments: Number.MAX_SAFE_INTEGER, seconds: INDEX_WALL_SECONDS }
