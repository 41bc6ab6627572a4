import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'

/** A forward proxy that leads every name to this machine. */
export interface ForwardProxy {
  /** With the user and password `user:hush`. */
  url: string
  /** What it was asked for: `POST git.test:80`, `CONNECT api.test:443`, and the credentials given with it. */
  asked: { what: string; credentials: string | null }[]
  close(): void
}

/** @param leadsTo the port that every name has; default: the port that is asked for */
export async function startForwardProxy(leadsTo?: number): Promise<ForwardProxy> {
  const asked: ForwardProxy['asked'] = []
  const note = (what: string, header: string | undefined) => {
    const [, encoded] = /^Basic (.*)$/.exec(header ?? '') ?? []
    asked.push({ what, credentials: encoded === undefined ? null : Buffer.from(encoded, 'base64').toString() })
  }
  const proxy = createServer((incoming, outgoing) => {
    const { hostname, pathname, search, port } = new URL(incoming.url ?? '')
    const { method, headers } = incoming
    note(`${method} ${hostname}:${port || 80}`, headers['proxy-authorization'])
    const place = { host: '127.0.0.1', port: leadsTo ?? (port || 80), path: pathname + search }
    const onward = request({ ...place, method, headers }, answer => {
      outgoing.writeHead(answer.statusCode ?? 0, answer.headers)
      answer.pipe(outgoing)
    })
    onward.on('error', () => outgoing.destroy())
    incoming.pipe(onward)
  })
  proxy.on('connect', ({ url = '', headers }, socket) => {
    note(`CONNECT ${url}`, headers['proxy-authorization'])
    const upstream = connect(leadsTo ?? Number(url.split(':')[1]), '127.0.0.1', () => socket.write('HTTP/1.1 200 OK\r\n\r\n'))
    const end = () => {
      socket.destroy()
      upstream.destroy()
    }
    for (const one of [socket, upstream]) one.on('error', end).on('close', end)
    socket.pipe(upstream).pipe(socket)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return {
    url: `http://user:hush@127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    asked,
    close() {
      proxy.close()
      proxy.closeAllConnections()
    },
  }
}
