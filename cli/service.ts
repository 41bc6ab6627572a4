import { HOST_NAMES } from '#core/address.ts'
import { SettingsError } from '#core/settings.ts'
import { withoutTrailing } from '#core/text.ts'
import { t } from '#words/t.ts'
import type { AnswersInContext } from './answers.ts'
import { remoteAnswers } from './remote-answers.ts'

/** The URL of a deployment, and the setting that names it. */
export interface NamedService {
  url: string
  setting: '--service' | 'MOUNTGLASS_SERVICE'
}

/** What the option names, else the environment; `null`: this process reads the repositories itself. */
export function namedService(option: string | undefined, env: NodeJS.ProcessEnv): NamedService | null {
  if (option !== undefined) return { url: option, setting: '--service' }
  const url = env.MOUNTGLASS_SERVICE?.trim() ?? ''
  return url === '' ? null : { url, setting: 'MOUNTGLASS_SERVICE' }
}

/** The deployment that a command asks, with the token of the environment. @throws SettingsError */
export function openService({ url, setting }: NamedService, env: NodeJS.ProcessEnv): AnswersInContext {
  const baseUrl = parseBaseUrl(url, setting)
  const answers = remoteAnswers({ baseUrl, token: tokenFor(baseUrl, env) })
  return { answers, context: { hosts: Object.keys(HOST_NAMES), baseUrl } }
}

function parseBaseUrl(text: string, setting: NamedService['setting']): string {
  const url = URL.parse(text)
  const isPlain = url && url.username === '' && url.password === '' && url.search === '' && url.hash === ''
  if (!isPlain || !/^https?:$/.test(url.protocol)) throw new SettingsError(setting, t('problem.serviceUrl'))
  return withoutTrailing(url.href, /\//)
}

const TOKEN = 'MOUNTGLASS_TOKEN'
/** Settings of commands that read, which a service may find in its environment. */
export const READER_SETTINGS = ['MOUNTGLASS_SERVICE', TOKEN, 'MOUNTGLASS_CACHE_MEGABYTES']

/** The token of the environment. @throws SettingsError if it would cross a network in clear */
function tokenFor(baseUrl: string, env: NodeJS.ProcessEnv): string | null {
  const token = env[TOKEN]?.trim() ?? ''
  if (token === '') return null
  const { protocol, hostname } = new URL(baseUrl)
  const isLoopback = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
  if (protocol !== 'https:' && !isLoopback) throw new SettingsError(TOKEN, t('problem.tokenInClear'))
  if (!/^[\x21-\x7e]+$/.test(token)) throw new SettingsError(TOKEN, t('problem.noToken'))
  return token
}
