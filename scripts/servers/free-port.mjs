import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/** Below the ephemeral ports: an outgoing connection could take one of those between the check and the listening. */
const PORTS = { from: 20_000, to: 32_000 }
const TRIES = 100

/**
 * Finds a loopback port that is free at this moment, with as many after it as are wanted.
 *
 * @param {number} [count] ports in a row
 * @returns {Promise<number>} the first one
 */
export async function freePort(count = 1) {
  for (let tries = 0; tries < TRIES; tries++) {
    const port = randomInt(PORTS.from, PORTS.to - count)
    const areFree = await Promise.all(Array.from({ length: count }, (_, place) => isFree(port + place)))
    if (areFree.every(Boolean)) return port
  }
  throw new Error('there is no free port')
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
