import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { message } from '#test/mcp/scene.ts'
import { openPeopleScene, type PeopleScene } from '#test/support/people-scene.ts'

const MCP = '/mcp/local/acme/tools'
const { payload, headers } = message('tools/list')

let scene: PeopleScene
beforeAll(async () => {
  scene = await openPeopleScene({})
})
afterAll(() => scene.close())

describe('a body that is compressed', () => {
  test.each([
    ['gzip', gzipSync(payload)],
    ['br', brotliCompressSync(payload)],
    ['deflate', deflateSync(payload)],
    ['identity, GZIP', gzipSync(payload)],
  ])('by %s is 415 and names the encoding that is read, not malformed', async (encoding, bytes) => {
    const answer = await scene.app.inject({
      method: 'POST',
      url: MCP,
      headers: { ...headers, 'content-encoding': encoding },
      payload: bytes,
    })
    expect([answer.statusCode, answer.headers['accept-encoding']]).toEqual([415, 'identity'])
    expect(answer.json()).toMatchObject({ jsonrpc: '2.0', error: { data: { code: 'request.encoded' } } })
  })

  test.each(['identity', 'Identity', ''])('by %j is not', async encoding => {
    const answer = await scene.app.inject({
      method: 'POST',
      url: MCP,
      headers: { ...headers, 'content-encoding': encoding },
      payload,
    })
    expect(answer.json().error?.data?.code).not.toBe('request.encoded')
  })

  test.each(['/oauth/token', '/oauth/register'])('is 415 at %s, too', async url => {
    const answer = await scene.app.inject({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
      payload: gzipSync('{}'),
    })
    expect([answer.statusCode, answer.headers['accept-encoding']]).toEqual([415, 'identity'])
  })

  test('does not change the order of refusals: a page of another origin is refused first', async () => {
    const answer = await scene.app.inject({
      method: 'POST',
      url: '/api/v1/me/tokens',
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip', origin: 'https://elsewhere.example' },
      payload: gzipSync('{}'),
    })
    expect([answer.statusCode, answer.json().error.code]).toEqual([403, 'auth.forbidden_origin'])
  })

  test('and empty counts as no body: reading routes ignore the header', async () => {
    expect((await scene.app.inject({ url: '/api/v1/featured', headers: { 'content-encoding': 'gzip' } })).statusCode).toBe(200)
  })
})
