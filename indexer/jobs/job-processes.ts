import type { IndexJob } from '#core/ports/job-queue.ts'
import { type JobProcess, type JobProcessSettings, type ProcessEnd, type ProcessedJob, startJobProcess } from './job-process.ts'
import type { JobRunner, RunOptions } from './job-runner.ts'
import type { IndexerLog } from './run-lease.ts'

export interface JobProcessesSettings extends JobProcessSettings {
  /** For how long nobody has to need a process until it is ended. Default: a minute. */
  idleMilliseconds?: number
}

/** What nobody needed for so long is ended, but for one process: the next job begins at once. */
const IDLE_MILLISECONDS = 60_000
/** Who holds more of its memory after a job does not take the next. */
const LARGE_SHARE = 1 / 2

/**
 * Runs every job in a process of its own time and memory. Processes are kept for the next job, since one takes longer to start than
 * most jobs; one that died is replaced.
 */
export function createJobProcesses(settings: JobProcessesSettings, log: IndexerLog): JobRunner {
  const { metrics, memoryMegabytes, idleMilliseconds = IDLE_MILLISECONDS } = settings
  const all = new Set<JobProcess>()
  /** The one used last stands at the end. */
  const idle: { process: JobProcess; since: number }[] = []
  metrics.beforeRead(() => {
    metrics.record('mountglass_job_processes', {}, all.size)
    const bytes = [...all].reduce((sum, { residentBytes }) => sum + residentBytes, 0)
    metrics.record('mountglass_job_process_memory_bytes', {}, bytes)
  })

  async function start(signal: AbortSignal): Promise<JobProcess> {
    const startedAt = performance.now()
    const started = await startJobProcess(settings, signal)
    all.add(started)
    log.info({ process: started.pid, milliseconds: Math.round(performance.now() - startedAt) }, 'a process for jobs is ready')
    void started.ended.then(end => forget(started, end))
    return started
  }

  function forget(process: JobProcess, { code, signal, reason }: ProcessEnd): void {
    all.delete(process)
    const index = idle.findIndex(one => one.process === process)
    if (index >= 0) idle.splice(index, 1)
    metrics.record('mountglass_job_process_ends_total', { reason }, 1)
    const isWanted = reason === 'idle' || reason === 'large' || reason === 'stopped'
    log[isWanted ? 'info' : 'warn']({ process: process.pid, reason, code, signal }, 'a process for jobs ended')
  }

  function keep(process: JobProcess): void {
    if (!process.isAlive) return
    if (process.residentBytes > memoryMegabytes * 1024 * 1024 * LARGE_SHARE) void process.end('large')
    else idle.push({ process, since: performance.now() })
  }

  async function runIn(process: JobProcess, job: IndexJob, options: RunOptions): Promise<ProcessedJob> {
    const processed = await process.run(job, options)
    keep(process)
    return processed
  }

  function endIdle(): void {
    while (idle.length > 1 && performance.now() - (idle[0]?.since ?? 0) > idleMilliseconds) void idle.shift()?.process.end('idle')
  }

  return {
    async ready(signal) {
      endIdle()
      if (idle.length === 0) keep(await start(signal))
    },

    async run(job, options) {
      const kept = idle.pop()?.process
      if (kept) {
        const { end, isUnheard } = await runIn(kept, job, options)
        if (!isUnheard) return end
      }
      return (await runIn(await start(options.signal), job, options)).end
    },

    async close() {
      await Promise.all([...all].map(one => one.end('stopped')))
    },
  }
}
