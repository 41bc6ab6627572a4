import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Snapshot } from '#api/snapshot/snapshot-reader.ts'
import { BASE_URL, type TestApp, testApp } from '#test/support/test-app.ts'

/* ETags of answers about an address, and requests that name the answer which the client has. */

const ADDRESS = '/local/acme/tools'
const FILES = {
  'package.json': '{"license":"MIT"}\n',
  'SKILLSET.md': '---\nname: Tools\n---\nBe kind.\n',
  'one/SKILL.md': '---\nname: one\ndescription: The first.\n---\nDo it.\n',
  'two/SKILL.md': '---\nname: two\ndescription: The second.\n---\nDo that.\n',
  'docs/guide.md': '# Guide\n\nHow to do it.\n',
}
const READY = [
  `/api/v1/mounts${ADDRESS}`,
  `/api/v1/browse${ADDRESS}?path=docs`,
  `/api/v1/find${ADDRESS}?query=first`,
  `/api/v1/skills${ADDRESS}?path=one/SKILL.md`,
  `/api/v1/files${ADDRESS}?path=docs/guide.md`,
  `/api/v1/changes${ADDRESS}?from=main`,
  `/api/v1/changes${ADDRESS}?from=main&skill=one/SKILL.md`,
]

let app: TestApp
/** Reads of snapshots, cached or not. */
let reads = 0
beforeAll(async () => {
  const counted = (snapshot: Snapshot | null) =>
    snapshot &&
    new Proxy(snapshot, {
      get(of, name) {
        if (['get', 'range', 'record', 'derived', 'memo', 'section'].includes(String(name))) reads++
        const value: unknown = Reflect.get(of, name)
        return typeof value === 'function' ? value.bind(of) : value
      },
    })
  app = await testApp(
    { 'acme/tools': FILES, 'acme/other': FILES },
    {
      deps: deps => ({
        ...deps,
        snapshots: {
          ...deps.snapshots,
          open: async (repository, commit) => counted(await deps.snapshots.open(repository, commit)),
        },
      }),
    },
  )
  await app.open(ADDRESS)
})
afterAll(() => app.close())

const send = (url: string, ifNoneMatch?: string, method: 'GET' | 'HEAD' = 'GET') =>
  app.app.inject({ method, url, headers: ifNoneMatch === undefined ? {} : { 'if-none-match': ifNoneMatch } })

describe.each(READY)('%s', url => {
  test('has a strong tag, by HEAD too', async () => {
    const [read, asked] = [await send(url), await send(url, undefined, 'HEAD')]
    expect(read.headers.etag).toMatch(/^"[\w-]{27}"$/)
    expect([asked.statusCode, asked.headers.etag, asked.body]).toEqual([200, read.headers.etag, ''])
    expect(asked.headers['content-length']).toBe(String(Buffer.byteLength(read.body)))
  })

  test.each(['GET', 'HEAD'] as const)('%s is 304 for a client that has the answer', async method => {
    const { headers: whole } = await send(url)
    const [etag, length] = [whole.etag as string, whole['content-length']]
    for (const listed of [etag, `W/${etag}`, `"x", ${etag}`, '*', ` ${etag} `]) {
      const answer = await send(url, listed, method)
      expect([answer.statusCode, answer.body, answer.headers.etag], listed).toEqual([304, '', etag])
      expect(answer.headers).toMatchObject({
        'cache-control': 'no-store',
        'access-control-allow-origin': '*',
        'access-control-expose-headers': expect.stringMatching(/\betag\b/),
        'x-request-id': expect.any(String),
      })
      expect(answer.headers).not.toHaveProperty('content-type')
      expect(answer.headers['content-length']).toBe(method === 'HEAD' ? length : undefined)
    }
  })

  test('is sent whole to a client that has another one', async () => {
    for (const listed of ['"x"', 'x', '""', ',', '"*"']) {
      const answer = await send(url, listed)
      expect([answer.statusCode, answer.json().commit], listed).toEqual([200, expect.any(String)])
    }
  })
})

test('equal answers have equal tags, and different answers have different tags', async () => {
  const tags = new Map<string, string>()
  const urls = [
    ...READY,
    `/api/v1/browse${ADDRESS}`,
    `/api/v1/browse${ADDRESS}?limit=50`,
    `/api/v1/browse${ADDRESS}?limit=1`,
    `/api/v1/find${ADDRESS}?query=second`,
    `/api/v1/skills${ADDRESS}?path=two/SKILL.md`,
    `/api/v1/files${ADDRESS}?path=docs/guide.md&limit=3`,
    `/api/v1/files${ADDRESS}?path=docs/guide.md&offset=3`,
  ]
  for (const url of [...urls, ...urls]) {
    const { statusCode, body, headers } = await send(url)
    expect(statusCode, url).toBe(200)
    expect(tags.get(body) ?? headers.etag, url).toBe(headers.etag)
    tags.set(body, headers.etag as string)
  }
  expect(new Set(tags.values()).size).toBe(tags.size)
})

test('an answer that was given before is confirmed without reading the store', async () => {
  for (const url of READY.slice(1)) {
    const etag = (await send(url)).headers.etag as string
    const before = reads
    expect((await send(url)).statusCode).toBe(200)
    expect(reads, url).toBeGreaterThan(before)
    reads = 0
    expect([(await send(url, etag)).statusCode, reads], url).toEqual([304, 0])
  }
})

test('the tag of a mount changes with the description at the host', async () => {
  const url = `/api/v1/mounts${ADDRESS}`
  const before = (await send(url)).headers.etag as string
  await app.open(`${ADDRESS}@main`)
  const named = await send(`/api/v1/mounts${ADDRESS}@main`, before)
  expect([named.statusCode, named.json().ref]).toEqual([200, 'main'])
})

test('states and errors have no tag, whatever tag the client sends', async () => {
  const state = await send('/api/v1/mounts/local/acme/other', '*')
  expect([state.statusCode, state.json().index.status, state.headers.etag]).toEqual([200, 'indexing', undefined])
  for (const [url, status] of [
    ['/api/v1/browse/local/acme/other', 200],
    ['/api/v1/files/local/acme/other?path=docs/guide.md', 503],
    [`/api/v1/browse${ADDRESS}?path=nowhere`, 404],
    [`/api/v1/skills${ADDRESS}?path=nowhere`, 404],
    [`/api/v1/browse${ADDRESS}?limit=0`, 400],
    ['/api/v1/mounts/local/acme/none', 404],
  ] as const) {
    const answer = await send(url, '*')
    expect([answer.statusCode, answer.headers.etag], url).toEqual([status, undefined])
  }
})

test('an answer that is not about an address has no tag', async () => {
  for (const url of ['/api/v1/featured', '/api/v1/openapi.json']) expect((await send(url, '*')).statusCode).toBe(200)
})

test('pages of other origins may send If-None-Match and read the tag', async () => {
  const preflight = await app.app.inject({
    method: 'OPTIONS',
    url: READY[0] as string,
    headers: {
      origin: 'https://other.example',
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'if-none-match',
    },
  })
  expect(preflight.statusCode).toBe(204)
  expect(preflight.headers['access-control-allow-headers']).toMatch(/if-none-match/i)
})

test('processes with the same keys give the same tag over any store', async () => {
  const keys = [{ kid: 'one', key: 'k'.repeat(43) }]
  const apps = await Promise.all([1, 2].map(() => testApp({ 'acme/tools': FILES }, { keys, baseUrl: BASE_URL })))
  try {
    const tags = await Promise.all(
      apps.map(async one => {
        await one.open(ADDRESS)
        return Promise.all(READY.slice(1).map(async url => (await one.app.inject(url)).headers.etag))
      }),
    )
    expect(tags[0]).toEqual(tags[1])
    expect(tags[0]).not.toContain(undefined)
  } finally {
    await Promise.all(apps.map(one => one.close()))
  }
})
