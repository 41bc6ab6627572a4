import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { EndpointName } from '#core/contract/endpoints.ts'
import { endpointUrl, type TestApp, testApp } from '#test/support/test-app.ts'

const FILES = { 'package.json': '{"license":"MIT"}\n', 'a.md': '# A\n', 'b.md': '# B\n' }
/** Not indexed, failed, ready, and not there: parameters are judged before any of it is known. */
const ADDRESSES = ['/local/acme/waiting', '/local/acme/failed', '/local/acme/ready', '/local/acme/nothing']

let app: TestApp
beforeAll(async () => {
  app = await testApp({ 'acme/waiting': FILES, 'acme/failed': FILES, 'acme/ready': FILES })
  await app.open('/local/acme/ready')
  await app.get('/api/v1/mounts/local/acme/failed')
  const lease = await app.queue.take('test')
  if (lease === null) throw new Error('no job waits')
  await app.queue.fail(lease, 'index.internal')
})
afterAll(() => app.close())

const PATH = 'parameter path is not a canonical repository path'
const CURSOR = 'parameter cursor is not a cursor; restart from the first page'
const sealed = (position: string) =>
  Buffer.concat([createHash('md5').update(position).digest(), Buffer.from(position)]).toString('base64url')

const INVALID: readonly [EndpointName, string, message: string][] = [
  ['mounts', 'x=1', 'parameter x is not known here; remove it'],
  ['browse', 'limit=0', 'parameter limit must be an integer from 1 to 200'],
  ['browse', 'limit=1e2', 'parameter limit must be an integer from 1 to 200'],
  ['browse', 'limit=5&limit=5', 'parameter limit is repeated; give it once'],
  [
    'browse',
    'limit=0&offset=1',
    'parameter limit must be an integer from 1 to 200; parameter offset is not known here; remove it',
  ],
  ['browse', 'path=/docs', PATH],
  ['browse', 'path=docs/', PATH],
  ['browse', 'path=a//b', PATH],
  ['browse', 'path=a/../b', PATH],
  ['browse', 'path=a%00', PATH],
  ['browse', `path=${'a'.repeat(1_025)}`, PATH],
  ['browse', 'path=%FF', 'the query has a malformed percent-escape or exceeds 8,192 bytes'],
  ['browse', 'cursor=x', CURSOR],
  ['browse', 'cursor=', CURSOR],
  ['browse', `cursor=${'A'.repeat(40)}`, CURSOR],
  ['browse', `cursor=${sealed('"a"')}%3D`, CURSOR],
  ['browse', `cursor=${sealed('7')}`, CURSOR],
  ['find', '', 'parameter query is missing'],
  ['find', 'query=%20', 'parameter query must be a text of 1 to 500 characters that is not blank'],
  ['find', `query=${'x'.repeat(501)}`, 'parameter query must be a text of 1 to 500 characters that is not blank'],
  ['find', 'query=x&path=./a', PATH],
  ['find', 'query=x&limit=26', 'parameter limit must be an integer from 1 to 25'],
  ['find', `query=x&cursor=${sealed('"a"')}`, CURSOR],
  ['find', `query=x&cursor=${sealed('0')}`, CURSOR],
  ['skills', '', 'parameter path is missing'],
  ['skills', 'path=', 'parameter path is empty'],
  ['skills', `path=${'a'.repeat(1_025)}`, 'parameter path exceeds 1,024 characters'],
  ['skills', `path=a/SKILL.md&cursor=${sealed('[1]')}`, CURSOR],
  ['files', '', 'parameter path is missing'],
  ['files', 'path=', 'parameter path is empty'],
  ['files', 'path=../a', PATH],
  ['files', 'path=a&limit=100001', 'parameter limit must be an integer from 1 to 100,000'],
  ['files', 'path=a&offset=-1', 'parameter offset must be an integer from 0 to 1,048,576'],
]
test.for(INVALID)('%s?%s is refused and named in the message, in every state of the index', async ([name, query, message]) => {
  for (const address of ADDRESSES) {
    const answer = await app.get(`${endpointUrl(name, address)}?${query}`)
    expect([answer.status, answer.json.error.code], address).toEqual([400, 'request.invalid'])
    expect(answer.json.error.message, address).toContain(message)
  }
})

test('the form of a genuine cursor is accepted in every state; its seal is checked once there is a snapshot', async () => {
  const { nextCursor } = (await app.get('/api/v1/browse/local/acme/ready?limit=1')).json
  expect((await app.get(`/api/v1/browse/local/acme/ready?cursor=${nextCursor}`)).status).toBe(200)
  expect((await app.get(`/api/v1/browse/local/acme/waiting?cursor=${nextCursor}`)).json.status).toBe('indexing')
  const foreign = await app.get(`/api/v1/browse/local/acme/ready?cursor=${nextCursor}&path=docs`)
  expect(foreign.json.error.message).toContain('parameter cursor does not belong to this request')
})

test('an unknown parameter is named in the message, cut to a bound', async () => {
  const { json } = await app.get(`/api/v1/featured?${'n'.repeat(5_000)}=1&b=1&c=1&d=1&e=1`)
  expect(json.error.message).toMatch(/^parameter n{39}… is not known here; remove it; parameter b/)
  expect(json.error.message.length).toBeLessThan(200)
})

test('the description of the interface takes no parameter', async () => {
  const answer = await app.get('/api/v1/openapi.json?x=1')
  expect([answer.status, answer.json.error]).toEqual([
    400,
    { code: 'request.invalid', message: 'parameter x is not known here; remove it' },
  ])
})

test('200 indexing has Retry-After, like the error of a file; other answers have none', async () => {
  for (const [name, query] of Object.entries({ mounts: '', browse: '', find: '?query=x', skills: '?path=x', files: '?path=x' })) {
    const waiting = await app.get(`/api/v1/${name}/local/acme/waiting${query}`)
    expect(waiting.headers['retry-after'], name).toBe('1')
    expect((await app.get(`/api/v1/${name}/local/acme/ready${query}`)).headers['retry-after'], name).toBeUndefined()
  }
  expect((await app.get('/api/v1/browse/local/acme/failed')).headers['retry-after']).toBeUndefined()
})

test('a hash in upper case is answered in lower case', async () => {
  const commit = app.commitOf('acme/ready')
  const { json } = await app.get(`/api/v1/mounts/local/acme/ready@${commit.toUpperCase()}`)
  expect(json).toMatchObject({ address: `/local/acme/ready@${commit}`, ref: commit, pinned: true, commit })
})
