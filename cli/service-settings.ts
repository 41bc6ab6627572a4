import { z } from 'zod'
import { parseRepositoryRule, type RepositoryRule } from '#api/operator/repository-rule.ts'
import { parseIdKey } from '#api/people/records.ts'
import { parseSealingKeys, type SealingKeys } from '#api/purpose-keys.ts'
import { REFRESH_GRACE_SECONDS, TOOL_BYTES } from '#core/limits.ts'
import {
  homePath,
  LISTEN_VARIABLES,
  type ListenAddress,
  LOG_VARIABLES,
  type LogLevel,
  MONITORING_VARIABLES,
  monitoringAddress,
  namesOf,
  numberVariable,
  parseEnvironment,
} from '#core/settings.ts'
import { t } from '#words/t.ts'

/** Settings of the service. */
export interface Settings extends ListenAddress {
  /** `null`: generated at the first start and kept with the store. */
  keys: SealingKeys | null
  /** Names the records of people; `null`: generated at the first start and kept with the store. */
  idKey: Uint8Array | null
  /** Whether this process also indexes. */
  indexer: 'inline' | 'none'
  allow: readonly RepositoryRule[] | null
  deny: readonly RepositoryRule[]
  /** Whether raw files of local repositories are served without a license that permits a copy. */
  localSource: 'withheld' | 'open'
  /** Folder of the operator's content; `null` without one. */
  operator: string | null
  /** Address of the monitoring listener; `null`: monitoring shares the service's own port. */
  monitoring: ListenAddress | null
  /** Bytes of the text that a tool returns over MCP, at most. */
  toolBytes: number
  /** How long a refresh token of an app is answered again after it was exchanged. */
  refreshGraceSeconds: number
  /** How long the service keeps answering after `/readyz` turned 503, so that load balancers stop sending requests before it closes. */
  drainSeconds: number
  logLevel: LogLevel
}

/** Patterns such as `local/acme/*`, separated by commas or white space. */
const RepositoryRules = z.string().transform((text, context): RepositoryRule[] => {
  const patterns = text.split(/[\s,]+/).filter(pattern => pattern !== '')
  const rules = patterns.map(parseRepositoryRule)
  if (rules.every(rule => rule !== null)) return rules
  context.addIssue({ code: 'custom', message: t('problem.rules') })
  return z.NEVER
})

const KeysText = z.string().transform((text, context): SealingKeys => {
  const keys = parseSealingKeys(text)
  if (keys !== null) return keys
  // The value is a secret and stays out of the message.
  context.addIssue({ code: 'custom', message: t('problem.keys') })
  return z.NEVER
})

const IdKeyText = z.string().transform((text, context): Uint8Array => {
  const key = parseIdKey(text)
  if (key !== null) return key
  context.addIssue({ code: 'custom', message: t('problem.idKey') })
  return z.NEVER
})

/** The keys of a deployment, which all its processes share. */
const KEY_VARIABLES = { MOUNTGLASS_KEYS: KeysText.optional(), MOUNTGLASS_ID_KEY: IdKeyText.optional() }

const Variables = z.object({
  ...LISTEN_VARIABLES,
  ...KEY_VARIABLES,
  MOUNTGLASS_INDEXER: z.enum(['inline', 'none']).default('inline'),
  MOUNTGLASS_ALLOW: RepositoryRules.optional(),
  MOUNTGLASS_DENY: RepositoryRules.default([]),
  MOUNTGLASS_LOCAL_SOURCE: z.enum(['withheld', 'open']).default('withheld'),
  MOUNTGLASS_OPERATOR: z.string().optional(),
  MOUNTGLASS_TOOL_BYTES: numberVariable(TOOL_BYTES.min, TOOL_BYTES.max).default(TOOL_BYTES.default),
  MOUNTGLASS_REFRESH_GRACE_SECONDS: numberVariable(REFRESH_GRACE_SECONDS.min, REFRESH_GRACE_SECONDS.max).default(
    REFRESH_GRACE_SECONDS.default,
  ),
  MOUNTGLASS_DRAIN_SECONDS: numberVariable(0, 300).default(0),
  ...MONITORING_VARIABLES,
  ...LOG_VARIABLES,
})
export const SERVICE_SETTINGS = namesOf(Variables)

/** @throws SettingsError naming the first variable that is wrong */
export function parseSettings(env: NodeJS.ProcessEnv): Settings {
  const variables = parseEnvironment(Variables, env)
  const { MOUNTGLASS_OPERATOR: operator } = variables
  return {
    host: variables.HOST,
    port: variables.PORT,
    keys: variables.MOUNTGLASS_KEYS ?? null,
    idKey: variables.MOUNTGLASS_ID_KEY ?? null,
    indexer: variables.MOUNTGLASS_INDEXER,
    allow: variables.MOUNTGLASS_ALLOW ?? null,
    deny: variables.MOUNTGLASS_DENY,
    localSource: variables.MOUNTGLASS_LOCAL_SOURCE,
    operator: operator === undefined ? null : homePath('MOUNTGLASS_OPERATOR', operator, env),
    monitoring: monitoringAddress(variables),
    toolBytes: variables.MOUNTGLASS_TOOL_BYTES,
    refreshGraceSeconds: variables.MOUNTGLASS_REFRESH_GRACE_SECONDS,
    drainSeconds: variables.MOUNTGLASS_DRAIN_SECONDS,
    logLevel: variables.MOUNTGLASS_LOG,
  }
}

/** @throws SettingsError as `parseSettings` */
export function parseKeySettings(env: NodeJS.ProcessEnv): Pick<Settings, 'keys' | 'idKey'> {
  const { MOUNTGLASS_KEYS = null, MOUNTGLASS_ID_KEY = null } = parseEnvironment(z.object(KEY_VARIABLES), env)
  return { keys: MOUNTGLASS_KEYS, idKey: MOUNTGLASS_ID_KEY }
}
