import type { IndexErrorCode } from '#core/contract/shared.ts'
import { INDEX_WALL_SECONDS, INDEX_WALL_WITH_FETCH_SECONDS, LEASE_SECONDS, TREE_ENTRIES } from '#core/limits.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { DocStore } from '#core/ports/doc-store.ts'
import { type GitHost, ReadError, type RepositoryReader } from '#core/ports/git-host.ts'
import type { IndexJob, JobQueue, Lease } from '#core/ports/job-queue.ts'
import type { CommitSha } from '#core/snapshot/format.ts'
import { headerKey } from '#core/snapshot/keys.ts'
import { IndexError } from './index-error.ts'
import { indexRepository } from './index-repository.ts'
import { keepListed } from './keep-listed.ts'
import { forgetLastIndexed, readLastIndexed, writeLastIndexed } from './last-indexed.ts'
import { createMetBlobs } from './met-blobs.ts'
import type { Progress } from './progress.ts'
import { createSearchBuilder } from './search/builder.ts'
import { openPreviousSection } from './search/previous.ts'
import { INDEXED_BLOBS } from './select-blobs.ts'
import { createSnapshotWriter, type PackWriter, type WrittenSnapshot } from './snapshot-writer.ts'

export interface IndexerDeps {
  blobs: BlobStore
  docs: DocStore
  queue: JobQueue
  hosts: readonly GitHost[]
  log: IndexerLog
}

export interface IndexerLog {
  info(fields: object, message: string): void
  error(fields: object, message: string): void
}

/**
 * Runs one job to its end: the snapshot is written and the job dropped, or its failure recorded.
 * The lease is renewed meanwhile. When `signal` stops the worker the job is handed back, when somebody else took it nothing is recorded:
 * whatever was written stays true, since the same commit gives the same objects.
 */
export async function runIndexJob(deps: IndexerDeps, lease: Lease, signal: AbortSignal): Promise<void> {
  const { queue, log } = deps
  const { job } = lease
  const subject = { repository: `${job.repository.host}/${job.repository.owner}/${job.repository.name}`, commit: job.commit }
  const held = holdLease(queue, lease)
  const stop = AbortSignal.any([signal, held.lost])
  const startedAt = performance.now()
  try {
    const written = await writeSnapshot(deps, job, stop)
    // The snapshot is what was asked for; whoever visits it lists it as well.
    await keepListed(deps, job).catch(error => log.error({ ...subject, err: error }, 'not listed'))
    await queue.finish(await held.release())
    const milliseconds = Math.round(performance.now() - startedAt)
    log.info({ ...subject, milliseconds, objects: written?.objects ?? 0, bytes: written?.bytes ?? 0 }, 'indexed')
  } catch (error) {
    const current = await held.release()
    if (stop.aborted) {
      log.info(subject, 'stopped before the end')
      await queue.release(current)
      return
    }
    const errorCode = errorCodeOf(error)
    log.error({ ...subject, errorCode, err: error }, 'indexing failed')
    await queue.fail(current, errorCode)
  }
}

/**
 * Reads the repository and writes its snapshot; `null` when it is there already. With `docs`, the search and the blobs of the commit that
 * was indexed last are gone on from, which changes nothing but the time it takes.
 *
 * @throws IndexError, ReadError, the reason of `signal`, or whatever the store throws
 */
export async function writeSnapshot(
  { blobs, docs, hosts }: Pick<IndexerDeps, 'blobs' | 'hosts'> & Partial<Pick<IndexerDeps, 'docs'>>,
  job: IndexJob,
  signal: AbortSignal,
  onProgress?: (progress: Progress) => void,
): Promise<WrittenSnapshot | null> {
  if ((await blobs.read(headerKey(job.repository, job.commit))) !== null) return null
  const host = hosts.find(candidate => candidate.segment === job.repository.host)
  if (!host) throw new IndexError('index.fetch_failed', `no host ${job.repository.host} in this deployment`)

  const seconds = host.isRemote ? INDEX_WALL_WITH_FETCH_SECONDS : INDEX_WALL_SECONDS
  const outOfTime = new AbortController()
  const timer = setTimeout(() => outOfTime.abort(new IndexError('index.timeout', `more than ${seconds} seconds`)), seconds * 1000)
  try {
    const stop = AbortSignal.any([signal, outOfTime.signal])
    const last = docs ? await readLastIndexed(docs, job.repository) : null
    // Where everything is at hand, nothing is gained by knowing what was met before.
    const met = host.isRemote && docs ? createMetBlobs(blobs, job.repository, last) : null
    const selection = met?.select(INDEXED_BLOBS) ?? INDEXED_BLOBS
    const reader = await host.open(job.repository, job.commit, { ...TREE_LIMITS, seconds }, selection)
    try {
      const writer = createSnapshotWriter(blobs, job.repository, job.commit)
      const written = await indexWith(met?.write(writer) ?? writer, met?.read(reader) ?? reader, { blobs, docs, last }, job, {
        signal: stop,
        ...(onProgress ? { onProgress } : {}),
      })
      await met?.note(job.commit, written.header)
      if (docs) await writeLastIndexed(docs, job.repository, job.commit)
      return written
    } finally {
      await reader.close()
    }
  } finally {
    clearTimeout(timer)
  }
}

async function indexWith(
  writer: PackWriter,
  reader: RepositoryReader,
  { blobs, docs, last }: { blobs: BlobStore; docs: DocStore | undefined; last: CommitSha | null },
  { repository }: IndexJob,
  options: { signal: AbortSignal; onProgress?: (progress: Progress) => void },
): Promise<WrittenSnapshot> {
  const previous = last === null ? null : await openPreviousSection(blobs, repository, last, options.signal)
  const search = createSearchBuilder(writer, { previous, signal: options.signal })
  try {
    return await indexRepository(writer, reader, repository, { ...options, search })
  } catch (error) {
    // Should it be what was gone on from that fails the job, then the next try does not.
    if (docs && previous && !options.signal.aborted) await forgetLastIndexed(docs, repository)
    throw error
  } finally {
    await search.close()
  }
}

// Paths that are too deep are left out one by one when the tree is built, so reading only stops at the number of entries.
const TREE_LIMITS = { treeEntries: TREE_ENTRIES, treeDepthSegments: Number.MAX_SAFE_INTEGER }

/** What a job fails with. */
export function errorCodeOf(error: unknown): IndexErrorCode {
  return error instanceof IndexError || error instanceof ReadError ? error.code : 'index.internal'
}

interface HeldLease {
  /** Aborted when somebody else holds the job. */
  lost: AbortSignal
  /** Stops renewing; the lease as it was renewed last. */
  release(): Promise<Lease>
}

function holdLease(queue: JobQueue, taken: Lease): HeldLease {
  const lost = new AbortController()
  let lease = taken
  let renewing: Promise<void> = Promise.resolve()
  const renew = async () => {
    // A store that fails now may answer at the next turn; only a lost lease is final.
    const renewed = await queue.renew(lease).catch(() => lease)
    if (renewed === null) lost.abort(new Error('somebody else holds the job'))
    else lease = renewed
  }
  const timer = setInterval(
    () => {
      renewing = renewing.then(renew)
    },
    (LEASE_SECONDS * 1000) / 3,
  )
  return {
    lost: lost.signal,
    async release() {
      clearInterval(timer)
      await renewing
      return lease
    },
  }
}
