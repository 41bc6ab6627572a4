import { z } from 'zod'
import {
  LISTEN_VARIABLES,
  LOG_VARIABLES,
  type LogLevel,
  MONITORING_VARIABLES,
  numberVariable,
  parseEnvironment,
} from '#core/settings.ts'

const Variables = z.object({
  HOST: LISTEN_VARIABLES.HOST,
  MOUNTGLASS_JOB_MEGABYTES: numberVariable(256, 65_536).default(1_536),
  ...MONITORING_VARIABLES,
  ...LOG_VARIABLES,
})

/** Settings of a worker beside those of `openInfra`. */
export interface WorkerSettings {
  /** Memory that one job may take. */
  jobMegabytes: number
  /** Where the worker is watched; `null`: nowhere. */
  monitoring: { host: string; port: number } | null
  logLevel: LogLevel
}

/** @throws SettingsError */
export function parseWorkerSettings(env: NodeJS.ProcessEnv): WorkerSettings {
  const variables = parseEnvironment(Variables, env)
  const port = variables.MOUNTGLASS_METRICS_PORT
  return {
    jobMegabytes: variables.MOUNTGLASS_JOB_MEGABYTES,
    monitoring: port === undefined ? null : { host: variables.HOST, port },
    logLevel: variables.MOUNTGLASS_LOG,
  }
}
