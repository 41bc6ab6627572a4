import { PassThrough } from 'node:stream'
import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import { expect, test } from 'vitest'
import { createStdioTransport } from '#api/mcp/stdio-transport.ts'

const FOREVER_MS = 2 ** 31 - 1

async function connect(lines: readonly object[], { maxMs = FOREVER_MS, tail = '\n' } = {}) {
  const input = new PassThrough()
  const output = new PassThrough()
  const { transport, closed } = createStdioTransport(input, output, maxMs)
  const received: JSONRPCMessage[] = []
  const errors: Error[] = []
  transport.onmessage = message => received.push(message)
  transport.onerror = error => errors.push(error)
  await transport.start()
  input.end(lines.map(line => JSON.stringify({ jsonrpc: '2.0', ...line })).join('\n') + tail)
  return { transport, closed, received, errors, input, output }
}

const ping = (id: number) => ({ id, method: 'ping' })
const answer = (id: number): JSONRPCMessage => ({ jsonrpc: '2.0', id, result: {} })

test('the input ends for its reader only when every request is answered', async () => {
  const { transport, closed, output } = await connect([ping(1), ping(2)])
  let isClosed = false
  void closed.then(() => {
    isClosed = true
  })
  await transport.send(answer(2))
  await new Promise(setImmediate)
  expect(isClosed).toBe(false)
  await transport.send(answer(1))
  await closed
  expect(String(output.read()).trimEnd().split('\n')).toEqual([answer(2), answer(1)].map(one => JSON.stringify(one)))
})

test('a last line without a line feed is a message', async () => {
  const { transport, closed, received } = await connect([{ method: 'notifications/initialized' }, ping(1)], { tail: '' })
  await new Promise(setImmediate)
  expect(received).toHaveLength(2)
  await transport.send(answer(1))
  await closed
})

test('what is never answered is not waited for: notifications, cancelled requests, subscriptions', async () => {
  const cancelled = { method: 'notifications/cancelled', params: { requestId: 1 } }
  const { closed } = await connect([ping(1), cancelled, { id: 2, method: 'subscriptions/listen' }])
  await closed
})

test('an output that is closed ends the wait', async () => {
  const { closed, output } = await connect([ping(1)])
  output.destroy(new Error('EPIPE'))
  await closed
})

test('an input that fails is told of, and ends', async () => {
  const { closed, errors, input } = await connect([ping(1)], { maxMs: 1 })
  input.destroy(new Error('ECONNRESET'))
  await closed
  expect(errors.map(({ message }) => message)).toEqual(['ECONNRESET'])
})

test('the wait is bounded', async () => {
  const { closed } = await connect([ping(1)], { maxMs: 1 })
  await closed
})
