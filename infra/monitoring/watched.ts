import type { BlobStore } from '#core/ports/blob-store.ts'
import type { GitHost } from '#core/ports/git-host.ts'
import type { JobQueue } from '#core/ports/job-queue.ts'
import type { Metrics } from '#core/ports/metrics.ts'
import type { StateStore } from '#core/ports/state-store.ts'

/** The queue is asked at most once in this time, however often the metrics are read. */
const QUEUE_MS = 5_000

/** Records the depth of the queue whenever the metrics are read. */
export function watchQueue(queue: Pick<JobQueue, 'depth'>, metrics: Metrics): void {
  let askedAt = Number.NEGATIVE_INFINITY
  let asking: Promise<void> | null = null
  const ask = async () => {
    metrics.record('mountglass_queue_jobs', {}, await queue.depth())
  }
  metrics.beforeRead(() => {
    if (asking === null && performance.now() - askedAt < QUEUE_MS) return undefined
    asking ??= ask().finally(() => {
      asking = null
      askedAt = performance.now()
    })
    return asking
  })
}

/** Records the quotas of the hosts whenever the metrics are read. */
export function watchHosts(hosts: readonly Pick<GitHost, 'segment' | 'quota'>[], metrics: Metrics): void {
  metrics.beforeRead(() => {
    for (const host of hosts) {
      const quota = host.quota?.() ?? null
      if (quota === null) continue
      const labels = { host: host.segment }
      metrics.record('mountglass_host_quota_limit', labels, quota.limit)
      metrics.record('mountglass_host_quota_remaining', labels, quota.remaining)
      metrics.record('mountglass_host_quota_reset_timestamp_seconds', labels, quota.resetsAt.getTime() / 1000)
    }
  })
}

/** Wraps a blob store to count its requests, their seconds and their bytes. */
export function countBlobStore(blobs: BlobStore, metrics: Metrics): BlobStore {
  const count = createCounts('blobs', metrics)
  return {
    create: count(
      'create',
      (key, bytes) => blobs.create(key, bytes),
      (_created, _key, bytes) => bytes.length,
    ),
    read: count(
      'read',
      key => blobs.read(key),
      blob => blob?.bytes.length ?? 0,
    ),
    readRange: count(
      'readRange',
      (key, offset, length) => blobs.readRange(key, offset, length),
      bytes => bytes?.length ?? 0,
    ),
    list: count('list', (prefix, options) => blobs.list(prefix, options)),
    remove: count('remove', key => blobs.remove(key)),
    close: () => blobs.close(),
  }
}

/** Wraps a state store to count its requests and their seconds. */
export function countStateStore(states: StateStore, metrics: Metrics): StateStore {
  const count = createCounts('documents', metrics)
  return {
    read: count('read', key => states.read(key)),
    create: count('create', (key, value) => states.create(key, value)),
    replace: count('replace', (key, value, etag) => states.replace(key, value, etag)),
    remove: count('remove', key => states.remove(key)),
    list: count('list', (prefix, options) => states.list(prefix, options)),
    close: () => states.close(),
  }
}

interface Tally {
  answered: number
  failed: number
  seconds: number
  bytes: number
}

/** Each request adds to local numbers, which the next reading of the metrics records: requests are many. */
function createCounts(store: string, metrics: Metrics) {
  return function count<Args extends unknown[], Result>(
    operation: string,
    request: (...args: Args) => Promise<Result>,
    bytesOf?: (result: Result, ...args: Args) => number,
  ): (...args: Args) => Promise<Result> {
    let tally: Tally = { answered: 0, failed: 0, seconds: 0, bytes: 0 }
    metrics.beforeRead(() => {
      const { answered, failed, seconds, bytes } = tally
      tally = { answered: 0, failed: 0, seconds: 0, bytes: 0 }
      if (answered > 0) metrics.record('mountglass_store_requests_total', { store, operation, outcome: 'answered' }, answered)
      if (failed > 0) metrics.record('mountglass_store_requests_total', { store, operation, outcome: 'failed' }, failed)
      if (seconds > 0) metrics.record('mountglass_store_request_seconds_total', { store, operation }, seconds)
      if (bytes > 0) metrics.record('mountglass_store_bytes_total', { store, operation }, bytes)
    })
    return async (...args) => {
      const startedAt = performance.now()
      try {
        const result = await request(...args)
        tally.answered++
        if (bytesOf) tally.bytes += bytesOf(result, ...args)
        return result
      } catch (error) {
        tally.failed++
        throw error
      } finally {
        tally.seconds += (performance.now() - startedAt) / 1000
      }
    }
  }
}
