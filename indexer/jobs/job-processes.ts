import type { IndexJob } from '#core/ports/job-queue.ts'
import { type JobProcess, type JobProcessSettings, type ProcessEnd, type ProcessedJob, startJobProcess } from './job-process.ts'
import type { JobEnd, JobRunner, RunOptions } from './job-runner.ts'
import type { IndexerLog } from './run-lease.ts'

export interface JobProcessesSettings extends JobProcessSettings {
  /** Idle processes are ended after this time, except one. Default: a minute. */
  idleMilliseconds?: number
}

/** Processes that are idle for longer are ended, except one: the next job starts without delay. */
const IDLE_MILLISECONDS = 60_000
/** A process that holds more of its memory limit after a job is ended. */
const LARGE_SHARE = 1 / 2

/**
 * Runs jobs in child processes with limits on time and memory. A process runs one job at a time and is reused for the next one, since starting
 * one takes longer than most jobs.
 */
export function createJobProcesses(settings: JobProcessesSettings, log: IndexerLog): JobRunner {
  return new JobProcesses(settings, log)
}

class JobProcesses implements JobRunner {
  readonly #settings: JobProcessesSettings
  readonly #log: IndexerLog
  readonly #all = new Set<JobProcess>()
  /** The last used one comes last. */
  readonly #idle: { process: JobProcess; since: number }[] = []

  constructor(settings: JobProcessesSettings, log: IndexerLog) {
    this.#settings = settings
    this.#log = log
    settings.metrics.beforeRead(() => this.#recordSizes())
  }

  async ready(signal: AbortSignal): Promise<void> {
    this.#endIdle()
    if (this.#idle.length === 0) this.#keep(await this.#start(signal))
  }

  async run(job: IndexJob, options: RunOptions): Promise<JobEnd> {
    const idle = this.#idle.pop()?.process
    if (idle) {
      const { end, mayRetry } = await this.#runIn(idle, job, options)
      if (!mayRetry) return end
    }
    return (await this.#runIn(await this.#start(options.signal), job, options)).end
  }

  async close(): Promise<void> {
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
    const isPlanned = reason === 'idle' || reason === 'large' || reason === 'stopped'
    this.#log[isPlanned ? 'info' : 'warn']({ process: process.pid, reason, code, signal }, 'job process ended')
  }

  async #runIn(process: JobProcess, job: IndexJob, options: RunOptions): Promise<ProcessedJob> {
    const processed = await process.run(job, options)
    this.#keep(process)
    return processed
  }

  #keep(process: JobProcess): void {
    if (!process.isAlive) return
    if (process.residentBytes > this.#settings.memoryMegabytes * 1024 * 1024 * LARGE_SHARE) void process.end('large')
    else this.#idle.push({ process, since: performance.now() })
  }

  #endIdle(): void {
    const { idleMilliseconds = IDLE_MILLISECONDS } = this.#settings
    const idle = this.#idle
    while (idle.length > 1 && performance.now() - (idle[0]?.since ?? 0) > idleMilliseconds) void idle.shift()?.process.end('idle')
  }

  #recordSizes(): void {
    const { metrics } = this.#settings
    metrics.record('mountglass_job_processes', {}, this.#all.size)
    const bytes = [...this.#all].reduce((sum, { residentBytes }) => sum + residentBytes, 0)
    metrics.record('mountglass_job_process_memory_bytes', {}, bytes)
  }
}
