import { type ConstructorOptions, type Job, PgBoss } from 'pg-boss'
import { LEASE_MARGIN, LEASE_SECONDS } from '#core/limits.ts'
import type { JobQueue, Lease } from '#core/ports/job-queue.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import type { Clock } from '#core/ports/system.ts'
import { QueueMarker } from '#core/snapshot/index-state.ts'
import { jobKey, queueName } from '#core/snapshot/store-keys.ts'
import { createJobEntries, markerOf } from './job-entries.ts'

export interface BossQueueOptions {
  /** Runs the statements of pg-boss. Several in one text are run as one. */
  db: NonNullable<ConstructorOptions['db']>
  /** Where leases and failures are kept. */
  states: StateStore
  clock: Clock
  /** Is told what goes wrong in the background. */
  onWarning(message: string): void
  leaseSeconds?: number
  /** The time of pg-boss and of its statements; the server's when left out. */
  bossClock?: NonNullable<ConstructorOptions['clock']>
}

/** Its tables have a schema of their own, beside that of the documents. */
const SCHEMA = 'mountglass_jobs'

/** How often the processes of a fleet, between them, look for jobs whose worker was not heard of for the time of a lease. */
export const NOTICE_SECONDS = 5

/** pg-boss lets no worker be silent for a shorter time than this. */
const HEARTBEAT_SECONDS = { min: 10 }

/** A job that was delivered although somebody holds it is delivered again after this time. */
const HELD_SECONDS = 5

/** How often it may be delivered is decided by its record, not by pg-boss. */
const DELIVERIES = 2_147_483_647

/**
 * The queue of a fleet. pg-boss delivers: it keeps one job for each key, hands the oldest to one worker at a time, and hands it to another when
 * the worker falls silent. Whether that one may have it, and what a failure means, is said by its record, as everywhere. So whatever
 * pg-boss does wrong or too often costs a look at a record and nothing else.
 *
 * | job of pg-boss | record          | the job                                                                       |
 * |----------------|-----------------|-------------------------------------------------------------------------------|
 * | created, retry | none, released  | waits                                                                         |
 * | created, retry | failed, due     | waits for another try                                                         |
 * | created, retry | failed, not due | failed; its worker died before it removed the job, so `take` removes it       |
 * | created, retry | leased          | runs; it was delivered too early, or its worker died                          |
 * | active         | leased          | runs; heard of no more, it is delivered again                                 |
 * | active         | none, other     | its worker died between two steps: delivered again as if it had not been      |
 * | none           | failed          | failed; an offer leaves a job again once the retry is due                     |
 * | none           | leased          | done; its worker died before it removed the record, which the next offer reuses |
 *
 * Closing it leaves the documents and the database open.
 *
 * @throws Error when the tables of pg-boss cannot be made
 */
export async function openBossQueue({
  db,
  states,
  clock,
  leaseSeconds = LEASE_SECONDS,
  ...options
}: BossQueueOptions): Promise<JobQueue> {
  const queue = queueName()
  const records = createJobEntries(states, clock, leaseSeconds)
  // Delivered sooner, nobody could take it yet.
  const silentSeconds = Math.ceil(leaseSeconds * (1 + LEASE_MARGIN))
  const jobOptions = { heartbeatSeconds: Math.max(HEARTBEAT_SECONDS.min, silentSeconds), retryLimit: DELIVERIES }
  const boss = await startBoss(db, options)
  await boss.createQueue(queue, { policy: 'exclusive' })

  /** It waits, and may be taken at once. */
  async function putBack(id: string): Promise<void> {
    await boss.fail(queue, id)
  }

  async function removeDelivered(id: string): Promise<void> {
    await boss.deleteJob(queue, id)
  }

  /** The lease that is offered to the worker of a delivered job; `null`: there is nothing for it to do. */
  async function claim(delivered: Job, worker: string): Promise<Lease | null> {
    const marker = QueueMarker.safeParse(delivered.data).data
    if (marker === undefined) {
      await removeDelivered(delivered.id)
      return null
    }
    const { offeredAt: _, ...job } = marker
    const claimed = await records.claim(job, worker)
    if (claimed.status === 'failed') {
      await removeDelivered(delivered.id)
      return null
    }
    if (claimed.status === 'held') {
      await putBack(delivered.id)
      await boss.update(queue, undefined, { id: delivered.id, startAfter: HELD_SECONDS })
      return null
    }
    const lease = { ...claimed.lease, delivery: delivered.id }
    try {
      // Whoever held it may have finished, record and all, before it was claimed.
      if ((await affected(boss.touch(queue, delivered))) > 0) return lease
    } catch (error) {
      // A lease that nobody knows of would run out, and count as a death.
      await release(lease).catch(() => {})
      throw error
    }
    await records.remove(job)
    return null
  }

  async function release(lease: Lease): Promise<void> {
    if (await records.release(lease)) await putBack(deliveryOf(lease))
  }

  return {
    leaseSeconds,

    async offer(job) {
      const found = await records.find(job)
      if (found !== null) return found
      await boss.send(queue, markerOf(job, clock.now()), { ...jobOptions, singletonKey: jobKey(job.repository, job.commit) })
      return { status: 'indexing' }
    },

    async take(worker) {
      for (;;) {
        const [delivered] = await boss.fetch<object>(queue)
        if (delivered === undefined) return null
        const lease = await claim(delivered, worker)
        if (lease !== null) return lease
      }
    },

    async renew(lease) {
      const renewed = await records.renew(lease)
      if (renewed !== null) await boss.touch(queue, deliveryOf(lease))
      return renewed
    },

    async finish(lease) {
      // The job is surely ours, and stays so while it goes. Only a stall of a whole lease between the steps could remove what
      // a later offer left: its worker stops, and the next visitor offers again.
      if ((await records.renew(lease)) === null) return
      await removeDelivered(deliveryOf(lease))
      await records.remove(lease.job)
    },

    release,

    async fail(lease, errorCode) {
      if (await records.fail(lease, errorCode)) await removeDelivered(deliveryOf(lease))
    },

    async crash(lease, errorCode) {
      const ended = await records.crash(lease, errorCode)
      if (ended === 'released') await putBack(deliveryOf(lease))
      if (ended === 'failed') await removeDelivered(deliveryOf(lease))
    },

    async depth() {
      const sql = `SELECT count(*)::int AS depth FROM ${SCHEMA}.job WHERE name = $1 AND state <= 'active'`
      const { rows } = await db.executeSql(sql, [queue])
      return rows[0].depth
    },

    close: () => boss.stop({ graceful: false, close: false }),
  }
}

async function startBoss(
  db: BossQueueOptions['db'],
  { onWarning, bossClock }: Pick<BossQueueOptions, 'onWarning' | 'bossClock'>,
): Promise<PgBoss> {
  const { rows } = await db.executeSql('SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1', [SCHEMA])
  const boss = new PgBoss({
    db,
    schema: SCHEMA,
    // Who may not create a schema can still be given one.
    createSchema: rows.length === 0,
    superviseIntervalSeconds: NOTICE_SECONDS,
    monitorIntervalSeconds: NOTICE_SECONDS,
    // Neither timetables nor jobs that wait for jobs are used.
    schedule: false,
    flowIntervalSeconds: 24 * 3_600,
    ...(bossClock ? { clock: bossClock } : {}),
  })
  const warn = atMostOnceAMinute(onWarning)
  boss.on('error', error => warn(`job queue: ${error.message}`))
  boss.on('warning', ({ message }) => warn(`job queue: ${message}`))
  try {
    return await boss.start()
  } catch (error) {
    // Of several processes that make the tables at once, one does, and the others are told that somebody was faster.
    if ((error as { code?: string }).code !== UNIQUE_VIOLATION) throw error
    return await boss.start()
  }
}

const UNIQUE_VIOLATION = '23505'

/** A database that is away is told of by every look at it. */
function atMostOnceAMinute(tell: (message: string) => void): (message: string) => void {
  let toldAt = Number.NEGATIVE_INFINITY
  return message => {
    if (performance.now() - toldAt < 60_000) return
    toldAt = performance.now()
    tell(message)
  }
}

/** The job of pg-boss that a lease came with. */
function deliveryOf({ delivery = '' }: Lease): string {
  return delivery
}

/** How many jobs a command of pg-boss met. */
async function affected(command: Promise<object>): Promise<number> {
  return ((await command) as { affected: number }).affected
}
