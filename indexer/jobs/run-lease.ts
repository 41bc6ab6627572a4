import { setTimeout as sleep } from 'node:timers/promises'
import type { JobQueue, Lease } from '#core/ports/job-queue.ts'
import type { Metrics } from '#core/ports/metrics.ts'
import type { JobEnd, JobRunner, Stage } from './job-runner.ts'

export interface LeaseDeps {
  queue: JobQueue
  runner: JobRunner
  metrics: Metrics
  log: IndexerLog
}

export interface IndexerLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/**
 * Has one job run, and records its end in the queue. The lease is renewed meanwhile, by this process: it lasts as long as the runner
 * lets the job last, whatever happens to the process that runs it.
 *
 * When `signal` tells the worker to stop, the job may still finish for a moment, and is then handed back. Whatever else happens to it from
 * then on says nothing about it: a terminal or a supervisor may have told its process and its git to end, too. When somebody else took
 * the job nothing is recorded: whatever was written stays true, since the same commit gives the same objects.
 *
 * @throws whatever the queue throws at last; the lease then runs out
 */
export async function runLease({ queue, runner, metrics, log }: LeaseDeps, lease: Lease, signal: AbortSignal): Promise<void> {
  const { job } = lease
  const subject = { repository: `${job.repository.host}/${job.repository.owner}/${job.repository.name}`, commit: job.commit }
  const held = holdLease(queue, lease)
  const handBack = abortedAfter(signal, FINISH_MILLISECONDS)
  const stages = timeStages(metrics)
  const startedAt = performance.now()
  const came = await runner
    .run(job, { signal: AbortSignal.any([handBack.signal, held.lost]), onStage: stages.enter })
    .catch((error: unknown): JobEnd => {
      log.error({ ...subject, err: error }, 'the job could not begin')
      return { status: 'stopped' }
    })
  handBack.forget()
  const ended: JobEnd = signal.aborted && came.status !== 'indexed' ? { status: 'stopped' } : came
  const stage = stages.leave()
  const current = await held.release()
  const milliseconds = Math.round(performance.now() - startedAt)
  if (held.lost.aborted) {
    metrics.record('mountglass_jobs_total', { outcome: 'lost', code: '' }, 1)
    log.warn({ ...subject, milliseconds }, 'somebody else holds the job by now')
    return
  }
  metrics.record('mountglass_jobs_total', { outcome: ended.status, code: 'errorCode' in ended ? ended.errorCode : '' }, 1)
  switch (ended.status) {
    case 'indexed': {
      const { objects, bytes, notListed } = ended
      if (notListed !== undefined) log.error({ ...subject, err: notListed }, 'not listed')
      await settle(() => queue.finish(current))
      log.info({ ...subject, milliseconds, objects, bytes }, 'indexed')
      return
    }
    case 'failed': {
      const { errorCode, err } = ended
      log.error({ ...subject, milliseconds, stage, errorCode, err }, 'indexing failed')
      return settle(() => queue.fail(current, errorCode))
    }
    case 'crashed': {
      const { errorCode, reason } = ended
      log.error({ ...subject, milliseconds, stage, errorCode, reason }, 'the process of the job died')
      return settle(() => queue.crash(current, errorCode))
    }
    case 'stopped':
      log.info({ ...subject, milliseconds, stage }, 'handed back before the end')
      return settle(() => queue.release(current))
  }
}

/** How long a job may go on when the worker is told to stop: most end by then. */
const FINISH_MILLISECONDS = 3_000

/** A signal that is aborted some time after another. */
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
  /** Aborted when somebody else holds the job. */
  lost: AbortSignal
  /** Stops renewing; the lease as it was renewed last. */
  release(): Promise<Lease>
}

function holdLease(queue: JobQueue, taken: Lease): HeldLease {
  const lost = new AbortController()
  let lease = taken
  let renewing: Promise<void> | null = null
  const renew = async () => {
    // A store that fails now may answer at the next turn; only a lost lease is final.
    const renewed = await queue.renew(lease).catch(() => lease)
    if (renewed === null) lost.abort(new Error('somebody else holds the job'))
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

/** The end of a job is told again when the store fails: a lease that runs out would count as a death. */
async function settle(tell: () => Promise<void>): Promise<void> {
  for (const pauseMilliseconds of SETTLE_PAUSES) {
    try {
      return await tell()
    } catch {
      await sleep(pauseMilliseconds)
    }
  }
  await tell()
}

const SETTLE_PAUSES = [200, 1_000]

/** Measures the stages of one job. */
function timeStages(metrics: Metrics): { enter(stage: Stage): void; leave(): Stage | null } {
  let current: { stage: Stage; since: number } | null = null
  const leave = () => {
    if (current === null) return null
    const { stage, since } = current
    metrics.record('mountglass_job_stage_seconds', { stage }, (performance.now() - since) / 1000)
    current = null
    return stage
  }
  return {
    enter(stage) {
      leave()
      current = { stage, since: performance.now() }
    },
    leave,
  }
}
