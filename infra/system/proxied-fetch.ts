import type { Socket } from 'node:net'
import { type NamedProxy, openTunnel } from './tunnel.ts'

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
export function proxyFetch(direct: unknown, proxyOf: (url: URL) => NamedProxy | null): void {
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
export function currentDispatcher(): unknown {
  return (globalThis as Record<symbol, unknown>)[DISPATCHER]
}

async function connect({ protocol, host, servername }: Target, proxyOf: (url: URL) => NamedProxy | null): Promise<Socket> {
  const url = new URL(`${protocol}//${host}`)
  const proxy = proxyOf(url)
  if (proxy === null) throw new Error('no proxy is used for this host')
  return await openTunnel(proxy, url, servername)
}
