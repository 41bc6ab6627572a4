import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { type ApiTransport, createApiClient, httpTransport } from '#site/lib/api-client.ts'
import { browsePage, filePage } from './support/answers.ts'

const answering =
  (status: number, answer: unknown): ApiTransport =>
  async () => ({ status, body: JSON.stringify(answer) })

test('a question is the URL of the contract, its parameters escaped once', async () => {
  const asked: string[] = []
  const client = createApiClient(async url => {
    asked.push(url)
    return { status: 200, body: JSON.stringify(filePage()) }
  })
  await client.get('files', '/local/acme/tools@a%2Fb', { path: 'c++ & %5B#.md', offset: '3' })
  await client.get('files', 'local/acme/$&', { path: 'a' })
  expect(asked).toEqual([
    '/api/v1/files/local/acme/tools@a%2Fb?path=c%2B%2B+%26+%255B%23.md&offset=3',
    '/api/v1/files/local/acme/$&?path=a',
  ])
})

test('an answer that is known is not sent again, and an API without entity tags is known by its bytes', async () => {
  let content = 'one'
  const sent: (string | undefined)[] = []
  const tagged = createApiClient(async (_url, { 'if-none-match': known }) => {
    sent.push(known)
    const etag = `"${content}"`
    return known === etag ? { status: 304, body: '', etag } : { status: 200, body: content, etag }
  })
  const first = await tagged.getTag('mounts', 'local/a/b', {}, null)
  expect(await tagged.getTag('mounts', 'local/a/b', {}, first.tag)).toEqual(first)
  content = 'two'
  expect(await tagged.getTag('mounts', 'local/a/b', {}, first.tag)).toEqual({ status: 200, tag: '"two"' })
  expect(sent).toEqual([undefined, '"one"', '"one"'])

  const plain = createApiClient(async () => ({ status: 200, body: content }))
  const two = await plain.getTag('mounts', 'local/a/b', {}, null)
  expect(await plain.getTag('mounts', 'local/a/b', {}, two.tag)).toEqual(two)
  content = 'three'
  expect((await plain.getTag('mounts', 'local/a/b', {}, two.tag)).tag).not.toBe(two.tag)
})

test('an unchanged answer is neither sent nor parsed again, except with a credential', async () => {
  let content = 'one\n'
  const asked: { known: string | undefined; status: number }[] = []
  const client = createApiClient(async (_url, { 'if-none-match': known }) => {
    const etag = `"${content.trim()}"`
    const status = known === etag ? 304 : 200
    asked.push({ known, status })
    return { status, body: status === 304 ? '' : JSON.stringify(filePage({ content })), etag }
  })
  const read = (asking = client) => asking.get('files', 'local/acme/tools', { path: 'a.md' })
  const first = await read()
  const second = await read()
  expect(second.ok && first.ok && second.answer === first.answer).toBe(true)
  content = 'two\n'
  expect(await read()).toMatchObject({ ok: true, status: 200, answer: { content } })
  expect(await client.getTag('files', 'local/acme/tools', { path: 'a.md' }, null)).toEqual({ status: 200, tag: '"two"' })
  const ada = client.as({ cookie: 'ada' })
  await read(ada)
  await read(ada)
  expect(asked).toEqual([
    { known: undefined, status: 200 },
    { known: '"one"', status: 304 },
    { known: '"one"', status: 200 },
    { known: '"two"', status: 304 },
    { known: undefined, status: 200 },
    { known: undefined, status: 200 },
  ])
})

test('an error of the contract is a value with its status', async () => {
  const error = { code: 'file.too_large', message: 'too large', sourceUrl: 'https://a.example' }
  const result = await createApiClient(answering(413, { error })).get('files', 'local/a/b', { path: 'x' })
  expect(result).toEqual({ ok: false, status: 413, error })
})

test('an answer outside the contract is refused', async () => {
  const page = { ...browsePage(), entries: [{ kind: 'link' }] }
  await expect(createApiClient(answering(200, page)).get('browse', 'local/a/b', {})).rejects.toThrow()
  await expect(createApiClient(answering(502, 'bad gateway')).get('browse', 'local/a/b', {})).rejects.toThrow()
})

test('an API of another process is asked over HTTP', async () => {
  const asked: (string | undefined)[] = []
  const server = createServer((request, response) => {
    asked.push(request.url)
    response.end(JSON.stringify(browsePage({ path: 'docs' })))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  try {
    const { port } = server.address() as AddressInfo
    const client = createApiClient(httpTransport(`http://127.0.0.1:${port}`))
    const result = await client.get('browse', '/local/acme/tools@a%2Fb/%25', { path: 'docs' })
    expect(result).toMatchObject({ ok: true, answer: { path: 'docs' } })
    expect(asked).toEqual(['/api/v1/browse/local/acme/tools@a%2Fb/%25?path=docs'])
  } finally {
    server.close()
  }
})
