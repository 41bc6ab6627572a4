import type { DocStore } from '#core/ports/doc-store.ts'
import type { JobQueue, Lease } from '#core/ports/job-queue.ts'
import type { Clock } from '#core/ports/system.ts'
import {
  claim,
  failed,
  isRetryDue,
  JobRecord,
  type LeasedRecord,
  QueueMarker,
  released,
  renewed,
} from '#core/snapshot/index-state.ts'
import { jobKey, QUEUE_PREFIX, queueKey } from '#core/snapshot/keys.ts'

/**
 * The queue of a single machine: a marker document for each waiting or running job, and beside it the record of its lease or failure.
 * Closing the queue leaves the document store open.
 *
 * Every step leaves a state from which the next caller goes on, wherever the process dies:
 *
 * | marker | record          | the job                                                                        |
 * |--------|-----------------|--------------------------------------------------------------------------------|
 * | yes    | none            | waits                                                                          |
 * | yes    | leased          | runs; once the lease ran out, it is taken again                                |
 * | yes    | released        | waits, handed back by a worker that stopped                                    |
 * | yes    | failed, due     | waits for another try                                                          |
 * | yes    | failed, not due | failed; the worker died before it removed the marker, so `take` removes it     |
 * | no     | failed          | failed; an offer leaves a marker again once the retry is due                   |
 * | no     | leased          | done; the worker died before it removed the record, which the next offer reuses |
 */
export function createDocQueue(docs: DocStore, clock: Clock): JobQueue {
  const markers = rememberMarkers(docs)

  async function renew(lease: Lease): Promise<Lease | null> {
    const record = await readOwnRecord(docs, lease)
    if (record === null) return null
    const next = renewed(record, clock.now())
    const written = await docs.replace(jobKey(lease.job.repository, lease.job.commit), next, lease.etag)
    return written.status === 'written' ? { ...lease, until: next.until, etag: written.etag } : null
  }

  return {
    async offer(job) {
      const { record } = await readRecord(docs, jobKey(job.repository, job.commit))
      const now = clock.now()
      if (record?.state === 'leased' && now.getTime() < Date.parse(record.until)) return { status: 'indexing' }
      if (record?.state === 'failed' && !isRetryDue(record, now)) {
        return { status: 'failed', errorCode: record.errorCode, retryAt: record.retryAt }
      }
      const key = queueKey(job.repository, job.commit)
      const marker = { ...job, repository: { ...job.repository }, offeredAt: now.toISOString() } satisfies QueueMarker
      // Most offers come while the job waits, and a read costs less than a refused write.
      if ((await docs.read(key)) === null) await docs.create(key, marker)
      return { status: 'indexing' }
    },

    async take(worker) {
      for (const { key, marker } of await markers.oldestFirst()) {
        const lease = await takeJob(docs, clock, key, jobKey(marker.repository, marker.commit), worker)
        if (lease !== null) return lease
      }
      return null
    },

    renew,

    async finish(lease) {
      // The job is surely ours, and stays so while it goes. Only a stall of a whole lease between the steps could remove what
      // a later offer left: its worker stops, and the next visitor offers again.
      if ((await renew(lease)) === null) return
      // The marker first, so that nobody starts over with a job that is done.
      await docs.remove(queueKey(lease.job.repository, lease.job.commit))
      await docs.remove(jobKey(lease.job.repository, lease.job.commit))
    },

    async release(lease) {
      const record = await readOwnRecord(docs, lease)
      if (record !== null) await docs.replace(jobKey(lease.job.repository, lease.job.commit), released(record), lease.etag)
    },

    async fail(lease, errorCode) {
      const record = await readOwnRecord(docs, lease)
      if (record === null) return
      const written = await docs.replace(
        jobKey(lease.job.repository, lease.job.commit),
        failed(record, errorCode, clock.now()),
        lease.etag,
      )
      if (written.status === 'written') await docs.remove(queueKey(lease.job.repository, lease.job.commit))
    },

    async close() {},
  }
}

async function takeJob(
  docs: DocStore,
  clock: Clock,
  markerKey: string,
  recordKey: string,
  worker: string,
): Promise<Lease | null> {
  const { record, etag } = await readRecord(docs, recordKey)
  const next = claim(record, worker, clock.now())
  if (next === null) {
    if (record?.state === 'failed') await docs.remove(markerKey)
    return null
  }
  const written = etag === null ? await docs.create(recordKey, next) : await docs.replace(recordKey, next, etag)
  if (written.status === 'conflict') return null
  if (next.state === 'failed') {
    await docs.remove(markerKey)
    return null
  }
  // The job may have been finished, record and all, since its marker was listed.
  const marker = await readMarker(docs, markerKey)
  if (marker === null) {
    await docs.remove(recordKey)
    return null
  }
  const { offeredAt: _, ...job } = marker
  return { job, worker, fence: next.fence, until: next.until, etag: written.etag }
}

/** The record of the job while the lease still holds: renewing, failing and finishing all begin here. */
async function readOwnRecord(docs: DocStore, lease: Lease): Promise<LeasedRecord | null> {
  const { record, etag } = await readRecord(docs, jobKey(lease.job.repository, lease.job.commit))
  return record?.state === 'leased' && etag === lease.etag ? record : null
}

/** A record that this version cannot read counts as none, and is written over. */
async function readRecord(docs: DocStore, key: string): Promise<{ record: JobRecord | null; etag: string | null }> {
  const doc = await docs.read(key)
  if (doc === null) return { record: null, etag: null }
  return { record: JobRecord.safeParse(doc.value).data ?? null, etag: doc.etag }
}

/** `null` also for what no worker of this version can do; that is removed, as it would stand for ever. */
async function readMarker(docs: DocStore, key: string): Promise<QueueMarker | null> {
  const doc = await docs.read(key)
  if (doc === null) return null
  const marker = QueueMarker.safeParse(doc.value).data
  if (marker && queueKey(marker.repository, marker.commit) === key) return marker
  await docs.remove(key)
  return null
}

/**
 * The markers of a store, each read once however long the queue is and however often it is asked for.
 * One that was left anew since is remembered with the earlier instant; its repository and commit are part of its key.
 */
function rememberMarkers(docs: DocStore) {
  let known = new Map<string, QueueMarker>()

  return {
    async oldestFirst(): Promise<{ key: string; marker: QueueMarker }[]> {
      const listed: { key: string; marker: QueueMarker }[] = []
      for (const key of await docs.list(QUEUE_PREFIX)) {
        const marker = known.get(key) ?? (await readMarker(docs, key))
        if (marker !== null) listed.push({ key, marker })
      }
      known = new Map(listed.map(({ key, marker }) => [key, marker]))
      return listed.sort((a, b) => Date.parse(a.marker.offeredAt) - Date.parse(b.marker.offeredAt))
    },
  }
}
