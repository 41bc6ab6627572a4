import { createPrivateKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { homePath, SettingsError } from '#core/settings.ts'
import { t } from '#words/t.ts'
import type { GitHubApp } from './github/app-tokens.ts'

export const APP_VARIABLES = {
  MOUNTGLASS_GITHUB_APP_ID: z
    .string()
    .refine(text => /^\d{1,15}$/.test(text), t('problem.appId'))
    .optional(),
  MOUNTGLASS_GITHUB_APP_PRIVATE_KEY: z.string().optional(),
  MOUNTGLASS_GITHUB_APP_CLIENT_ID: z
    .string()
    .refine(text => /^[\w.-]{1,100}$/.test(text), t('problem.appClientId'))
    .optional(),
  MOUNTGLASS_GITHUB_APP_CLIENT_SECRET: z
    .string()
    .refine(text => /^[\x21-\x7e]{1,400}$/.test(text), t('problem.appClientSecret'))
    .optional(),
  MOUNTGLASS_GITHUB_APP_SLUG: z
    .string()
    .refine(text => /^[a-z\d](?:[a-z\d-]{0,98}[a-z\d])?$/i.test(text), t('problem.appSlug'))
    .optional(),
}

type AppVariables = z.infer<z.ZodObject<typeof APP_VARIABLES>>

/** @returns `null` without an App: sign-in is not set up @throws SettingsError when only a part of it is set, or the key cannot be read */
export function appSettings(variables: AppVariables, env: NodeJS.ProcessEnv): GitHubApp | null {
  const needed = {
    id: variables.MOUNTGLASS_GITHUB_APP_ID,
    privateKey: variables.MOUNTGLASS_GITHUB_APP_PRIVATE_KEY,
    clientId: variables.MOUNTGLASS_GITHUB_APP_CLIENT_ID,
    clientSecret: variables.MOUNTGLASS_GITHUB_APP_CLIENT_SECRET,
  }
  const { id, privateKey, clientId, clientSecret } = needed
  if (Object.values(needed).every(value => value === undefined)) return null
  if (id === undefined) throw missing('MOUNTGLASS_GITHUB_APP_ID')
  if (privateKey === undefined) throw missing('MOUNTGLASS_GITHUB_APP_PRIVATE_KEY')
  if (clientId === undefined) throw missing('MOUNTGLASS_GITHUB_APP_CLIENT_ID')
  if (clientSecret === undefined) throw missing('MOUNTGLASS_GITHUB_APP_CLIENT_SECRET')
  const slug = variables.MOUNTGLASS_GITHUB_APP_SLUG ?? null
  return { id, clientId, clientSecret, privateKey: readPrivateKey(privateKey, env), slug }
}

const KEY_SETTING = 'MOUNTGLASS_GITHUB_APP_PRIVATE_KEY'

function missing(variable: string): SettingsError {
  return new SettingsError(variable, t('problem.appIncomplete'))
}

/** @param text a PEM with real or escaped line breaks, or `file:<path>`. No message quotes it */
function readPrivateKey(text: string, env: NodeJS.ProcessEnv): string {
  const path = text.startsWith('file:') ? homePath(KEY_SETTING, text.slice('file:'.length), env) : null
  const key = parseKey(path === null ? text.replaceAll('\\n', '\n') : readKeyFile(path))
  if (key === null) throw new SettingsError(KEY_SETTING, t('problem.appKey'))
  return key
}

function readKeyFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? (cause as Error).message
    throw new SettingsError(KEY_SETTING, t('problem.appKeyFile', { path, reason }), { cause })
  }
}

/** PKCS#8 PEM of a PKCS#1 or PKCS#8 PEM; `null` when the text is no RSA key. */
function parseKey(pem: string): string | null {
  try {
    const key = createPrivateKey(pem)
    return key.asymmetricKeyType === 'rsa' ? String(key.export({ type: 'pkcs8', format: 'pem' })) : null
  } catch {
    return null
  }
}
