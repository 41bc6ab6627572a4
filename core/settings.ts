import { z } from 'zod'
import { SentenceError } from '#words/sentence.ts'
import { t } from '#words/t.ts'
import { closeName } from './close-name.ts'

/** An invalid setting, which prevents the start. The message is one line that names the variable. */
export class SettingsError extends SentenceError {
  constructor(variable: string, problem: string, options?: ErrorOptions) {
    super(t('problem.ofText', { text: variable, problem }), options)
    this.name = 'SettingsError'
  }
}

/**
 * Parses the variables of a schema. An empty variable counts as not set.
 *
 * @throws SettingsError for the first invalid variable
 */
export function parseEnvironment<Schema extends z.ZodObject>(schema: Schema, env: NodeJS.ProcessEnv): z.infer<Schema> {
  const given = Object.keys(schema.shape).filter(name => env[name] !== undefined && env[name] !== '')
  const parsed = schema.safeParse(Object.fromEntries(given.map(name => [name, env[name]])))
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new SettingsError(String(issue?.path[0]), problemOf(issue))
}

function problemOf(issue: z.core.$ZodIssue | undefined): string {
  if (issue?.code === 'custom') return issue.message
  if (issue?.code !== 'invalid_value') return t('problem.notValid')
  const [first = '', second = '', ...others] = issue.values.map(String)
  if (others.length === 0) return t('problem.eitherOf', { first, second })
  return t('problem.oneOf', { names: [first, second, ...others].join(', ') })
}

/** Names of the settings of a schema. */
export function namesOf(schema: z.ZodObject): string[] {
  return Object.keys(schema.shape).filter(name => name.startsWith(PREFIX))
}

/**
 * Sentences about variables that look like settings and are none: a misspelled `MOUNTGLASS_DENY` would serve more than was meant.
 *
 * @param known names of all settings
 */
export function unknownSettings(env: NodeJS.ProcessEnv, known: readonly string[]): string[] {
  return Object.keys(env)
    .filter(name => name.startsWith(PREFIX) && !name.startsWith(`${PREFIX}TEST_`) && !known.includes(name))
    .map(name => {
      const meant = closeName(name, known)
      return meant === null ? t('problem.unknownSetting', { name }) : t('problem.unknownSettingSimilar', { name, meant })
    })
}

const PREFIX = 'MOUNTGLASS_'
const PORT_PROBLEM = t('problem.port')

const Port = z
  .string()
  .refine(text => /^\d{1,5}$/.test(text), PORT_PROBLEM)
  .transform(Number)
  .refine(port => port <= 65_535, PORT_PROBLEM)

/** A name or an address. An address of IPv6 may stand in brackets, as in URLs, and loses them. */
const Host = z.string().transform((text, context): string => {
  const host = text.replace(/^\[(.*)\]$/, '$1')
  const origin = originAt({ host, port: 4321 })
  if (URL.parse(origin)?.href === `${URL.parse(origin)?.origin}/`) return host
  context.addIssue({ code: 'custom', message: t('problem.host') })
  return z.NEVER
})

/** `http://[::1]:4321`. The zone of an address, as in `fe80::1%eth0`, means nothing to other machines. */
export function originAt({ host, port }: ListenAddress): string {
  return `http://${host.includes(':') ? `[${host.split('%', 1)[0]}]` : host}:${port}`
}

/**
 * A path of this machine, in which `~` is the home folder: in a file of settings no shell expands it.
 *
 * @throws SettingsError for `~name`, and where the home folder is not known
 */
export function homePath(variable: string, path: string, env: NodeJS.ProcessEnv): string {
  if (!path.startsWith('~')) return path
  const home = env.HOME || env.USERPROFILE
  if (!home || !/^~(?:[/\\]|$)/.test(path)) throw new SettingsError(variable, t('problem.homeUnknown', { path }))
  return home + path.slice(1)
}

/** The address on which the process listens. */
export const LISTEN_VARIABLES = {
  HOST: Host.default('127.0.0.1'),
  PORT: Port.default(4321),
}

/** The address of the monitoring server, separate from that of the service. */
export const MONITORING_VARIABLES = { HOST: LISTEN_VARIABLES.HOST, MOUNTGLASS_METRICS_PORT: Port.optional() }

export interface ListenAddress {
  host: string
  port: number
}

/** The address of the monitoring server; `null` when no port is set. */
export function monitoringAddress({ HOST: host, MOUNTGLASS_METRICS_PORT: port }: MonitoringVariables): ListenAddress | null {
  return port === undefined ? null : { host, port }
}

type MonitoringVariables = { HOST: string; MOUNTGLASS_METRICS_PORT?: number | undefined }

/** Schema of a whole number from `min` to `max`. The name of the variable has the unit. */
export function numberVariable(min: number, max: number) {
  const outside = t('problem.wholeNumber', { min, max })
  return z
    .string()
    .refine(text => /^\d{1,9}$/.test(text), outside)
    .transform(Number)
    .refine(value => value >= min && value <= max, outside)
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** The lowest level that is logged. */
export const LOG_VARIABLES = {
  MOUNTGLASS_LOG: z.enum(LOG_LEVELS).default('info'),
}
