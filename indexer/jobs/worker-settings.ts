import { z } from 'zod'
import {
  type ListenAddress,
  LOG_VARIABLES,
  type LogLevel,
  MONITORING_VARIABLES,
  monitoringAddress,
  namesOf,
  numberVariable,
  parseEnvironment,
} from '#core/settings.ts'

const Variables = z.object({
  MOUNTGLASS_JOB_MEGABYTES: numberVariable(256, 65_536).default(1_536),
  ...MONITORING_VARIABLES,
  ...LOG_VARIABLES,
})
export const WORKER_SETTINGS = namesOf(Variables)

/** Settings of a worker, besides those of `openInfra`. */
export interface WorkerSettings {
  /** Memory limit of a job. */
  jobMegabytes: number
  /** Address of metrics and health checks; `null`: none. */
  monitoring: ListenAddress | null
  logLevel: LogLevel
}

/** @throws SettingsError */
export function parseWorkerSettings(env: NodeJS.ProcessEnv): WorkerSettings {
  const variables = parseEnvironment(Variables, env)
  return {
    jobMegabytes: variables.MOUNTGLASS_JOB_MEGABYTES,
    monitoring: monitoringAddress(variables),
    logLevel: variables.MOUNTGLASS_LOG,
  }
}
