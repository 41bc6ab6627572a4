import type { IndexJob } from '#core/ports/job-queue.ts'
import { preparesAhead } from './ahead.ts'
import { type JobProcess, type JobProcessSettings, type ProcessEnd, type ProcessedJob, startJobProcess } from './job-process.ts'
import type { JobEnd, JobRunner, RunOptions } from './job-runner.ts'
import { LongRepositories } from './long-repositories.ts'
import type { IndexerLog } from './run-lease.ts'

export interface JobProcessesSettings extends JobProcessSettings {
  /** Jobs at once. */
  concurrency: number
  /** Idle processes are ended after this time, except `KEPT`. Default: a minute. */
  idleMilliseconds?: number
  /** A second process starts, and those that are there warm up, once no job has run for this time. Default: `SETTLED_MILLISECONDS`. */
  settledMilliseconds?: number
}

const IDLE_MILLISECONDS = 60_000
/**
 * Idle processes that are kept: one for the next job, and one for a job of another repository that comes while that one runs. A start takes
 * longer than a small job, all the more beside a large one.
 */
const KEPT = 2
/** By then a visitor who opened a repository has their first answers. A deployment with new repositories all day is seldom idle for longer. */
const SETTLED_MILLISECONDS = 1_000
/** A process that holds more of its memory limit after a job is ended. */
const LARGE_SHARE = 1 / 2

/**
 * Runs jobs in child processes with limits on time and memory. A process runs one job at a time and is reused for the next one, since starting
 * one takes longer than most jobs. A repository with long jobs gets a process that yields. Decisions 0085 and 0106.
 */
export function createJobProcesses(settings: JobProcessesSettings, log: IndexerLog): JobRunner {
  return new JobProcesses(settings, log)
}

class JobProcesses implements JobRunner {
  readonly #settings: JobProcessesSettings
  readonly #log: IndexerLog
  readonly #all = new Set<JobProcess>()
  readonly #long = new LongRepositories()
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
    else if (this.#isSettled) {
      if (this.#needsAnother()) this.#starting = this.#startAnother(signal)
      else this.#coldest()?.warmUp()
    }
  }

  /** The one that will be used first of those that ran no job, or else of all; `null` when all are warm. */
  #coldest(): JobProcess | null {
    const cold = this.#idle.map(({ process }) => process).filter(process => !process.isWarm)
    return cold.findLast(process => !process.isUsed) ?? cold.at(-1) ?? null
  }

  async run(job: IndexJob, options: RunOptions): Promise<JobEnd> {
    const idle = this.#takeIdle(job)
    for (const { process } of this.#idle) process.rest()
    if (idle) {
      const { end, mayRetry } = await this.#runIn(idle, job, options)
      if (!mayRetry) return end
    }
    return (await this.#runIn(await this.#start(options.signal), job, options)).end
  }

  /**
   * The last used one that does not yield to other jobs, or else one that does. For a job that is expected to be long, one that yields, or else the one
   * whose last use is longest ago: the others are warmer.
   */
  #takeIdle(job: IndexJob): JobProcess | null {
    const index = this.#isExpectedLong(job)
      ? Math.max(0, this.#firstSlow)
      : this.#idle.findLastIndex(({ process }) => !process.isSlow)
    return this.#idle.splice(index, 1)[0]?.process ?? null
  }

  #isExpectedLong({ repository }: IndexJob): boolean {
    return this.#long.has(repository.id)
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
    void started.warmed.then(() => this.#log.info({ process: started.pid }, 'job process warm'))
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

  async #runIn(process: JobProcess, job: IndexJob, options: RunOptions): Promise<ProcessedJob> {
    if (this.#isExpectedLong(job)) process.yieldToJobs()
    const processed = await process.run(job, options)
    this.#long.note(job.repository.id, processed)
    this.#keep(process)
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
    const idle = this.#idle
    while (idle.length > this.#kept) {
      const next = Math.max(0, this.#firstSlow)
      if (performance.now() - (idle[next]?.since ?? 0) <= idleMilliseconds) return
      void idle.splice(next, 1)[0]?.process.end('idle')
    }
  }

  /** Where the first idle process is that yields; -1 when there is none. */
  get #firstSlow(): number {
    return this.#idle.findIndex(({ process }) => process.isSlow)
  }

  /** No job runs, and none has for a while: its visitors need the processors. */
  get #isSettled(): boolean {
    const { settledMilliseconds = SETTLED_MILLISECONDS, env } = this.#settings
    if (!preparesAhead(env)) return false
    const idle = this.#idle
    const since = Math.max(...idle.map(one => one.since))
    return idle.length === this.#all.size && performance.now() - since >= settledMilliseconds && this.#starting === null
  }

  /** A slow process is replaced. */
  #needsAnother(): boolean {
    return this.#idle.filter(({ process }) => !process.isSlow).length < this.#kept
  }

  /** The worker does not wait for it: a job that comes meanwhile has a process, and a long job takes the process that is being replaced. */
  async #startAnother(signal: AbortSignal): Promise<void> {
    try {
      // First: those that ran jobs are warm, and are used before it.
      this.#idle.unshift({ process: await this.#start(signal), since: performance.now() })
      const slow = this.#firstSlow
      if (slow >= 0 && this.#idle.length > this.#kept) void this.#idle.splice(slow, 1)[0]?.process.end('slow')
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
