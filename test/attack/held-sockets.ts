import { connect, type Socket } from 'node:net'
import type { Attack } from './attack.ts'

const AGAIN_MS = 50

/**
 * Keeps connections open. One that the service ends is replaced.
 *
 * @param begin called once a connection is open
 */
export function holdSockets(origin: string, connections: number, begin: (socket: Socket) => void): Attack {
  const { hostname, port } = new URL(origin)
  const open = new Set<Socket>()
  const timers = new Set<NodeJS.Timeout>()
  let isStopped = false
  let count = 0

  function hold(): void {
    if (isStopped) return
    count++
    const socket = connect(Number(port), hostname, () => begin(socket))
    open.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => {
      open.delete(socket)
      const timer = setTimeout(() => {
        timers.delete(timer)
        hold()
      }, AGAIN_MS)
      timers.add(timer)
    })
  }

  for (let connection = 0; connection < connections; connection++) hold()
  return {
    count: () => count,
    async stop() {
      isStopped = true
      for (const timer of timers) clearTimeout(timer)
      for (const socket of open) socket.destroy()
    },
  }
}
