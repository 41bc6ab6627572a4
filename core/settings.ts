import { z } from 'zod'

/** A setting that stops the start. The message is one line that names the variable. */
export class SettingsError extends Error {
  constructor(variable: string, problem: string, options?: ErrorOptions) {
    super(`${variable}: ${problem}`, options)
    this.name = 'SettingsError'
  }
}

/**
 * The variables of a schema. A variable that is empty counts as not set.
 *
 * @throws SettingsError naming the first variable that is wrong
 */
export function parseEnvironment<Schema extends z.ZodObject>(schema: Schema, env: NodeJS.ProcessEnv): z.infer<Schema> {
  const given = Object.keys(schema.shape).filter(name => env[name] !== undefined && env[name] !== '')
  const parsed = schema.safeParse(Object.fromEntries(given.map(name => [name, env[name]])))
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new SettingsError(String(issue?.path[0]), issue?.message ?? 'is not valid')
}

const Port = z
  .string()
  .regex(/^\d{1,5}$/, 'must be a port number')
  .transform(Number)
  .refine(port => port <= 65_535, 'must be a port number')

/** Where the process listens. */
export const LISTEN_VARIABLES = {
  HOST: z.string().default('127.0.0.1'),
  PORT: Port.default(4321),
}

/** Where the process is watched, apart from what it serves. */
export const MONITORING_VARIABLES = { HOST: LISTEN_VARIABLES.HOST, MOUNTGLASS_METRICS_PORT: Port.optional() }

export interface ListenAddress {
  host: string
  port: number
}

/** `null` where no port is set. */
export function monitoringAddress({ HOST: host, MOUNTGLASS_METRICS_PORT: port }: MonitoringVariables): ListenAddress | null {
  return port === undefined ? null : { host, port }
}

type MonitoringVariables = { HOST: string; MOUNTGLASS_METRICS_PORT?: number | undefined }

/** A whole number from `min` to `max`, with the unit that the name of the variable says. */
export function numberVariable(min: number, max: number) {
  const problem = `must be a whole number from ${min} to ${max}`
  return z
    .string()
    .regex(/^\d{1,9}$/, problem)
    .transform(Number)
    .refine(value => value >= min && value <= max, problem)
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** How much is logged. */
export const LOG_VARIABLES = {
  MOUNTGLASS_LOG: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`).default('info'),
}
