import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/**
 * Connections that ask for one URL at a time and read of an answer only its status and where it ends. With a whole client of HTTP, a server
 * that answers from memory waits for its client most of the time.
 */
export class LightClient {
  readonly #sockets: readonly Socket[]
  readonly #host: string

  private constructor(sockets: readonly Socket[], host: string) {
    this.#sockets = sockets
    this.#host = host
  }

  static async open(origin: string, connections: number): Promise<LightClient> {
    const { host, hostname, port } = new URL(origin)
    const opened = Array.from({ length: connections }, async () => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true })
      await once(socket, 'connect')
      return socket
    })
    return new LightClient(await Promise.all(opened), host)
  }

  /** Sends as many requests, at most one on each of the first `connections` at a time. @throws Error when a status is not the expected one */
  async ask(
    path: string,
    {
      having,
      status,
      requests,
      connections,
    }: { having: Record<string, string>; status: number; requests: number; connections: number },
  ): Promise<void> {
    const headers = Object.entries({ host: this.#host, ...having }).map(([name, value]) => `${name}: ${value}\r\n`)
    const bytes = Buffer.from(`GET ${path} HTTP/1.1\r\n${headers.join('')}\r\n`, 'latin1')
    let left = requests
    const askInTurn = async (socket: Socket) => {
      while (left-- > 0) await answered(socket, bytes, status)
    }
    await Promise.all(this.#sockets.slice(0, connections).map(askInTurn))
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy()
  }
}

/** Sends a request, and waits for the end of its answer. The head of an answer is smaller than the first bytes that arrive. */
function answered(socket: Socket, bytes: Buffer, status: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let missing: number | null = null
    const read = (chunk: Buffer) => {
      if (missing === null) {
        const head = chunk.toString('latin1', 0, 2_048)
        const end = head.indexOf('\r\n\r\n') + 4
        if (end < 4 || head.slice(9, 12) !== String(status)) return finish(new Error(`answered ${head.slice(0, 100)}`))
        missing = end + (status === 304 ? 0 : Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]))
      }
      missing -= chunk.length
      if (missing <= 0) finish(null)
    }
    const finish = (error: Error | null) => {
      socket.off('data', read)
      if (error === null) resolve()
      else reject(error)
    }
    socket.on('data', read)
    socket.write(bytes)
  })
}
