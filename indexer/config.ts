import { z } from 'zod'
import { parseEnvironment } from '#core/settings.ts'

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

const Variables = z.object({
  MOUNTGLASS_LOG: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`).default('info'),
})

/** Settings of a worker beside those of `openInfra`. */
export interface WorkerSettings {
  logLevel: (typeof LOG_LEVELS)[number]
}

/** @throws SettingsError */
export function parseWorkerSettings(env: NodeJS.ProcessEnv): WorkerSettings {
  return { logLevel: parseEnvironment(Variables, env).MOUNTGLASS_LOG }
}
