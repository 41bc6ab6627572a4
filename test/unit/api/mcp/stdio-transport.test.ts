import { PassThrough } from 'node:stream'
import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import { describe, expect, test } from 'vitest'
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

test('the end does not wait for notifications, cancelled requests and subscriptions', async () => {
  const cancelled = { method: 'notifications/cancelled', params: { requestId: 1 } }
  const { closed } = await connect([ping(1), cancelled, { id: 2, method: 'subscriptions/listen' }])
  await closed
})

test('an output that is closed ends the wait', async () => {
  const { closed, output } = await connect([ping(1)])
  output.destroy(new Error('EPIPE'))
  await closed
})

test('an input that fails is reported, and ends', async () => {
  const { closed, errors, input } = await connect([ping(1)], { maxMs: 1 })
  input.destroy(new Error('ECONNRESET'))
  await closed
  expect(errors.map(({ message }) => message)).toEqual(['ECONNRESET'])
})

test('the wait is bounded', async () => {
  const { closed } = await connect([ping(1)], { maxMs: 1 })
  await closed
})

describe('a line that is no request', () => {
  const refused = (id: unknown, code: number) => expect.objectContaining({ id, error: expect.objectContaining({ code }) })

  test.each<[what: string, line: string, answers: unknown[]]>([
    ['a request without the member jsonrpc', '{"id":4,"method":"ping"}', [refused(4, -32600)]],
    ['a request of another version', '{"jsonrpc":"1.0","id":"a","method":"ping"}', [refused('a', -32600)]],
    ['a request whose parameters are a list', '{"jsonrpc":"2.0","id":5,"method":"tools/list","params":[]}', [refused(5, -32600)]],
    ['a request without a method', '{"jsonrpc":"2.0","id":6}', [refused(6, -32600)]],
    ['a request whose id is null', '{"jsonrpc":"2.0","id":null,"method":"ping"}', [refused(null, -32600)]],
    ['a request whose id is a fraction', '{"jsonrpc":"2.0","id":1.5,"method":"ping"}', [refused(1.5, -32600)]],
    [
      'a list of requests',
      '[{"jsonrpc":"2.0","id":7,"method":"ping"},{"jsonrpc":"2.0","method":"a"},{"jsonrpc":"2.0","id":8,"method":"ping"}]',
      [refused(7, -32600), refused(8, -32600)],
    ],
    ['an empty list', '[]', [refused(null, -32600)]],
    ['a number', '7', [refused(null, -32600)]],
    ['no JSON', '{"id":9', [refused(null, -32700)]],
    ['a call of no tool', '{"jsonrpc":"2.0","id":10,"method":"tools/call"}', [refused(10, -32602)]],
    ['more than a line may have', `{"id":11,"x":"${'x'.repeat(1024 * 1024)}"}`, [refused(null, -32000)]],
    ['a notification that is wrong', '{"method":"notifications/initialized"}', []],
    ['a call without an id whose parameters are a list', '{"jsonrpc":"2.0","method":"tools/call","params":[]}', []],
    ['an answer that is wrong', '{"id":12,"result":{}}', []],
    ['nothing', ' ', []],
  ])('%s is refused with its id, and the next one is read', async (_, line, answers) => {
    const input = new PassThrough()
    const output = new PassThrough()
    const { transport, closed } = createStdioTransport(input, output)
    const received: JSONRPCMessage[] = []
    transport.onmessage = message => received.push(message)
    await transport.start()
    input.write(line.slice(0, 3))
    input.end(`${line.slice(3)}\n${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`)
    await closed
    const sent = String(output.read() ?? '')
      .split('\n')
      .filter(text => text !== '')
    expect(sent.map(text => JSON.parse(text))).toEqual(answers)
    expect(received).toMatchObject([{ method: 'notifications/initialized' }])
  })

  test.each([undefined, {}, { name: 1 }, { name: 'browse_repo', arguments: [] }])(
    'a call without an id and with the parameters %j is a notification, which gets no answer',
    async params => {
      const { closed, received, output } = await connect([{ method: 'tools/call', params }])
      await closed
      expect([received.length, output.read()]).toEqual([1, null])
    },
  )

  test('parameters that are null are absent', async () => {
    const { received, transport, closed } = await connect([{ id: 1, method: 'tools/list', params: null }])
    await new Promise(setImmediate)
    expect(received).toEqual([{ jsonrpc: '2.0', id: 1, method: 'tools/list' }])
    await transport.send(answer(1))
    await closed
  })
})
