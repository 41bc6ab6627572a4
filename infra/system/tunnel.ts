import http, { type RequestOptions } from 'node:http'
import https from 'node:https'
import { isIP, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'

/** A proxy, and the variable that names it. */
export interface NamedProxy {
  variable: string
  url: URL
}

const CONNECT_MS = 10_000

/** A proxy did not lead to the origin of a request. The message names the variable of the proxy, and no credentials. */
export class ProxyError extends Error {
  readonly code: string

  constructor(variable: string, reason: string, options?: ErrorOptions) {
    super(`the proxy that ${variable} names ${reason}`, options)
    this.name = 'ProxyError'
    this.code = 'PROXY_FAILED'
  }
}

/**
 * Opens a connection to the origin of a URL through the proxy, by CONNECT.
 *
 * @param servername for TLS; empty: the host
 * @throws ProxyError when the proxy cannot be reached, refuses the origin, or ends the connection; the error of TLS with the origin
 */
export async function openTunnel(proxy: NamedProxy, target: URL, servername = ''): Promise<Socket> {
  const socket = await connectBy(proxy, target)
  return target.protocol === 'https:' ? await secure(socket, servername || hostOf(target)) : socket
}

function connectBy({ url, variable }: NamedProxy, { protocol, hostname, port }: URL): Promise<Socket> {
  const authority = `${hostname}:${port || defaultPort(protocol)}`
  const options: RequestOptions = {
    method: 'CONNECT',
    host: hostOf(url),
    port: url.port || defaultPort(url.protocol),
    path: authority,
    headers: { host: authority, ...credentialsOf(url) },
    agent: false,
    timeout: CONNECT_MS,
  }
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  const fail = (reason: string, cause?: unknown) => reject(new ProxyError(variable, reason, { cause }))
  const asked = (url.protocol === 'https:' ? https : http).request(options)
  asked.once('connect', ({ statusCode = 0 }, socket) => {
    socket.setTimeout(0)
    if (statusCode >= 200 && statusCode < 300) return resolve(socket)
    socket.destroy()
    fail(`refuses ${authority} (status ${statusCode})`)
  })
  asked.once('timeout', () => asked.destroy(new Error('timeout')))
  asked.once('error', error => fail(`cannot be reached (${(error as NodeJS.ErrnoException).code ?? error.message})`, error))
  asked.once('close', () => fail('ended the connection'))
  asked.end()
  return promise
}

function secure(socket: Socket, name: string): Promise<TLSSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>()
  const secured = connectTls({ socket, ...(isIP(name) ? { host: name } : { servername: name }), ALPNProtocols: ['http/1.1'] })
  secured.setTimeout(CONNECT_MS, () => secured.destroy(new Error('timeout')))
  secured.once('secureConnect', () => {
    secured.setTimeout(0)
    resolve(secured)
  })
  secured.once('error', reject)
  secured.once('close', () => reject(new Error('the connection ended before it was secured')))
  return promise
}

function credentialsOf({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {}
  const text = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { 'proxy-authorization': `Basic ${Buffer.from(text).toString('base64')}` }
}

/** Without the brackets of an address of IPv6. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '')
}

function defaultPort(protocol: string): string {
  return protocol === 'https:' ? '443' : '80'
}
