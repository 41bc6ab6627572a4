import { SettingsError } from '#core/settings.ts'
import { sentence } from '#core/words/sentence.ts'

const PROXIES = ['HTTP_PROXY', 'HTTPS_PROXY'] as const
/** Never behind a proxy: what runs on this machine. */
const OWN = ['localhost', '127.0.0.1', '::1', '[::1]']

/** The proxies of an environment, as Node reads them. */
export type Proxies = Record<(typeof PROXIES)[number] | 'NO_PROXY', string | undefined>

/**
 * Sends the requests of this process to git hosts and buckets through the proxies of the environment. What strangers name is read without
 * one (`infra/web`): only an address that this process looked up itself is one that it may refuse.
 *
 * @returns what ends it
 * @throws SettingsError
 */
export function useProxies(env: NodeJS.ProcessEnv): () => void {
  const proxies = parseProxies(env)
  // An `import` would load the client behind `fetch`: see decision 0116.
  // Node has it from 24.14 on.
  return (proxies && process.getBuiltinModule('node:http').setGlobalProxyFromEnv?.(proxies)) ?? (() => {})
}

/** @returns `null` without a proxy @throws SettingsError for a URL that is none of an HTTP proxy. The message does not quote it: it may hold a password */
export function parseProxies(env: NodeJS.ProcessEnv): Proxies | null {
  // As curl and Node do: lower case first, and a URL without a scheme is one of `http:`.
  const valueIn = (name: string) => env[name.toLowerCase()] || env[name] || undefined
  const [http, https] = PROXIES.map(name => {
    const text = valueIn(name)
    if (text === undefined) return undefined
    const url = URL.parse(/^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`)
    if (url && /^https?:$/.test(url.protocol) && url.hostname !== '') return url.href
    throw new SettingsError(name, sentence('proxyUrl'))
  })
  if (http === undefined && https === undefined) return null
  return { HTTP_PROXY: http, HTTPS_PROXY: https, NO_PROXY: [...OWN, valueIn('NO_PROXY')].filter(Boolean).join(',') }
}
