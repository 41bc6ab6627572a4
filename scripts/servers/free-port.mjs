import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the ephemeral ports: an outgoing connection could take one of those between the check and the listening. */
const PORTS = { from: 20_000, to: 32_000 }
const TRIES = 100

/**
 * Finds a loopback port that is free, with as many after it as are wanted. Until this process ends, no other caller is given them, in any process.
 *
 * @param {number} [count] ports in a row
 * @returns {Promise<number>} the first one
 */
export async function freePort(count = 1) {
  for (let tries = 0; tries < TRIES; tries++) {
    const port = randomInt(PORTS.from, PORTS.to - count)
    const areFree = await Promise.all(Array.from({ length: count }, (_, place) => claim(port + place)))
    if (areFree.every(Boolean)) return port
  }
  throw new Error('there is no free port')
}

/**
 * Between this look and the moment at which a program listens, or while it restarts, another caller may not find the port free. Its claim is a
 * name that the system gives to one process and takes back at its end; only Linux has such names.
 *
 * @param {number} port
 * @returns {Promise<boolean>}
 */
async function claim(port) {
  const isClaimed =
    process.platform !== 'linux' || (await listens(async server => server.unref(), { path: `\0mountglass-port-${port}` }))
  return isClaimed && (await listens(server => once(server.close(), 'close'), { port, host: '127.0.0.1' }))
}

/**
 * @param {(server: import('node:net').Server) => Promise<unknown>} then once it listens
 * @param {import('node:net').ListenOptions} where
 * @returns {Promise<boolean>} whether it could
 */
async function listens(then, where) {
  const server = createServer()
  try {
    await once(server.listen(where), 'listening')
  } catch {
    return false
  }
  await then(server)
  return true
}
