import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A door in front of a server, through which answers get lost. */
export interface Proxy {
  /** The address of the server, by way of the proxy. */
  url: string
  /**
   * Loses the next answers to what a client sends that holds `text`: the server has it, does it, and the connection ends instead of
   * the answer. `how` tells of each one whether the server gets it at all. After the last one, `afterwards: 'hold'` lets new connections wait
   * until `letIn`.
   */
  lose(text: string, times: number, how?: 'answer' | 'question', afterwards?: 'pass' | 'hold'): void
  letIn(): void
  /** How many answers are still to be lost. Of one that the server has to give, it counts until the server gave it. */
  toLose(): number
  /** Ends all connections; those who come meanwhile are refused. */
  shut(): Promise<void>
  /** Listens again. */
  open(): Promise<void>
}

/** @param serverUrl with host and port */
export async function startProxy(serverUrl: string): Promise<Proxy> {
  const target = new URL(serverUrl)
  const sockets = new Set<Socket>()
  let losing = { text: '', times: 0, how: 'answer' as 'answer' | 'question', afterwards: 'pass' as 'pass' | 'hold' }
  let unanswered = 0
  let waiting: Socket[] | null = null

  function loses(sent: Buffer): boolean {
    if (losing.times === 0 || !sent.includes(losing.text)) return false
    losing.times--
    if (losing.times === 0 && losing.afterwards === 'hold') waiting = []
    return true
  }

  function pass(client: Socket): void {
    const upstream = connect(Number(target.port), target.hostname)
    const end = () => {
      for (const socket of [client, upstream]) {
        socket.destroy()
        sockets.delete(socket)
      }
    }
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', end).on('close', end)
    }
    let isLost = false
    client.on('data', sent => {
      if (loses(sent)) {
        if (losing.how === 'question') return end()
        if (!isLost) unanswered++
        isLost = true
      }
      upstream.write(sent)
    })
    upstream.on('data', answer => {
      if (isLost) end()
      else client.write(answer)
    })
    upstream.on('close', () => {
      if (isLost) unanswered--
    })
    client.resume()
  }

  const server = createServer({ pauseOnConnect: true }, client => {
    if (waiting === null) pass(client)
    else waiting.push(client)
  })

  async function open(port: number): Promise<void> {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }

  await open(0)
  const { port } = server.address() as AddressInfo
  const url = new URL(serverUrl)
  url.port = String(port)
  return {
    url: url.href,
    lose(text, times, how = 'answer', afterwards = 'pass') {
      losing = { text, times, how, afterwards }
    },
    letIn() {
      const clients = waiting ?? []
      waiting = null
      for (const client of clients) pass(client)
    },
    toLose: () => losing.times + unanswered,
    async shut() {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      for (const client of waiting ?? []) client.destroy()
      for (const socket of sockets) socket.destroy()
      await closed
    },
    open: () => open(port),
  }
}
