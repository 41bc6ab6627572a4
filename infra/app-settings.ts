import { createPrivateKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { SettingsError } from '#core/settings.ts'
import type { GitHubApp } from './github/app.ts'

export const APP_VARIABLES = {
  MOUNTGLASS_GITHUB_APP_ID: z
    .string()
    .regex(/^\d{1,15}$/, 'must be the number of the App')
    .optional(),
  MOUNTGLASS_GITHUB_APP_PRIVATE_KEY: z.string().optional(),
  MOUNTGLASS_GITHUB_APP_CLIENT_ID: z
    .string()
    .regex(/^[\w.-]{1,100}$/, 'must be the client ID of the App')
    .optional(),
  MOUNTGLASS_GITHUB_APP_CLIENT_SECRET: z
    .string()
    .regex(/^[\x21-\x7e]{1,400}$/, 'must be a client secret of printable ASCII characters without spaces')
    .optional(),
  MOUNTGLASS_GITHUB_APP_SLUG: z
    .string()
    .regex(/^[a-z\d](?:[a-z\d-]{0,98}[a-z\d])?$/i, 'must be the last segment of the URL of the App, such as mountglass-acme')
    .optional(),
}

type AppVariables = z.infer<z.ZodObject<typeof APP_VARIABLES>>

/** @returns `null` when no App is set: nobody signs in @throws SettingsError when only a part of it is set, or the key cannot be read */
export function appSettings(variables: AppVariables): GitHubApp | null {
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
  return { id, clientId, clientSecret, privateKey: readPrivateKey(privateKey), slug }
}

function missing(variable: string): SettingsError {
  const all = 'MOUNTGLASS_GITHUB_APP_ID, _PRIVATE_KEY, _CLIENT_ID and _CLIENT_SECRET go together'
  return new SettingsError(variable, `must be set: ${all}`)
}

/** @param text a PEM with real or escaped line breaks, or `file:<path>`. No message quotes it */
function readPrivateKey(text: string): string {
  const pem = text.startsWith('file:') ? readKeyFile(text.slice('file:'.length)) : text.replaceAll('\\n', '\n')
  const key = parseKey(pem)
  if (key === null)
    throw new SettingsError('MOUNTGLASS_GITHUB_APP_PRIVATE_KEY', 'must be the RSA key of the App as PEM, or file:<path> of it')
  return key
}

function readKeyFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    const problem = `the file ${path} cannot be read: ${(cause as NodeJS.ErrnoException).code ?? 'unknown error'}`
    throw new SettingsError('MOUNTGLASS_GITHUB_APP_PRIVATE_KEY', problem, { cause })
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
