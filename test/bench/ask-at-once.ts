import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/**
 * Asks for a path so many times over some connections, each with one request at a time, and resolves with the milliseconds that took.
 *
 * @throws Error unless every answer is 200 with a length. A client of few steps: it shares the processors with the server that it measures.
 */
export async function askAtOnce(origin: string, path: string, { connections, requests }: Asking): Promise<number> {
  const { hostname, port, host } = new URL(origin)
  const request = `GET ${path} HTTP/1.1\r\nhost: ${host}\r\n\r\n`
  const sockets = await Promise.all(Array.from({ length: connections }, () => connected(hostname, Number(port))))
  const startedAt = performance.now()
  let unasked = requests
  try {
    await Promise.all(
      sockets.map(async socket => {
        for (; unasked > 0; ) {
          unasked--
          socket.write(request)
          await answered(socket)
        }
      }),
    )
    return performance.now() - startedAt
  } finally {
    for (const socket of sockets) socket.destroy()
  }
}

interface Asking {
  connections: number
  requests: number
}

async function connected(host: string, port: number): Promise<Socket> {
  const socket = connect({ host, port, noDelay: true })
  await once(socket, 'connect')
  return socket
}

/** Reads one answer to its end. */
function answered(socket: Socket): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let leftBytes = 0
  let head = ''
  const onData = (chunk: Buffer) => {
    if (leftBytes > 0) leftBytes -= chunk.length
    else {
      head += chunk.toString('latin1')
      const end = head.indexOf('\r\n\r\n')
      if (end < 0) return
      const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
      if (!head.startsWith('HTTP/1.1 200 ') || length === undefined) return finish(new Error(head.slice(0, end)))
      leftBytes = end + 4 + Number(length) - head.length
    }
    if (leftBytes <= 0) finish()
  }
  const onEnd = () => finish(new Error('the server ended the connection'))
  const finish = (error?: Error) => {
    socket.off('data', onData).off('close', onEnd)
    if (error) reject(error)
    else resolve()
  }
  socket.on('data', onData).on('close', onEnd)
  return promise
}
