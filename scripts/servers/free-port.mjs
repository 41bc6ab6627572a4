import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { createServer } from 'node:net'

/** Below the ephemeral ports: an outgoing connection could take one of those between the check and the listening. */
const PORTS = { from: 20_000, to: 32_000 }
const TRIES = 100

/**
 * Finds a loopback port that is free at this moment, with as many after it as are wanted. While this process lives, it is told to no other caller:
 * a program that was given a port takes seconds until it listens.
 *
 * @param {number} [count] ports in a row
 * @returns {Promise<number>} the first one
 */
export async function freePort(count = 1) {
  for (let tries = 0; tries < TRIES; tries++) {
    const port = randomInt(PORTS.from, PORTS.to - count)
    const reserved = await Promise.all(Array.from({ length: count }, (_, place) => reserve(port + place)))
    if (reserved.every(socket => socket !== null)) return port
    for (const socket of reserved) socket?.close()
  }
  throw new Error('there is no free port')
}

/**
 * Binds the UDP port of the same number, which no program here uses, so that other processes that look for a port see that this one is taken. The
 * system frees it when this process ends.
 *
 * @param {number} port
 * @returns {Promise<import('node:dgram').Socket | null>} `null` when the port is not free, or was told before
 */
async function reserve(port) {
  const socket = createSocket('udp4')
  const isFirst = await new Promise(resolve => {
    socket.once('error', () => resolve(false)).bind(port, '127.0.0.1', () => resolve(true))
  })
  if (isFirst && (await isFree(port))) return socket.unref()
  socket.close()
  return null
}

/**
 * @param {number} port
 * @returns {Promise<boolean>}
 */
function isFree(port) {
  return new Promise(resolve => {
    const server = createServer().once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
