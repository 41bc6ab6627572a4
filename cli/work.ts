import { pino } from 'pino'
import { closeAndThrow } from '#core/concurrency/timeout.ts'
import { createFallbacks } from '#core/ports/fallbacks.ts'
import { NO_METRICS } from '#core/ports/metrics.ts'
import { createJobProcesses } from '#indexer/jobs/job-processes.ts'
import { startWorker } from '#indexer/jobs/worker.ts'
import { parseWorkerSettings } from '#indexer/jobs/worker-settings.ts'
import { parseSharedInfraSettings } from '#infra/infra-settings.ts'
import { listenForMonitoring } from '#infra/monitoring/listener.ts'
import { createPrometheusMetrics } from '#infra/monitoring/prometheus.ts'
import { createReadiness } from '#infra/monitoring/readiness.ts'
import { openInfra } from '#infra/open.ts'
import { stopOnSignal } from '#infra/system/stop-signal.ts'
import { scrubbedLog } from '#words/scrubbed.ts'
import { JOB_PROGRAM } from './runners.ts'

export interface WorkOptions {
  /** Jobs at once. */
  concurrency: number
}

const STOP_MILLISECONDS = 10_000

/**
 * `mountglass work`: runs index jobs until a signal stops it. Resolves once it polls for jobs.
 *
 * @throws SettingsError when a setting is wrong
 */
export async function work(env: NodeJS.ProcessEnv, { concurrency }: WorkOptions): Promise<void> {
  const settings = parseWorkerSettings(env)
  const infraSettings = parseSharedInfraSettings(env)
  // Without a monitoring port, no metrics are collected.
  const metrics = settings.monitoring && createPrometheusMetrics()
  const infra = await openInfra(infraSettings, metrics)
  const readiness = createReadiness(infra, infraSettings.privateStore !== null)
  const listener =
    settings.monitoring && metrics
      ? await listenForMonitoring(settings.monitoring, metrics, readiness).catch(error => closeAndThrow(error, infra.close))
      : null

  // To standard error, like the logs of the service and of job processes.
  const log = pino({ level: settings.logLevel, name: 'indexer' }, scrubbedLog(process.stderr))
  const fallbacks = createFallbacks(metrics ?? NO_METRICS, log)
  // Each job process learns what is known of the credential when it starts.
  for (const host of infra.hosts) {
    const text = await host.describeCredential?.().catch(() => null)
    if (text) log.info(text)
  }
  const runner = createJobProcesses(
    {
      program: JOB_PROGRAM,
      handover: infra.handover,
      accessTo: infra.accessTo,
      env,
      concurrency,
      memoryMegabytes: settings.jobMegabytes,
      metrics: metrics ?? NO_METRICS,
      fallbacks,
    },
    log,
  )
  const stopping = new AbortController()
  const worker = startWorker(
    { queue: infra.queue, runner, metrics: metrics ?? NO_METRICS, log, fallbacks },
    { concurrency, signal: stopping.signal },
  )
  const stop = async (signal: NodeJS.Signals) => {
    log.info({ signal }, 'stopping')
    readiness.end()
    stopping.abort()
    await worker.stopped
    await listener?.close()
    await infra.close()
  }
  stopOnSignal(stop, STOP_MILLISECONDS, error => log.error({ err: error }, 'shutdown failed'))
  log.info({ concurrency, ...(listener ? { metricsPort: listener.port } : {}) }, 'waiting for jobs')
}
