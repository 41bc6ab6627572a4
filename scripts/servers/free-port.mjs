import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/** Below those that systems give to connections that go out: one of these may take a port between looking and listening. */
const PORTS = { from: 20_000, to: 32_000 }
const TRIES = 100

/**
 * A port of loopback that nobody listens on at this moment.
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
