import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openRaw, sendRaw } from '#test/support/raw-socket.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { until } from '#test/support/until.ts'
import { legacy, message, type Sent } from './scene.ts'

const ADDRESS = '/local/acme/tools'

let app: TestApp
let port: number
beforeAll(async () => {
  app = await testApp({ 'acme/tools': { 'a.md': '# A\n' } })
  await app.open(ADDRESS)
  await app.app.listen({ host: '127.0.0.1', port: 0 })
  port = (app.app.server.address() as AddressInfo).port
})
afterAll(() => app.close())

const CALL = message('tools/call', { name: 'browse_repo', arguments: {} })
const REQUESTS: readonly (readonly [what: string, sent: Sent])[] = [
  ['a call', CALL],
  ['a call of an older revision', legacy(CALL)],
  ['a list of tools', message('tools/list')],
  ['a refused message', { ...CALL, payload: '{' }],
]

function bytesOf({ headers, payload }: Sent, connection: string, version = '1.1'): string {
  const lines = Object.entries({
    host: '127.0.0.1',
    ...headers,
    'content-length': String(Buffer.byteLength(payload)),
    connection,
  })
  return `POST /mcp${ADDRESS} HTTP/${version}\r\n${lines.map(([name, value]) => `${name}: ${value}`).join('\r\n')}\r\n\r\n${payload}`
}

test.each(REQUESTS)('%s whose client closes the connection is answered, and the connection closed', async (_, sent) => {
  for (const version of ['1.1', '1.0']) {
    const { status, headers } = await sendRaw(port, bytesOf(sent, 'close', version))
    expect([status === 200 || status === 400, headers.connection]).toEqual([true, 'close'])
    expect(headers['keep-alive']).toBeUndefined()
  }
})

test.each(REQUESTS)('%s whose client keeps the connection leaves it open', async (_, sent) => {
  const connection = openRaw(port)
  connection.socket.write(bytesOf(sent, 'keep-alive'))
  await until(() => connection.answer().status !== 0 && connection.answer().text.includes('\r\n\r\n'))
  expect(connection.answer().headers.connection).not.toBe('close')
  expect(connection.socket.readableEnded).toBe(false)
  connection.socket.destroy()
})
