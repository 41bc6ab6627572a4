import http from 'node:http'
import https from 'node:https'
import { BlockList, isIP, isIPv4, isIPv6, type Socket } from 'node:net'
import { SettingsError } from '#core/settings.ts'
import { t } from '#words/t.ts'
import { type NamedProxy, openTunnel } from './tunnel.ts'

/** The proxies of an environment, by the protocol of a request. */
export interface Proxies extends NoProxy {
  http: NamedProxy | null
  https: NamedProxy | null
}

/** What Node has from 24.14 on. */
type SetProxies = (env: Record<string, string>) => () => void

/**
 * Sends the requests of this process to git hosts and buckets through the proxies of the environment, until the returned function is called.
 * Documents that strangers name never go through a proxy: see `infra/web-documents.ts`.
 *
 * @param onUnread receives entries of `NO_PROXY` that have no effect. Default: a warning
 * @param setProxies of Node
 * @throws SettingsError
 */
export function useProxies(
  env: NodeJS.ProcessEnv,
  onUnread: (entry: string) => void = warn,
  setProxies: SetProxies | null = setProxiesOfNode(),
): () => void {
  const proxies = parseProxies(env)
  if (proxies === null) return () => {}
  const { variable } = (proxies.https ?? proxies.http) as NamedProxy
  if (setProxies === null) throw new SettingsError(variable, t('problem.proxyNode', { version: process.versions.node }))
  for (const entry of proxies.unread) onUnread(entry)
  const environment = {
    ...(proxies.http && { HTTP_PROXY: proxies.http.url.href }),
    ...(proxies.https && { HTTPS_PROXY: proxies.https.url.href }),
    NO_PROXY: proxies.forms.join(','),
  }
  // Once for the dispatcher that `fetch` has without proxies, which Node loads with its first proxy.
  setProxies(environment)()
  const direct = currentDispatcher()
  const end = setProxies(environment)
  proxyFetch(direct, url => proxyOf(proxies, url))
  return end
}

function warn(entry: string): void {
  process.emitWarning(t('problem.noProxyEntry', { entry }))
}

function setProxiesOfNode(): SetProxies | null {
  return http.setGlobalProxyFromEnv ?? null
}

/**
 * The variable that names the proxy through which this process requests the URL; `null`: it does so directly.
 *
 * @param env as `useProxies` received it
 */
export function proxyVariableFor(url: URL, env: NodeJS.ProcessEnv): string | null {
  // The agents of the process tell whether it uses proxies.
  const agents: object[] = [http.globalAgent, https.globalAgent]
  if (!agents.some(agent => (agent as AgentOfNode).options.proxyEnv)) return null
  const proxies = parseProxies(env)
  return (proxies && proxyOf(proxies, url)?.variable) ?? null
}

/** The proxy of the environment for a URL, as a person is told of it: without its password, and with the variable that names it; `null`: none. */
export function proxyFor(url: URL, env: NodeJS.ProcessEnv): string | null {
  const proxies = parseProxies(env)
  const named = proxies && proxyOf(proxies, url)
  return named && `${named.url.origin} (${named.variable})`
}

/** The types of Node lack the options of an agent. */
interface AgentOfNode {
  options: { proxyEnv?: object }
}

/** The proxy for a URL; `null`: none. */
export function proxyOf(proxies: Proxies, { protocol, hostname, port }: URL): NamedProxy | null {
  const proxy = protocol === 'https:' ? proxies.https : proxies.http
  return isExempt(proxies, hostname, port || (protocol === 'https:' ? '443' : '80')) ? null : proxy
}

/**
 * @returns `null` when no variable names a proxy
 * @throws SettingsError when a variable is not the URL of an HTTP proxy. The message does not quote the value, which may hold a password
 */
export function parseProxies(env: NodeJS.ProcessEnv): Proxies | null {
  const [http = null, https = null] = ['HTTP_PROXY', 'HTTPS_PROXY'].map(
    name => parseProxy(name, env) ?? parseProxy('ALL_PROXY', env),
  )
  if (http === null && https === null) return null
  return { http, https, ...parseNoProxy(valueIn('NO_PROXY', env) ?? '') }
}

function parseProxy(variable: string, env: NodeJS.ProcessEnv): NamedProxy | null {
  const text = valueIn(variable, env)
  if (text === undefined) return null
  if (/^socks/i.test(text)) throw new SettingsError(variable, t('problem.proxySocks'))
  // As curl and Node do: a URL without a scheme is one of `http:`.
  const url = URL.parse(/^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`)
  if (url && /^https?:$/.test(url.protocol) && url.hostname !== '' && isDecodable(url)) return { variable, url }
  throw new SettingsError(variable, t('problem.proxyUrl'))
}

/** As curl and Node do: lower case first. */
function valueIn(name: string, env: NodeJS.ProcessEnv): string | undefined {
  return (env[name.toLowerCase()] || env[name])?.trim() || undefined
}

/** Whether the credentials are escaped as in a URL: `%` alone is not. */
function isDecodable({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password)
    return true
  } catch {
    return false
  }
}

/** Where Node keeps the dispatcher that `fetch` uses. */
const DISPATCHER = Symbol.for('undici.globalDispatcher.1')

/** What is used of the dispatchers of undici, which Node does not export. */
interface Dispatcher {
  dispatch(options: { origin?: string | URL }, handler: unknown): boolean
}
interface Target {
  protocol: string
  /** With its port, unless it is that of the protocol. */
  host: string
  servername?: string
}
type Connect = (target: Target, callback: (error: Error | null, socket: Socket | null) => void) => void
type DispatcherClass = new (options: { connect: Connect }) => Dispatcher

/**
 * Sends the requests of `fetch` through the proxies that `proxyOf` chooses, until `setGlobalProxyFromEnv` or what it returned is called.
 *
 * The dispatcher that Node sets by itself connects again at once and forever when a proxy ends the connection instead of answering CONNECT.
 *
 * @param direct the dispatcher that Node uses without proxies. With another class, as `NODE_USE_ENV_PROXY` sets it, that of Node stays
 */
function proxyFetch(direct: unknown, proxyOf: (url: URL) => NamedProxy | null): void {
  const Agent = (direct as { constructor: DispatcherClass } | undefined)?.constructor
  if (Agent?.name !== 'Agent') return
  const tunnelled = new Agent({
    connect(target, callback) {
      connect(target, proxyOf).then(
        socket => callback(null, socket),
        error => callback(error, null),
      )
    },
  })
  const dispatcher: Dispatcher = {
    dispatch(options, handler) {
      const isProxied = options.origin !== undefined && proxyOf(new URL(options.origin)) !== null
      return (isProxied ? tunnelled : (direct as Dispatcher)).dispatch(options, handler)
    },
  }
  ;(globalThis as Record<symbol, unknown>)[DISPATCHER] = dispatcher
}

/** The dispatcher that `fetch` uses now; `undefined` before Node has loaded its client. */
function currentDispatcher(): unknown {
  return (globalThis as Record<symbol, unknown>)[DISPATCHER]
}

async function connect({ protocol, host, servername }: Target, proxyOf: (url: URL) => NamedProxy | null): Promise<Socket> {
  const url = new URL(`${protocol}//${host}`)
  const proxy = proxyOf(url)
  if (proxy === null) throw new Error('no proxy is used for this host')
  return await openTunnel(proxy, url, servername)
}

/** Never behind a proxy: what runs on this machine. */
const OWN = ['localhost', '127.0.0.1', '::1']

/** What `NO_PROXY` exempts from proxies. */
interface NoProxy {
  /**
   * The forms that the HTTP client of Node reads: `*`, a host, `.` and a domain, `<host>:<port>`, `<first>-<last>` of addresses. An address of
   * IPv6 stands with and without brackets, since clients spell it either way.
   */
  forms: readonly string[]
  /** Entries that are not of this form. */
  unread: readonly string[]
}

/**
 * Reads the spellings of `NO_PROXY` that programs know: entries are separated by commas or white space; `example.org`, `.example.org` and
 * `*.example.org` are the domain and all names below it; `host:443` is that host at that port; `10.0.0.0/8` and `10.0.0.1-10.0.0.9` are ranges.
 */
export function parseNoProxy(text: string): NoProxy {
  const entries = text.toLowerCase().split(/[\s,]+/)
  const read = entries.filter(entry => entry !== '').map(entry => ({ entry, forms: formsOf(entry) }))
  return {
    forms: [...OWN, ...read.flatMap(({ forms }) => forms ?? [])].flatMap(inBrackets),
    unread: read.filter(({ forms }) => forms === null).map(({ entry }) => entry),
  }
}

/** Whether a host is reached without a proxy. The HTTP client of Node compares in the same way. @param host an address of IPv6 may stand in brackets */
export function isExempt({ forms }: Pick<NoProxy, 'forms'>, host: string, port: string): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$/g, '')
  return forms.some(
    form =>
      form === '*' ||
      form === name ||
      form === `${name}:${port}` ||
      (form.startsWith('.') && name.endsWith(form)) ||
      isInRange(form, name),
  )
}

function formsOf(entry: string): string[] | null {
  if (entry === '*') return ['*']
  if (entry.includes('/')) return rangeOf(entry)
  if (isRange(entry)) return [entry]
  const [, bracketed, plain = '', port] = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(entry) ?? []
  const address = bracketed ?? (isIPv6(entry) ? entry : null)
  const host = address === null ? plain : canonical(address)
  if (host === null || host === '') return null
  if (isIP(host)) return [port === undefined ? host : `${host}:${port}`]
  const domain = host.replace(/^\*?\./, '').replace(/\.$/, '')
  if (!/^[\p{L}\d](?:[\p{L}\d._-]*)$/u.test(domain)) return null
  const name = URL.parse(`http://${domain}`)?.hostname ?? domain
  if (port === undefined) return [name, `.${name}`]
  // The client of Node knows ports of hosts only.
  return domain === host ? [`${name}:${port}`] : null
}

/** The spelling of an address of IPv6 in a URL; `null` for what is none. */
function canonical(address: string): string | null {
  return isIPv6(address) ? (URL.parse(`http://[${address}]`)?.hostname.slice(1, -1) ?? null) : null
}

function inBrackets(form: string): string[] {
  return isIPv6(form) ? [form, `[${form}]`] : [form]
}

/** `10.0.0.0/8` as its first and last address. */
function rangeOf(entry: string): string[] | null {
  const [, address = '', digits = ''] = /^([\d.]+)\/(\d{1,2})$/.exec(entry) ?? []
  const bits = Number(digits)
  if (!isIPv4(address) || digits === '' || bits > 32) return null
  const size = 2 ** (32 - bits)
  const number = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
  const first = number - (number % size)
  return [`${dotted(first)}-${dotted(first + size - 1)}`]
}

function dotted(number: number): string {
  return [24, 16, 8, 0].map(shift => Math.floor(number / 2 ** shift) % 256).join('.')
}

function isRange(form: string): boolean {
  const ends = form.split('-')
  return ends.length === 2 && ends.every(end => isIPv4(end))
}

function isInRange(form: string, name: string): boolean {
  if (!isRange(form) || !isIPv4(name)) return false
  const [first = '', last = ''] = form.split('-')
  const list = new BlockList()
  list.addRange(first, last)
  return list.check(name)
}
