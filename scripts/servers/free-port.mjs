import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/** Below the ephemeral ports: an outgoing connection could take one of those between the check and the listening. */
const PORTS = { from: 20_000, to: 32_000 }
const TRIES = 100

/**
 * Finds a loopback port that is free at this moment.
 *
 * @returns {Promise<number>}
 */
export async function freePort() {
  for (let tries = 0; tries < TRIES; tries++) {
    const port = randomInt(PORTS.from, PORTS.to)
    if (await isFree(port)) return port
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
