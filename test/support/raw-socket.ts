import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export interface RawAnswer {
  status: number
  head: string
  headers: Record<string, string>
  body: string
  /** Everything that arrived. */
  text: string
  code: string | undefined
}

/** Sends the bytes as they are (every character one byte) and reads until the server closes. */
export async function sendRaw(port: number, bytes: string): Promise<RawAnswer> {
  const connection = openRaw(port)
  connection.socket.setTimeout(120_000, () => connection.socket.destroy(new Error('no answer')))
  connection.socket.write(Buffer.from(bytes, 'latin1'))
  await connection.closed
  return connection.answer()
}

export interface RawConnection {
  socket: Socket
  /** The first answer, as far as it has arrived. */
  answer(): RawAnswer
  /** Resolves when the server has closed, however. */
  closed: Promise<void>
}

/** A connection whose own side stays open until it is destroyed, as that of a client that never closes. */
export function openRaw(port: number): RawConnection {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  let text = ''
  socket.on('data', chunk => {
    text += chunk.toString('latin1')
  })
  // A server that refuses may reset the connection while we still send.
  socket.on('error', () => {})
  const closed = Promise.race([once(socket, 'end'), once(socket, 'close')]).then(() => {})
  return { socket, closed, answer: () => parseAnswer(text) }
}

export function parseAnswer(text: string): RawAnswer {
  const [head = '', body = ''] = text.split('\r\n\r\n', 2)
  const lines = head.split('\r\n').slice(1)
  const headers = Object.fromEntries(
    lines.map(line => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )
  const code = /"code":"([a-z._]+)"/.exec(body)?.[1]
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]), head, headers, body, text, code }
}
