import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { openDatabase } from '#infra/postgres/database.ts'

let server: Server

afterEach(() => server.close())

test('a server that ends a connection right after accepting it fails the statement and nothing else', async () => {
  // A server that is shut down under load sends both messages at once, before the pool hands the connection to the statement.
  const url = await serveOnce(Buffer.concat([ACCEPTED, SHUT_DOWN]))
  const uncaught: unknown[] = []
  const note = (error: unknown) => uncaught.push(error)
  process.prependListener('uncaughtException', note)
  const database = openDatabase(url, { connections: 1 })
  try {
    await expect(database.run('SELECT 1')).rejects.toThrow()
    expect(uncaught).toEqual([])
  } finally {
    process.removeListener('uncaughtException', note)
    await database.close()
  }
})

/** Answers every connection with the same bytes, whatever the client sends, and ends it. */
async function serveOnce(answer: Buffer): Promise<string> {
  server = createServer(socket => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(answer))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `postgres://reader@127.0.0.1:${(server.address() as AddressInfo).port}/mountglass`
}

/** A message of PostgreSQL's protocol, version 3: its type, its length, its body. */
function message(type: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(body.length + 4)
  return Buffer.concat([Buffer.from(type), length, body])
}

/** AuthenticationOk, ReadyForQuery. */
const ACCEPTED = Buffer.concat([message('R', Buffer.alloc(4)), message('Z', Buffer.from('I'))])
/** ErrorResponse: the administrator shuts the server down. */
const SHUT_DOWN = message('E', Buffer.from('SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0'))
