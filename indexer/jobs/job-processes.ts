import type { IndexJob } from '#core/ports/job-queue.ts'
import { LongJobs, takeIdle } from './job-lanes.ts'
import { type JobProcess, type JobProcessSettings, type ProcessEnd, type ProcessedJob, startJobProcess } from './job-process.ts'
import type { JobEnd, JobRunner, RunOptions } from './job-runner.ts'
import type { IndexerLog } from './run-lease.ts'

export interface JobProcessesSettings extends JobProcessSettings {
  /** Jobs at once. */
  concurrency: number
  /** Idle processes are ended after this time, except `KEPT`. Default: a minute. */
  idleMilliseconds?: number
}

const IDLE_MILLISECONDS = 60_000
/** Idle processes that are kept: one for the next job, and one for a job of another repository that comes while that one runs. */
const KEPT = 2
/** A process that holds more of its memory limit after a job is ended. */
const LARGE_SHARE = 1 / 2

/**
 * Runs jobs in child processes with limits on time and memory. A process runs one job at a time and is reused for the next one, since starting
 * one takes longer than most jobs. Long jobs leave a process to the others (`job-lanes.ts`).
 */
export function createJobProcesses(settings: JobProcessesSettings, log: IndexerLog): JobRunner {
  return new JobProcesses(settings, log)
}

class JobProcesses implements JobRunner {
  readonly #settings: JobProcessesSettings
  readonly #log: IndexerLog
  readonly #all = new Set<JobProcess>()
  readonly #long = new LongJobs()
  /** The last used one comes last. */
  readonly #idle: { process: JobProcess; since: number }[] = []
  /** The start of a process that no job waits for. */
  #starting: Promise<void> | null = null

  constructor(settings: JobProcessesSettings, log: IndexerLog) {
    this.#settings = settings
    this.#log = log
    settings.metrics.beforeRead(() => this.#recordSizes())
  }

  async ready(signal: AbortSignal): Promise<void> {
    this.#endIdle()
    if (this.#idle.length === 0) await this.#starting
    if (this.#idle.length === 0) this.#keep(await this.#start(signal))
    else if (this.#idle.length < this.#kept && this.#isQuiet) this.#starting = this.#startSpare(signal)
  }

  async run(job: IndexJob, options: RunOptions): Promise<JobEnd> {
    const isLong = this.#long.isExpected(job)
    const idle = takeIdle(this.#idle, isLong, this.#kept)
    if (idle) {
      const { end, mayRetry } = await this.#runIn(idle.process, isLong, job, options)
      if (!mayRetry) return end
    }
    const started = await this.#start(options.signal).catch(error => {
      if (options.signal.aborted) return null
      throw error
    })
    return started === null ? { status: 'stopped' } : (await this.#runIn(started, isLong, job, options)).end
  }

  async close(): Promise<void> {
    await this.#starting
    await Promise.all([...this.#all].map(one => one.end('stopped')))
  }

  async #start(signal: AbortSignal): Promise<JobProcess> {
    const startedAt = performance.now()
    const started = await startJobProcess(this.#settings, signal)
    this.#all.add(started)
    this.#log.info({ process: started.pid, milliseconds: Math.round(performance.now() - startedAt) }, 'job process ready')
    void started.ended.then(end => this.#forget(started, end))
    return started
  }

  #forget(process: JobProcess, { code, signal, reason }: ProcessEnd): void {
    this.#all.delete(process)
    const index = this.#idle.findIndex(one => one.process === process)
    if (index >= 0) this.#idle.splice(index, 1)
    this.#settings.metrics.record('mountglass_job_process_ends_total', { reason }, 1)
    const isPlanned = ['idle', 'large', 'slow', 'stopped'].includes(reason)
    this.#log[isPlanned ? 'info' : 'warn']({ process: process.pid, reason, code, signal }, 'job process ended')
  }

  /** @param isLong expected to be long */
  async #runIn(process: JobProcess, isLong: boolean, job: IndexJob, options: RunOptions): Promise<ProcessedJob> {
    if (isLong) process.yieldToJobs()
    const processed = await process.run(job, options)
    this.#long.note(job, processed)
    if (isLong || processed.isLong) void process.end('slow')
    else this.#keep(process)
    return processed
  }

  #keep(process: JobProcess): void {
    if (!process.isAlive) return
    if (process.residentBytes > this.#settings.memoryMegabytes * 1024 * 1024 * LARGE_SHARE) void process.end('large')
    else this.#idle.push({ process, since: performance.now() })
  }

  get #kept(): number {
    return Math.min(KEPT, this.#settings.concurrency)
  }

  #endIdle(): void {
    const { idleMilliseconds = IDLE_MILLISECONDS } = this.#settings
    while (this.#idle.length > this.#kept) {
      if (performance.now() - (this.#idle[0]?.since ?? 0) <= idleMilliseconds) return
      void this.#idle.shift()?.process.end('idle')
    }
  }

  /** No job runs that would share its processors with the start of a process. */
  get #isQuiet(): boolean {
    return this.#idle.length === this.#all.size && this.#starting === null
  }

  /** The worker does not wait for it: a job that comes meanwhile has a process. */
  async #startSpare(signal: AbortSignal): Promise<void> {
    try {
      // First: those that ran jobs are warm, and are used before it.
      this.#idle.unshift({ process: await this.#start(signal), since: performance.now() })
    } catch (error) {
      if (!signal.aborted) this.#log.warn({ err: error }, 'cannot start a spare job process')
    }
    this.#starting = null
  }

  #recordSizes(): void {
    const { metrics } = this.#settings
    metrics.record('mountglass_job_processes', {}, this.#all.size)
    const bytes = [...this.#all].reduce((sum, { residentBytes }) => sum + residentBytes, 0)
    metrics.record('mountglass_job_process_memory_bytes', {}, bytes)
  }
}
