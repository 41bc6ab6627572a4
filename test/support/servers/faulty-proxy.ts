import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** What befalls a request on its way. */
export type Fault =
  /** The connection is cut before the server hears of it. */
  | { kind: 'reset' }
  /** The server hears of it later. */
  | { kind: 'late'; milliseconds: number }
  /** The server does it, and the connection is cut in place of an answer; first of all, `meanwhile` happens. */
  | { kind: 'answer lost'; meanwhile?: () => Promise<unknown> }
  /** The server does it, and nothing is heard of it, for as long as the client waits. */
  | { kind: 'answer hangs' }
  /** The server never hears of it, and nor does the client. */
  | { kind: 'hangs' }
  /** The answer breaks off in the middle of its body. */
  | { kind: 'body breaks off' }
  /** Somebody else answers, and the server never hears of it. */
  | { kind: 'answered'; status: number; body?: string; type?: string }

export interface ProxiedRequest {
  method: string
  /** With the query. */
  target: string
  /** What it asks for as a condition of a write, as it is sent. */
  condition: string | null
}

export interface FaultyProxy {
  url: string
  /** All that came, the first one first. */
  readonly requests: readonly ProxiedRequest[]
  /** What befalls requests from now on; at first: nothing. */
  befall(decide: (request: ProxiedRequest) => Fault | null): void
  close(): Promise<void>
}

const KEEP_ALIVE_MS = 60_000

/** Passes requests on to an HTTP server and its answers back, header by header, or not. */
export async function startFaultyProxy(server: string): Promise<FaultyProxy> {
  const { hostname, port } = new URL(server)
  const requests: ProxiedRequest[] = []
  let decide: (request: ProxiedRequest) => Fault | null = () => null

  async function pass(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: target = '', headers, rawHeaders } = incoming
    const condition = headers['if-none-match'] ?? headers['if-match'] ?? null
    requests.push({ method, target, condition })
    const fault = decide({ method, target, condition })
    if (fault?.kind === 'reset') return void response.destroy()
    if (fault?.kind === 'hangs') return
    if (fault?.kind === 'answered') {
      // An answer before the end of the question looks like a connection that broke.
      await incoming.resume().toArray()
      response.writeHead(fault.status, { 'content-type': fault.type ?? 'application/xml' }).end(fault.body)
      return
    }
    const body = Buffer.concat(await incoming.toArray())
    if (fault?.kind === 'late') await sleep(fault.milliseconds)
    // The raw headers as they came: they are signed.
    const passed = request({ hostname, port, method, path: target, headers: rawHeaders }).end(body)
    const [answer] = (await once(passed, 'response')) as [IncomingMessage]
    if (fault?.kind === 'answer lost' || fault?.kind === 'answer hangs') {
      await answer.resume().toArray()
      if (fault.kind === 'answer hangs') return
      await fault.meanwhile?.()
      return void response.destroy()
    }
    response.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
    if (fault?.kind === 'body breaks off') {
      const whole = Buffer.concat(await answer.toArray())
      response.write(whole.subarray(0, whole.length / 2), () => response.destroy())
      return
    }
    answer.pipe(response)
  }

  const proxy = createServer((incoming, response) => {
    // A client that is gone, or a server, is a broken connection to the other one.
    pass(incoming, response).catch(() => response.destroy())
  })
  // A client must not meet the end of an idle connection just as it asks again: it would be one more fault.
  proxy.keepAliveTimeout = KEEP_ALIVE_MS
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    requests,
    befall(next) {
      decide = next
    },
    async close() {
      proxy.closeAllConnections()
      proxy.close()
      await once(proxy, 'close')
    },
  }
}
