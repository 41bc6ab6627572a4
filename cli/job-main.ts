/** The program of a job process: runs index jobs one after another for the worker that started it. */

import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker as Thread } from 'node:worker_threads'
import {
  createMetricsSender,
  type FromJobProcess,
  packEnd,
  sendFallbacks,
  type ToJobProcess,
} from '#indexer/jobs/job-messages.ts'
import type { Watched } from '#indexer/jobs/job-watchdog.ts'
import { runIndexJob } from '#indexer/jobs/run-index-job.ts'
import { warmUp } from '#indexer/jobs/warm-up.ts'
import { createSearchThreads } from '#indexer/search/search-thread.ts'
import { TEMPORARY_PREFIX } from '#infra/git/view.ts'
import { parseSharedInfraSettings } from '#infra/infra-settings.ts'
import { openJobInfra } from '#infra/open.ts'
import { useProxies } from '#infra/system/proxies.ts'
import { SentenceError } from '#words/sentence.ts'

/** Metrics are sent this often while a job runs. */
const FLUSH_MILLISECONDS = 5_000
/** Time to close once the worker has disconnected. */
const CLOSE_MILLISECONDS = 1_500
/** A process that has waited this long for its first job warms up. */
const WARM_UP_MILLISECONDS = 3_000
const TOUCH_MILLISECONDS = 10 * 60 * 1000

try {
  await runJobs(process.env, process.argv[2] ?? '')
} catch (error) {
  // The worker logs that this process did not start; the reason goes to standard error.
  if (!(error instanceof SentenceError)) throw error
  process.stderr.write(`mountglass: ${error.message}\n`)
  process.exit(1)
}

/** @param handover state of the worker's drivers, see `openJobInfra` */
async function runJobs(env: NodeJS.ProcessEnv, handover: string): Promise<void> {
  // The worker ends this process. A terminal or supervisor signals the whole process group.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => {})
  const disconnected = new AbortController()
  process.once('disconnect', () => disconnected.abort(new Error('the worker disconnected')))
  if (!process.connected) disconnected.abort(new Error('the worker disconnected'))
  preferForOomKill()
  const folder = makeFolder()
  send({ type: 'begun', folder })
  // If a job blocks this thread, the watchdog thread ends the process.
  const watched: Watched = { worker: process.ppid, folder }
  new Thread(new URL('../indexer/jobs/job-watchdog.ts', import.meta.url), { workerData: watched }).unref()

  // The worker told of entries without effect.
  useProxies(env, () => {})
  const sender = createMetricsSender(records => send({ type: 'recorded', records }))
  const infra = await openJobInfra(parseSharedInfraSettings(env), sender.metrics, handover)
  const searchThreads = availableParallelism() > 1 ? createSearchThreads() : null
  const fallbacks = sendFallbacks(send)
  let stop = new AbortController()

  async function run({ job, access, handover }: Extract<ToJobProcess, { type: 'run' }>): Promise<void> {
    stop = new AbortController()
    infra.follow(handover)
    infra.useAccess(job.repository, access)
    const flushing = setInterval(sender.flush, FLUSH_MILLISECONDS)
    const end = await runIndexJob({ ...infra, fallbacks, searchThreads }, job, {
      signal: AbortSignal.any([stop.signal, disconnected.signal]),
      onStage: (stage, progress) => send({ type: 'stage', stage, progress }),
    })
    clearInterval(flushing)
    sender.flush()
    infra.useAccess(job.repository, null)
    send({ type: 'ended', end: packEnd(end) })
  }

  async function warm(signal: AbortSignal): Promise<void> {
    try {
      await sleep(WARM_UP_MILLISECONDS, undefined, { signal })
      await warmUp(searchThreads, signal)
    } catch (error) {
      if (!signal.aborted) fallbacks.note('warm_up', error)
    }
  }

  const firstJob = new AbortController()
  process.on('message', (message: ToJobProcess) => {
    firstJob.abort()
    if (message.type === 'stop') stop.abort(new Error('the worker stopped this job'))
    else void run(message)
  })
  void warm(AbortSignal.any([firstJob.signal, disconnected.signal]))
  send({ type: 'ready' })

  if (!disconnected.signal.aborted) await once(disconnected.signal, 'abort')
  await Promise.race([infra.close(), sleep(CLOSE_MILLISECONDS)]).catch(() => {})
  process.exit(0)
}

/** When the machine runs out of memory, the kernel kills this process before the worker or the service. */
function preferForOomKill(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '500')
  } catch {
    // Linux only.
  }
}

/** Creates the folder for all temporary files of this process. The worker removes it if the process is killed. */
function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), `${TEMPORARY_PREFIX}job-`))
  for (const variable of ['TMPDIR', 'TEMP', 'TMP']) process.env[variable] = folder
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
  // Cleaners remove folders that were not touched for an hour.
  setInterval(() => {
    mkdirSync(folder, { recursive: true })
    utimesSync(folder, new Date(), new Date())
  }, TOUCH_MILLISECONDS).unref()
  return folder
}

/** Drops the message if the worker has disconnected: the `disconnect` event handles that. */
function send(message: FromJobProcess): void {
  if (process.connected) process.send?.(message, () => {})
}
