import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ErrorAnswer } from '#core/contract/shared.ts'
import { IMPATIENT_MS } from '#test/support/patient.ts'
import { openRaw, type RawAnswer, sendRaw } from '#test/support/raw-socket.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { until } from '#test/support/until.ts'

const P = '/api/v1/mounts/local/acme/tools'
const END = 'connection: close\r\n\r\n'

let app: TestApp
let port: number
beforeAll(async () => {
  app = await testApp({ 'acme/tools': { 'a.md': '# A\n' } }, { clients: { lingerMs: IMPATIENT_MS } })
  port = await listen(app)
})
afterAll(() => app.close())

async function listen({ app }: TestApp): Promise<number> {
  await app.listen({ host: '127.0.0.1', port: 0 })
  return (app.server.address() as AddressInfo).port
}

/** A refusal by Node's parser has the body and the headers of the interface, too. */
function expectOfInterface({ headers, body, text }: RawAnswer): void {
  expect(headers, text).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'access-control-allow-origin': '*',
    'access-control-expose-headers': 'x-request-id, retry-after, etag',
    'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    'content-length': String(Buffer.byteLength(body, 'latin1')),
    connection: 'close',
  })
  ErrorAnswer.parse(JSON.parse(body))
}

test.for([
  ['a malformed byte', `GET ${P}\0 HTTP/1.1\r\nhost: x\r\n\r\n`, 400, 'request.invalid'],
  ['a space in the target', `GET ${P}/a b HTTP/1.1\r\nhost: x\r\n\r\n`, 400, 'request.invalid'],
  ['noise', '\x16\x03\x01\x02\x00\x01\x00', 400, 'request.invalid'],
  ['two lengths', `GET ${P} HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n`, 400, 'request.invalid'],
  ['a bad chunk', `GET ${P} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nZZ\r\n`, 400, 'request.invalid'],
  ['an address of 17 kB', `GET ${P}/${'a'.repeat(17_000)} HTTP/1.1\r\nhost: x\r\n${END}`, 400, 'address.too_long'],
  ['an address of 60 kB', `GET ${P}/${'a'.repeat(60_000)} HTTP/1.1\r\nhost: x\r\n${END}`, 400, 'address.too_long'],
  ['an address of 1 MB', `GET ${P}/${'a'.repeat(1_000_000)} HTTP/1.1\r\nhost: x\r\n${END}`, 400, 'address.too_long'],
  ['a query of 9 kB', `GET ${P}?x=${'a'.repeat(9_000)} HTTP/1.1\r\nhost: x\r\n${END}`, 400, 'request.invalid'],
  ['a query of 33 kB', `GET ${P}?x=${'a'.repeat(33_000)} HTTP/1.1\r\nhost: x\r\n${END}`, 400, 'request.invalid'],
  [
    'an address of 60 kB with a query',
    `GET ${P}/${'a'.repeat(60_000)}?x=y HTTP/1.1\r\nhost: x\r\n${END}`,
    400,
    'address.too_long',
  ],
  ['headers of 35 kB', `GET ${P} HTTP/1.1\r\nhost: x\r\n${'x: y\r\n'.repeat(6_000)}`, 431, 'request.headers_too_large'],
  ['no host', `GET ${P} HTTP/1.1\r\n${END}`, 400, 'request.invalid'],
  ['two hosts', `GET ${P} HTTP/1.1\r\nhost: x\r\nHost: y\r\n${END}`, 400, 'request.invalid'],
  ['a malformed host', `GET ${P} HTTP/1.1\r\nhost: x@y\r\n${END}`, 400, 'request.invalid'],
  ['an unknown method', `FETCH ${P} HTTP/1.1\r\nhost: x\r\n\r\n`, 405, 'request.method_not_allowed'],
  ['an unknown method nowhere', `FETCH /api/v1/nothing HTTP/1.1\r\nhost: x\r\n\r\n`, 404, 'request.not_found'],
  ['a tunnel', 'CONNECT example.org:443 HTTP/1.1\r\nhost: example.org:443\r\n\r\n', 405, 'request.method_not_allowed'],
] as const)('%s is refused as every request of the interface is', async ([, bytes, status, code]) => {
  const answer = await sendRaw(port, bytes)
  expect([answer.status, answer.code]).toEqual([status, code])
  expectOfInterface(answer)
  if (status === 405) expect(answer.headers.allow).toBe('GET, HEAD, OPTIONS')
  const after = await sendRaw(port, `GET /healthz HTTP/1.1\r\nhost: x\r\n${END}`)
  expect(after.status).toBe(200)
})

test.for([
  ['HTTP/1.0 without a host', `GET ${P} HTTP/1.0\r\n\r\n`],
  ['an empty host', `GET ${P} HTTP/1.1\r\nhost:\r\n${END}`],
  ['an IPv6 host', `GET ${P} HTTP/1.1\r\nhost: [::1]:8080\r\n${END}`],
  ['an expectation that is not known', `GET ${P} HTTP/1.1\r\nhost: x\r\nexpect: wonders\r\n${END}`],
  ['an upgrade that is not offered', `GET ${P} HTTP/1.1\r\nhost: x\r\nupgrade: h2c\r\nconnection: upgrade, close\r\n\r\n`],
] as const)('%s is answered', async ([, bytes]) => {
  expect((await sendRaw(port, bytes)).status).toBe(200)
})

test('a request that does not arrive in time is 408', async () => {
  const clients = { headersMs: IMPATIENT_MS, requestMs: IMPATIENT_MS, checkEveryMs: 20, lingerMs: IMPATIENT_MS }
  const impatient = await testApp({ 'acme/tools': { 'a.md': '# A\n' } }, { clients, github: { withToken: true } })
  try {
    const at = await listen(impatient)
    const signature = `x-hub-signature-256: sha256=${'0'.repeat(64)}`
    for (const begun of [
      '',
      `GET ${P}`,
      `GET ${P} HTTP/1.1\r\nhost: x\r\nx: `,
      `POST /hooks/github HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${signature}\r\ncontent-length: 9\r\n\r\n{`,
    ]) {
      const answer = await sendRaw(at, begun)
      expect([answer.status, answer.code], begun).toEqual([408, 'request.timeout'])
      expectOfInterface(answer)
    }
  } finally {
    await impatient.close()
  }
})

test('a refused connection is answered once, even if the client sends more, and its descriptor is released', async () => {
  const connection = openRaw(port)
  connection.socket.write('noise\r\n\r\n')
  await connection.closed
  connection.socket.write('more noise\r\n\r\n')
  await until(async () => (await openConnections(app)) === 0)
  expect(connection.answer().text.match(/HTTP\/1\.1 /g)).toHaveLength(1)
  connection.socket.destroy()
})

function openConnections({ app }: TestApp): Promise<number> {
  return new Promise((resolve, reject) => {
    app.server.getConnections((error, count) => (error ? reject(error) : resolve(count)))
  })
}
