import { type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import fastify, { type FastifyInstance } from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createHoldBytes } from '#api/http/held-bytes.ts'

const BYTES = 8 * 1024 * 1024

let app: FastifyInstance
let port: number
beforeAll(async () => {
  app = fastify()
  const hold = createHoldBytes(2 * BYTES)
  app.get('/', async (incoming, reply) => {
    hold(incoming, reply, BYTES)
    return reply.send(Buffer.alloc(BYTES))
  })
  await app.listen({ port: 0, host: '0.0.0.0' })
  port = (app.server.address() as AddressInfo).port
})
afterAll(() => app.close())

/** Asks from an address of this machine, and reads nothing of the body until it is told to. */
async function ask(localAddress: string) {
  const asked = request({ host: '127.0.0.1', port, localAddress, agent: false })
  asked.end()
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    asked.once('response', resolve).once('error', reject)
  })
  const ended = new Promise<'ended'>(resolve => answer.once('close', () => resolve('ended')))
  answer.on('error', () => {})
  const read = async () => {
    let bytes = 0
    for await (const chunk of answer) bytes += (chunk as Buffer).length
    return bytes
  }
  return { status: answer.statusCode, read, ended, leave: () => asked.destroy() }
}

test('a client that reads nothing loses its oldest answer to another client, and the others are read whole', async () => {
  const first = await ask('127.0.0.1')
  const second = await ask('127.0.0.1')
  const other = await ask('127.0.0.2')
  expect(await other.read()).toBe(BYTES)
  expect(await first.read().catch(() => 'broken')).toBe('broken')
  expect(await second.read()).toBe(BYTES)
})

test('a client for whom there is no room is told to come back, and what a client leaves is free again', async () => {
  const held = [await ask('127.0.0.1'), await ask('127.0.0.2')]
  expect((await ask('127.0.0.3')).status).toBe(503)
  for (const one of held) one.leave()
  await Promise.all(held.map(one => one.ended))
  await expect.poll(async () => (await ask('127.0.0.3')).status).toBe(200)
})
