import { pino } from 'pino'
import { SettingsError } from '#core/settings.ts'
import { parseSharedInfraSettings } from '#infra/config.ts'
import { openInfra } from '#infra/open.ts'
import { parseWorkerSettings } from './config.ts'
import { startWorker } from './worker.ts'

export { startWorker, type Worker } from './worker.ts'

/** A message to a worker that runs as a child process. */
export interface OfferedMessage {
  type: 'offered'
}

/** `mountglass work`: indexes what was asked for until it is told to stop. Also the child process of `mountglass serve`. */
export async function work(env: NodeJS.ProcessEnv): Promise<void> {
  try {
    await workUntilStopped(env)
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    process.stderr.write(`mountglass: ${error.message}\n`)
    process.exitCode = 1
  }
}

async function workUntilStopped(env: NodeJS.ProcessEnv): Promise<void> {
  const log = pino({ level: parseWorkerSettings(env).logLevel, name: 'indexer' })
  const infra = await openInfra(parseSharedInfraSettings(env))
  const stop = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort())
  // A child whose parent is gone has nobody to work for.
  process.once('disconnect', () => stop.abort())

  const worker = startWorker({ ...infra, log }, stop.signal)
  process.on('message', message => {
    if ((message as OfferedMessage).type === 'offered') worker.wake()
  })
  log.info('waiting for jobs')
  await worker.stopped
  await infra.close()
  if (process.connected) process.disconnect()
}

if (import.meta.main) await work(process.env)
