import { createSocket, type Socket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { afterEach, expect, test } from 'vitest'
import { resolveName } from '#infra/web-documents.ts'

const sockets: Socket[] = []
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.close()
})

/** A name server of this machine. @param answer the address of every name; `null`: it never answers */
async function nameServer(answer: [number, number, number, number] | null): Promise<{ server: string; asked: () => number }> {
  const socket = createSocket('udp4')
  sockets.push(socket)
  let asked = 0
  socket.on('message', (question, { port, address }) => {
    asked++
    if (answer !== null) socket.send(answerTo(question, answer), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return { server: `127.0.0.1:${socket.address().port}`, asked: () => asked }
}

/** RFC 1035: the question again, and one address, or none where another kind is asked for. */
function answerTo(question: Buffer, address: readonly number[]): Buffer {
  const end = question.indexOf(0, 12) + 5
  const isForAddress = question.readUInt16BE(end - 4) === 1
  const head = Buffer.from(question.subarray(0, 12))
  head.writeUInt16BE(0x8180, 2)
  head.writeUInt16BE(isForAddress ? 1 : 0, 6)
  head.writeUInt16BE(0, 10)
  const record = isForAddress ? [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address] : []
  return Buffer.concat([head, question.subarray(12, end), Buffer.from(record)])
}

test('the addresses of a name are those of its server', async () => {
  const { server } = await nameServer([192, 0, 2, 7])
  expect(await resolveName('client.example', new AbortController().signal, [server])).toEqual(['192.0.2.7'])
})

test('names whose server never answers end with their signal, and delay no other look-up', async () => {
  const { server, asked } = await nameServer(null)
  const ending = new AbortController()
  const waiting = Array.from({ length: 64 }, (_, number) => resolveName(`n${number}.example`, ending.signal, [server]))
  const ended = Promise.allSettled(waiting)
  expect((await lookup('127.0.0.1')).address).toBe('127.0.0.1')
  expect(await lookup('localhost')).toBeDefined()
  ending.abort()
  expect(new Set((await ended).map(({ status }) => status))).toEqual(new Set(['rejected']))
  expect(asked()).toBeGreaterThan(0)
  await expect(resolveName('late.example', ending.signal, [server])).rejects.toThrow()
})
