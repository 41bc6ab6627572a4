import { setTimeout as sleep } from 'node:timers/promises'
import type { IndexStage } from '#core/contract/shared.ts'
import { type Fallbacks, NO_FALLBACKS } from '#core/ports/fallbacks.ts'
import type { IndexJob, JobQueue, Lease } from '#core/ports/job-queue.ts'
import type { Metrics } from '#core/ports/metrics.ts'
import { framesOf } from '#core/scrubbed.ts'
import type { JobEnd, JobRunner } from './job-runner.ts'

export interface LeaseDeps {
  queue: JobQueue
  runner: JobRunner
  metrics: Metrics
  log: IndexerLog
  /** Told of lost renewals and listings. Default: not counted. */
  fallbacks?: Fallbacks
}

export interface IndexerLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/**
 * Runs one leased job and records its result in the queue. This process renews the lease until the runner returns, even if the job process
 * dies.
 *
 * Once `signal` is aborted, the job may finish within `FINISH_MILLISECONDS`; else it is released. A failure in that time is not recorded: a
 * terminal or supervisor may have signalled the job process too. If another worker took the job over, nothing is recorded: the same commit
 * gives the same objects, so both may write them.
 *
 * @throws the last error of the queue; the lease then expires
 */
export async function runLease(
  { queue, runner, metrics, log, fallbacks = NO_FALLBACKS }: LeaseDeps,
  lease: Lease,
  signal: AbortSignal,
): Promise<void> {
  const { job } = lease
  const subject = subjectOf(job)
  const held = holdLease(queue, lease, fallbacks)
  const stopJob = abortedAfter(signal, FINISH_MILLISECONDS)
  const stages = timeStages(metrics)
  const startedAt = performance.now()
  const result = await runner
    .run(job, {
      signal: AbortSignal.any([stopJob.signal, held.lost]),
      onStage: (stage, progress) => {
        stages.enter(stage)
        if (!held.lost.aborted) queue.enter(lease, stage, progress)
      },
    })
    .catch((error: unknown): JobEnd => {
      log.error({ ...subject, err: loggedCause(job, error) }, 'the job could not start')
      return { status: 'stopped' }
    })
  stopJob.forget()
  const ended: JobEnd = signal.aborted && result.status !== 'indexed' ? { status: 'stopped' } : result
  const stage = stages.leave()
  const current = await held.release()
  const milliseconds = Math.round(performance.now() - startedAt)
  if (held.lost.aborted) {
    metrics.record('mountglass_jobs_total', { outcome: 'lost', code: '' }, 1)
    log.warn({ ...subject, milliseconds }, 'lease lost: another worker has taken the job over')
    return
  }
  metrics.record('mountglass_jobs_total', { outcome: ended.status, code: 'errorCode' in ended ? ended.errorCode : '' }, 1)
  if (ended.status === 'indexed' && ended.notListed !== undefined)
    fallbacks.note('owner_listing', loggedCause(job, ended.notListed))
  await recordEnd(queue, log, current, ended, { ...subject, milliseconds, stage })
}

async function recordEnd(
  queue: JobQueue,
  log: IndexerLog,
  lease: Lease,
  ended: JobEnd,
  { stage, ...subject }: { repository: string; commit: string; milliseconds: number; stage: IndexStage | null },
): Promise<void> {
  switch (ended.status) {
    case 'indexed': {
      const { objects, bytes, notListed } = ended
      if (notListed !== undefined)
        log.error({ ...subject, err: loggedCause(lease.job, notListed) }, 'indexed, but not listed under its owner')
      await settle(() => queue.finish(lease))
      log.info({ ...subject, objects, bytes }, 'indexed')
      return
    }
    case 'failed': {
      const { errorCode, err } = ended
      log.error({ ...subject, stage, errorCode, err: loggedCause(lease.job, err) }, 'indexing failed')
      return settle(() => queue.fail(lease, errorCode))
    }
    case 'crashed': {
      const { errorCode, reason } = ended
      log.error({ ...subject, stage, errorCode, reason }, 'the job process died')
      return settle(() => queue.crash(lease, errorCode))
    }
    case 'stopped':
      log.info({ ...subject, stage }, 'job released before its end')
      return settle(() => queue.release(lease))
  }
}

/** What the log calls the repository of a job. The name of a private one stays out of it. */
function subjectOf({ repository, commit }: IndexJob): { repository: string; commit: string } {
  const { host, owner, name, id, visibility } = repository
  return { repository: visibility === 'public' ? `${host}/${owner}/${name}` : id, commit }
}

/** Messages may quote names, paths and texts of a repository: of a private one, the log has only where the error arose. */
function loggedCause({ repository }: IndexJob, cause: unknown): unknown {
  return repository.visibility === 'public' ? cause : framesOf(cause)
}

/** Time for jobs to finish once the worker stops; most do. */
const FINISH_MILLISECONDS = 3_000

/** A signal that is aborted some time after another one. `forget` cancels it. */
function abortedAfter(signal: AbortSignal, milliseconds: number): { signal: AbortSignal; forget(): void } {
  const later = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const begin = () => {
    timer = setTimeout(() => later.abort(signal.reason), milliseconds)
  }
  if (signal.aborted) begin()
  else signal.addEventListener('abort', begin, { once: true })
  return {
    signal: later.signal,
    forget() {
      signal.removeEventListener('abort', begin)
      clearTimeout(timer)
    },
  }
}

interface HeldLease {
  /** Aborted when another worker has taken the job over. */
  lost: AbortSignal
  /** Stops renewing and resolves with the last renewed lease. */
  release(): Promise<Lease>
}

function holdLease(queue: JobQueue, taken: Lease, fallbacks: Fallbacks): HeldLease {
  const lost = new AbortController()
  let lease = taken
  let renewing: Promise<void> | null = null
  const renew = async () => {
    // A store error is retried at the next renewal; only a lost lease is final.
    const renewed = await queue.renew(lease).catch(error => {
      fallbacks.note('lease_renewal', error)
      return lease
    })
    if (renewed === null) lost.abort(new Error('another worker has taken the job over'))
    else lease = renewed
    renewing = null
  }
  const timer = setInterval(
    () => {
      renewing ??= renew()
    },
    (queue.leaseSeconds * 1000) / 3,
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

/** Records a result, with retries: a lease that expires would count as a crash. */
async function settle(record: () => Promise<void>): Promise<void> {
  for (const pauseMilliseconds of RETRY_PAUSES_MS) {
    try {
      return await record()
    } catch {
      await sleep(pauseMilliseconds)
    }
  }
  await record()
}

const RETRY_PAUSES_MS = [200, 1_000]

/** Records the time of each stage of a job. A stage may be entered again while it lasts. */
function timeStages(metrics: Metrics): { enter(stage: IndexStage): void; leave(): IndexStage | null } {
  let current: { stage: IndexStage; since: number } | null = null
  const leave = () => {
    if (current === null) return null
    const { stage, since } = current
    metrics.record('mountglass_job_stage_seconds', { stage }, (performance.now() - since) / 1000)
    current = null
    return stage
  }
  return {
    enter(stage) {
      if (current?.stage === stage) return
      leave()
      current = { stage, since: performance.now() }
    },
    leave,
  }
}
