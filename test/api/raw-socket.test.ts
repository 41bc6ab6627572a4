import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPeopleScene, type PeopleScene } from '#test/support/people-scene.ts'
import { sendRaw } from '#test/support/raw-socket.ts'
import { BASE_URL, type TestApp, testApp } from '#test/support/test-app.ts'

let app: TestApp
let port: number
beforeAll(async () => {
  app = await testApp({ 'acme/tools': { 'docs/a b.md': '# A\n', 'docs/%5Bx%5D.md': '# X\n' } })
  port = await listen(app)
})
afterAll(() => app.close())

async function listen({ app: service }: TestApp): Promise<number> {
  await service.listen({ host: '127.0.0.1', port: 0 })
  return (service.server.address() as AddressInfo).port
}

const P = '/api/v1/mounts/local/acme/tools'
const TARGETS: readonly (readonly [target: string, status: number, code: string | null])[] = [
  [P, 200, null],
  [`${P}?`, 200, null],
  [`${P}#fragment?x=1`, 200, null],
  [`http://127.0.0.1${P}`, 200, null],
  [`HTTP://other.example:99${P}`, 200, null],
  [`http://other.example?x`, 404, null],
  [`/api/v1/browse/local/acme/tools?path=docs#frag`, 200, null],
  [`${P}/..`, 400, 'address.invalid_path'],
  [`${P}/%2e%2e/%2e%2e/etc/passwd`, 400, 'address.invalid_path'],
  [`${P}/../../../../etc/passwd`, 400, 'address.invalid_path'],
  [`${P}/.%2e`, 400, 'address.invalid_path'],
  [`${P}/%252e%252e`, 200, null],
  [`${P}//docs`, 400, 'address.invalid_path'],
  [`${P}/%00`, 400, 'address.invalid_path'],
  [`${P}/a%0Ab`, 400, 'address.invalid_path'],
  [`${P}/%5c..%5c`, 400, 'address.invalid_path'],
  [`${P}/%ZZ`, 400, 'address.invalid_escape'],
  [`${P}/%C3`, 400, 'address.invalid_escape'],
  [`${P}/%C0%AE`, 400, 'address.invalid_escape'],
  [`${P}/%ED%A0%80`, 400, 'address.invalid_escape'],
  [`${P}/%c3%a4`, 200, null],
  [`${P}/\xc3\xa4`, 400, 'request.invalid'],
  [`${P}/\xff`, 400, 'request.invalid'],
  [`/api/v1/mounts/local/acme%2Ftools`, 400, 'address.incomplete'],
  [`/api/v1/mounts/local/../acme/tools`, 400, 'address.invalid_owner'],
  [`/api/v1/mounts/${'a/'.repeat(3000)}`, 400, 'address.too_long'],
  [`/api/v1/mounts/~`, 400, 'address.unknown_host'],
  [`/api/v1/mounts/..`, 400, 'address.unknown_host'],
  [`/api/v1/../v1/mounts/local/acme/tools`, 404, 'request.not_found'],
  [`//api/v1/mounts/local/acme/tools`, 404, null],
  [`/api/v1/%2e%2e/%2e%2e/etc/passwd`, 404, 'request.not_found'],
  ['/api/v1/%ZZ', 400, 'request.invalid'],
  ['/api/v1/\xff', 400, 'request.invalid'],
  [`/api/v1/files/local/acme/tools?path=${'%F0%9F%8E%BB'.repeat(800)}`, 400, 'request.invalid'],
  ['*', 404, null],
]

test.for(TARGETS)('%j answers %i %s', async ([target, status, code]) => {
  const answer = await send(`GET ${target} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`)
  expect(answer.status).toBe(status)
  if (code !== null) expect(answer.code).toBe(code)
  if (target.startsWith('/api/v1/')) expect(answer.head).toMatch(/cache-control: no-store/i)
})

test.for(['PROPFIND', 'TRACE', 'LINK', 'QUERY'])('the unknown method %s is 405 on a route and 404 elsewhere', async method => {
  const ask = (target: string) => send(`${method} ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
  expect(await ask(P)).toMatchObject({
    status: 405,
    code: 'request.method_not_allowed',
    head: expect.stringMatching(/allow: GET, HEAD, OPTIONS/i),
  })
  expect(await ask('/api/v1/nothing')).toMatchObject({ status: 404, code: 'request.not_found' })
})

test('a body of a GET is passed over, and the next request on the connection is the one that was sent', async () => {
  const inner = `GET /api/v1/nothing HTTP/1.1\r\nhost: x\r\n\r\n`
  const answer = await send(
    `GET ${P} HTTP/1.1\r\nhost: x\r\ncontent-length: ${inner.length}\r\n\r\n${inner}GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`,
  )
  expect(answer.text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200'])
})

test('no target, however strange, is ever our fault', async () => {
  const byte = fc.integer({ min: 0x21, max: 0xff }).map(code => String.fromCharCode(code))
  const part = fc.oneof(
    byte,
    fc.constantFrom(
      '/',
      '//',
      '..',
      '.',
      '%',
      '%2',
      '%2e',
      '%00',
      '%ZZ',
      '%C3%A4',
      '?',
      '&',
      '=',
      '#',
      '@',
      '~',
      ';',
      'path=',
      'cursor=',
      'limit=',
    ),
    fc.constantFrom(
      'api',
      'v1',
      'mounts',
      'browse',
      'find',
      'skills',
      'files',
      'git',
      'local',
      'acme',
      'tools',
      'raw',
      'http://',
    ),
  )
  const prefix = fc.constantFrom('/', P, `${P}/`, '/api/v1/', '/api/v1/files/local/acme/tools?', '/git/local/acme/tools/raw/', '')
  await fc.assert(
    fc.asyncProperty(prefix, fc.array(part, { maxLength: 12 }), async (start, parts) => {
      const answer = await send(`GET ${start}${parts.join('')} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
      const documented = answer.status === 503 && answer.code?.startsWith('index.')
      expect(answer.status < 500 || documented, answer.text).toBe(true)
    }),
    { numRuns: 400 },
  )
})

const send = (bytes: string) => sendRaw(port, bytes)

const FORM = 'application/x-www-form-urlencoded'
const SIGNED = `x-github-event: ping\r\nx-hub-signature-256: sha256=${'0'.repeat(64)}\r\n`

describe('with sign-in', () => {
  let scene: PeopleScene
  let scenePort: number
  let signedIn: string
  beforeAll(async () => {
    scene = await openPeopleScene()
    scenePort = await listen(scene)
    const cookies = [...(await scene.signIn(scene.ada)).cookies].map(([name, value]) => `${name}=${value}`)
    signedIn = `cookie: ${cookies.join('; ')}\r\norigin: ${BASE_URL}\r\nsec-fetch-site: same-origin\r\n`
  })
  afterAll(() => scene.close())

  // Every request passes the checks before its body, so the answer is that of an empty body.
  test.for([
    ['POST', '/hooks/github', 'application/json', (): string => SIGNED, 'hook.forged'],
    ['POST', '/mcp', 'application/json', (): string => '', undefined],
    ['POST', '/oauth/token', FORM, (): string => '', undefined],
    ['DELETE', '/api/v1/me/tokens/x', 'application/json', (): string => signedIn, 'token.not_found'],
  ] as const)('%s %s that names a content type and has no body is answered', async ([method, path, type, headers, code]) => {
    const head = `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\ncontent-type: ${type}\r\n${headers()}\r\n`
    const answer = await sendRaw(scenePort, head)
    expect([Math.floor(answer.status / 100), answer.code]).toEqual([4, code])
  })
})
