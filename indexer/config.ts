import { z } from 'zod'
import { LOG_VARIABLES, type LogLevel, parseEnvironment } from '#core/settings.ts'

const Variables = z.object(LOG_VARIABLES)

/** Settings of a worker beside those of `openInfra`. */
export interface WorkerSettings {
  logLevel: LogLevel
}

/** @throws SettingsError */
export function parseWorkerSettings(env: NodeJS.ProcessEnv): WorkerSettings {
  return { logLevel: parseEnvironment(Variables, env).MOUNTGLASS_LOG }
}
