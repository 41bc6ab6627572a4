import { type ConstructorOptions, type Job, PgBoss } from 'pg-boss'
import { createFairGate, ONE_BY_ONE } from '#core/concurrency/fair-gate.ts'
import type { IndexErrorCode, IndexProgress, IndexStage } from '#core/contract/shared.ts'
import { LEASE_MARGIN, LEASE_SECONDS } from '#core/limits.ts'
import type { IndexJob, JobQueue, JobState, Lease } from '#core/ports/job-queue.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import type { Clock } from '#core/ports/system.ts'
import { QueueMarker } from '#core/snapshot/index-state.ts'
import { isSuperseded, succeed, turnAtOf, turnOf } from '#core/snapshot/job-turns.ts'
import { jobKey, queueName, repositoryQueuePrefix } from '#core/snapshot/store-keys.ts'
import { defaultMarkerOf, JobEntries, jobOf, markerOf } from './job-entries.ts'

export interface BossQueueOptions {
  db: BossDatabase
  /** Holds leases and failures. */
  states: StateStore
  clock: Clock
  /** Receives errors of background work. */
  onWarning(message: string): void
  leaseSeconds?: number
  /** The time of pg-boss and of its statements. Default: the time of the server. */
  bossClock?: NonNullable<ConstructorOptions['clock']>
}

/** How often the processes of a fleet together look for jobs without a heartbeat. */
export const NOTICE_SECONDS = 5

/** pg-boss accepts no shorter time between heartbeats. */
const HEARTBEAT_SECONDS = { min: 10 }

/** A delivered job that another worker holds is delivered again after this time. */
const HELD_SECONDS = 5

/** The group of a job is its repository, which has one running job at a time. */
const ONE_OF_EACH_GROUP = { groupConcurrency: 1 }

/** The entry of the job limits the attempts, not pg-boss. */
const DELIVERIES = 2_147_483_647

/**
 * The queue of a fleet. pg-boss delivers: it keeps one job for each key, delivers the job whose turn it is to one worker at a time, and
 * delivers it to another worker when heartbeats stop. The entry of the job decides who has the lease and what a failure means, as in every queue.
 * So a wrong or repeated delivery costs one read of the entry and nothing else.
 *
 * | job of pg-boss | entry           | the job                                                                        |
 * |----------------|-----------------|--------------------------------------------------------------------------------|
 * | created, retry | none, released  | waits                                                                          |
 * | created, retry | failed, due     | waits for a retry                                                              |
 * | created, retry | failed, not due | failed; its worker died before it removed the job, so `take` removes it        |
 * | created, retry | leased          | runs; it was delivered too early, or its worker died                           |
 * | active         | leased          | runs; when heartbeats stop, it is delivered again                              |
 * | active         | none, other     | its worker died between two steps: delivered again as if it had not been       |
 * | none           | failed          | failed; an offer leaves a job again once the retry is due                      |
 * | none           | leased          | done; its worker died before it removed the entry, which the next offer reuses |
 *
 * Closing the queue leaves the state store and the database open.
 *
 * @throws Error when the tables of pg-boss cannot be created
 */
export async function openBossQueue(options: BossQueueOptions): Promise<JobQueue> {
  const { db, states, clock, leaseSeconds = LEASE_SECONDS } = options
  const boss = await startBoss(db, options)
  await boss.createQueue(queueName(), { policy: 'exclusive' })
  const rows = new BossRows(db, queueName())
  const queue = new BossQueue(boss, rows, states, clock, leaseSeconds)
  return {
    leaseSeconds,
    offer: job => queue.offer(job),
    peek: job => queue.peek(job),
    take: worker => queue.take(worker),
    enter: (lease, stage, progress) => queue.enter(lease, stage, progress),
    renew: lease => queue.renew(lease),
    finish: lease => queue.finish(lease),
    release: lease => queue.release(lease),
    fail: (lease, errorCode) => queue.fail(lease, errorCode),
    crash: (lease, errorCode) => queue.crash(lease, errorCode),
    depth: () => rows.count(),
    close: () => boss.stop({ graceful: false, close: false }),
  }
}

class BossQueue implements Omit<JobQueue, 'leaseSeconds' | 'depth' | 'close'> {
  readonly #boss: PgBoss
  readonly #rows: BossRows
  readonly #queue = queueName()
  readonly #entries: JobEntries
  readonly #clock: Clock
  readonly #jobOptions: { heartbeatSeconds: number; retryLimit: number }
  readonly #adding = createFairGate(ONE_BY_ONE)

  constructor(boss: PgBoss, rows: BossRows, states: StateStore, clock: Clock, leaseSeconds: number) {
    this.#boss = boss
    this.#rows = rows
    this.#entries = new JobEntries(states, clock, leaseSeconds)
    this.#clock = clock
    // Before this time, no other worker could claim the job.
    const claimableSeconds = Math.ceil(leaseSeconds * (1 + LEASE_MARGIN))
    this.#jobOptions = { heartbeatSeconds: Math.max(HEARTBEAT_SECONDS.min, claimableSeconds), retryLimit: DELIVERIES }
  }

  async offer(job: IndexJob): Promise<JobState> {
    const found = await this.#entries.find(job)
    if (found !== null) return found
    await this.#add(job, repositoryQueuePrefix(job.repository))
    return { status: 'indexing' }
  }

  async peek(job: IndexJob): Promise<JobState | null> {
    const found = await this.#entries.find(job)
    if (found !== null) return found
    const key = jobKey(job.repository, job.commit)
    const waiting = await this.#rows.ofGroup(repositoryQueuePrefix(job.repository))
    return waiting.some(row => row.key === key) ? { status: 'indexing' } : await this.#entries.findFailure(job)
  }

  /** One after another, so that offers at the same time do not exceed the bound of their repository together. */
  #add(job: IndexJob, group: string): Promise<void> {
    return this.#adding(group, async () => {
      if (job.isDefault && (await this.#addDefault(job, group))) return
      const now = this.#clock.now()
      const turnAt = turnOf(now, await this.#rows.count(group))
      if (turnAt !== null) await this.#send(markerOf(job, now, turnAt), group)
    })
  }

  /**
   * Adds a job of the default branch, or promotes it if it waits under another name, and removes those that it supersedes.
   * Processes that offer different commits at the same time may leave one job each, until a further commit is offered.
   *
   * @returns `false`, and changes nothing, when the commit is superseded itself
   */
  async #addDefault(job: IndexJob, group: string): Promise<boolean> {
    const singletonKey = jobKey(job.repository, job.commit)
    const rows = await this.#rows.ofGroup(group)
    const own = rows.find(({ key }) => key === singletonKey)?.marker ?? null
    // Most offers come while the job waits.
    if (own?.isDefault) return true
    const others = rows.filter(({ key }) => key !== singletonKey)
    const markers = others.flatMap(({ marker }) => marker ?? [])
    if (isSuperseded(job.commit, markers)) return false
    const waiting = await this.#waitingDefaults(others)
    const now = this.#clock.now()
    const marker = defaultMarkerOf(job, now, succeed(now, own, [...waiting.values()], markers))
    const isNew = await this.#send(marker, group)
    if (!isNew) await this.#boss.update(this.#queue, marker, { singletonKey, priority: priorityOf(marker) })
    // Last: a process that dies before leaves a job too many.
    for (const id of waiting.keys()) await this.#rows.removeWaiting(id)
    return true
  }

  /** By id. */
  async #waitingDefaults(rows: readonly BossRow[]): Promise<Map<string, QueueMarker>> {
    const waiting = new Map<string, QueueMarker>()
    for (const { id, isActive, marker } of rows) {
      if (isActive || !marker?.isDefault) continue
      if ((await this.#entries.find(jobOf(marker)))?.status !== 'indexing') waiting.set(id, marker)
    }
    return waiting
  }

  /** Whether the job is new. */
  async #send(marker: QueueMarker, group: string): Promise<boolean> {
    const options = {
      ...this.#jobOptions,
      singletonKey: jobKey(marker.repository, marker.commit),
      priority: priorityOf(marker),
      group: { id: group },
    }
    return (await this.#boss.send(this.#queue, marker, options)) !== null
  }

  async take(worker: string): Promise<Lease | null> {
    for (;;) {
      const [delivered] = await this.#boss.fetch<object>(this.#queue, ONE_OF_EACH_GROUP)
      if (delivered === undefined) return null
      const lease = await this.#claim(delivered, worker)
      if (lease !== null) return lease
    }
  }

  enter(lease: Lease, stage: IndexStage, progress?: IndexProgress): void {
    this.#entries.enter(lease, { stage, ...(progress && { progress }) })
  }

  async renew(lease: Lease): Promise<Lease | null> {
    const renewed = await this.#entries.renew(lease)
    if (renewed !== null) await this.#boss.touch(this.#queue, deliveryOf(lease))
    return renewed
  }

  async finish(lease: Lease): Promise<void> {
    // Renewed first, so that the lease outlasts the next two steps. If this process stalls between them for longer than the lease,
    // another worker may have claimed the job anew, and `remove` deletes the entry of that worker. It then stops, and the next
    // visitor offers the job again.
    if ((await this.#entries.renew(lease)) === null) return
    await this.#remove(deliveryOf(lease))
    await this.#entries.remove(lease.job)
  }

  async release(lease: Lease): Promise<void> {
    if (await this.#entries.release(lease)) await this.#putBack(deliveryOf(lease))
  }

  async fail(lease: Lease, errorCode: IndexErrorCode): Promise<void> {
    if (await this.#entries.fail(lease, errorCode)) await this.#remove(deliveryOf(lease))
  }

  async crash(lease: Lease, errorCode: IndexErrorCode): Promise<void> {
    const ended = await this.#entries.crash(lease, errorCode)
    if (ended === 'released') await this.#putBack(deliveryOf(lease))
    if (ended === 'failed') await this.#remove(deliveryOf(lease))
  }

  /** The lease for the worker of a delivered job; `null` when the job cannot be claimed. */
  async #claim(delivered: Job, worker: string): Promise<Lease | null> {
    const marker = QueueMarker.safeParse(delivered.data).data
    if (marker === undefined) {
      await this.#remove(delivered.id)
      return null
    }
    const claimed = await this.#entries.claim(jobOf(marker), worker)
    switch (claimed.status) {
      case 'failed':
        await this.#remove(delivered.id)
        return null
      case 'held':
        await this.#putBack(delivered.id)
        await this.#boss.update(this.#queue, undefined, { id: delivered.id, startAfter: HELD_SECONDS })
        return null
      case 'leased':
        return this.#confirm(delivered, { ...claimed.lease, delivery: delivered.id })
    }
  }

  /** The lease, unless the job finished before it was claimed. */
  async #confirm(delivered: Job, lease: Lease): Promise<Lease | null> {
    try {
      if ((await affected(this.#boss.touch(this.#queue, delivered))) > 0) return lease
    } catch (error) {
      // A lease without a worker would expire and count as a crash.
      await this.release(lease).catch(() => {})
      throw error
    }
    await this.#entries.remove(lease.job)
    return null
  }

  /** Makes the job available for delivery at once. */
  async #putBack(id: string): Promise<void> {
    await this.#boss.fail(this.#queue, id)
  }

  async #remove(id: string): Promise<void> {
    await this.#boss.deleteJob(this.#queue, id)
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
    // A role without the right to create schemas may still use an existing one.
    createSchema: rows.length === 0,
    superviseIntervalSeconds: NOTICE_SECONDS,
    monitorIntervalSeconds: NOTICE_SECONDS,
    // Neither schedules nor job dependencies are used.
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
    // Another process created the tables at the same time.
    if ((error as { code?: string }).code !== UNIQUE_VIOLATION) throw error
    return await boss.start()
  }
}

const UNIQUE_VIOLATION = '23505'

/** Every query of an unreachable database warns. */
function atMostOnceAMinute(warn: (message: string) => void): (message: string) => void {
  let warnedAt = Number.NEGATIVE_INFINITY
  return message => {
    if (performance.now() - warnedAt < 60_000) return
    warnedAt = performance.now()
    warn(message)
  }
}

/** pg-boss delivers the highest priority first, then the oldest job. Whole seconds since 2026, since it takes no larger numbers. */
function priorityOf(marker: QueueMarker): number {
  return Math.floor((Date.UTC(2026, 0) - turnAtOf(marker).getTime()) / 1000)
}

/** Id of the job of pg-boss that the lease belongs to. */
function deliveryOf({ delivery = '' }: Lease): string {
  return delivery
}

/** How many jobs a command of pg-boss changed. */
async function affected(command: Promise<object>): Promise<number> {
  return ((await command) as { affected: number }).affected
}

/** pg-boss has a schema of its own, beside that of the state store. */
const SCHEMA = 'mountglass_jobs'

/** Runs the statements of pg-boss. Several statements in one text run as one transaction. */
type BossDatabase = NonNullable<ConstructorOptions['db']>

/** A job that waits or runs. */
interface BossRow {
  id: string
  /** As `jobKey` returns it. */
  key: string
  isActive: boolean
  /** `null` when it cannot be parsed. */
  marker: QueueMarker | null
}

/** What pg-boss does not offer: its jobs by repository, and conditions that hold at the moment of a change. */
class BossRows {
  readonly #db: BossDatabase
  readonly #queue: string

  constructor(db: BossDatabase, queue: string) {
    this.#db = db
    this.#queue = queue
  }

  /** Number of jobs that wait or run, of all repositories or of one. */
  async count(group?: string): Promise<number> {
    const [row] = await this.#select('count(*)::int AS count', group)
    return row.count
  }

  /** The jobs of a repository that wait or run. */
  async ofGroup(group: string): Promise<BossRow[]> {
    const rows = await this.#select(`id, singleton_key AS key, state = 'active' AS "isActive", data`, group)
    return rows.map(({ id, key, isActive, data }) => ({ id, key, isActive, marker: QueueMarker.safeParse(data).data ?? null }))
  }

  /** Removes the job, unless a worker has begun it. */
  async removeWaiting(id: string): Promise<void> {
    await this.#db.executeSql(`DELETE FROM ${SCHEMA}.job WHERE name = $1 AND id = $2 AND state < 'active'`, [this.#queue, id])
  }

  // biome-ignore lint/suspicious/noExplicitAny: the columns decide
  async #select(columns: string, group?: string): Promise<any[]> {
    const ofGroup = group === undefined ? '' : 'AND group_id = $2'
    const sql = `SELECT ${columns} FROM ${SCHEMA}.job WHERE name = $1 AND state <= 'active' ${ofGroup}`
    return (await this.#db.executeSql(sql, group === undefined ? [this.#queue] : [this.#queue, group])).rows
  }
}
