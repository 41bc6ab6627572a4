/** The program of a process that runs index jobs, one after another, for the worker that started it. */

import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker as Thread } from 'node:worker_threads'
import type { IndexJob } from '#core/ports/job-queue.ts'
import { SettingsError } from '#core/settings.ts'
import { TEMPORARY_PREFIX } from '#infra/git/view.ts'
import { parseSharedInfraSettings } from '#infra/infra-settings.ts'
import { openJobInfra } from '#infra/open.ts'
import { type FromJobProcess, packEnd, type ToJobProcess } from './job-messages.ts'
import type { Watched } from './job-watchdog.ts'
import { createMetricsSender } from './metrics-sender.ts'
import { runIndexJob } from './run-index-job.ts'

/** How often metrics are sent while a job runs. */
const FLUSH_MILLISECONDS = 5_000
/** How long closing may take once the worker has let go of this process. */
const CLOSE_MILLISECONDS = 1_500
const TOUCH_MILLISECONDS = 10 * 60 * 1000

try {
  await runJobs(process.env, process.argv[2] ?? '')
} catch (error) {
  // The worker says that this process did not start; the reason is said here.
  if (!(error instanceof SettingsError)) throw error
  process.stderr.write(`mountglass: ${error.message}\n`)
  process.exit(1)
}

/** @param handover of the worker */
async function runJobs(env: NodeJS.ProcessEnv, handover: string): Promise<void> {
  // The worker decides when this process ends; a terminal or a supervisor tells all of them at once.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => {})
  const letGo = new AbortController()
  process.once('disconnect', () => letGo.abort(new Error('the worker is gone')))
  if (!process.connected) letGo.abort(new Error('the worker is gone'))
  dieFirst()
  const folder = makeFolder()
  say({ type: 'begun', folder })
  // Should a job keep this thread from ever hearing that, another one sees to it.
  const watched: Watched = { worker: process.ppid, folder }
  new Thread(new URL('./job-watchdog.ts', import.meta.url), { workerData: watched }).unref()

  const sender = createMetricsSender(records => say({ type: 'recorded', records }))
  const infra = await openJobInfra(parseSharedInfraSettings(env), sender.metrics, handover)
  let stop = new AbortController()

  async function run(job: IndexJob): Promise<void> {
    stop = new AbortController()
    const flushing = setInterval(sender.flush, FLUSH_MILLISECONDS)
    const end = await runIndexJob(infra, job, {
      signal: AbortSignal.any([stop.signal, letGo.signal]),
      onStage: stage => say({ type: 'stage', stage }),
    })
    clearInterval(flushing)
    sender.flush()
    say({ type: 'ended', end: packEnd(end) })
  }

  process.on('message', (message: ToJobProcess) => {
    if (message.type === 'stop') stop.abort(new Error('told to stop'))
    else void run(message.job)
  })
  say({ type: 'ready' })

  if (!letGo.signal.aborted) await once(letGo.signal, 'abort')
  await Promise.race([infra.close(), sleep(CLOSE_MILLISECONDS)]).catch(() => {})
  process.exit(0)
}

/** A machine without memory ends this process before the worker or the service, which hold what cannot be begun anew. */
function dieFirst(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '500')
  } catch {
    // Only Linux knows this.
  }
}

/** Everything temporary of this process lies in a folder of its own, which the worker removes when the process had to be killed. */
function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), `${TEMPORARY_PREFIX}job-`))
  for (const variable of ['TMPDIR', 'TEMP', 'TMP']) process.env[variable] = folder
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
  // Others remove what has not changed for an hour.
  setInterval(() => {
    mkdirSync(folder, { recursive: true })
    utimesSync(folder, new Date(), new Date())
  }, TOUCH_MILLISECONDS).unref()
  return folder
}

/** A worker that is gone hears nothing; that it is gone is told by an event of its own. */
function say(message: FromJobProcess): void {
  if (process.connected) process.send?.(message, () => {})
}
