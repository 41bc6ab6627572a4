import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readOperatorFolder } from '#api/operator/read-folder.ts'
import { mp4Clip } from '#test/support/clips.ts'
import { writeFolder } from '#test/support/operator-folder.ts'
import { plainPicture } from '#test/support/pictures.ts'
import { BASE_URL, type TestApp, testApp } from '#test/support/test-app.ts'
import { getPicture, type Picture } from './support/pictures.ts'

/* What is answered to everyone and kept by caches: each route in each state, with all of its headers. */

const SKILL = '---\nname: a\ndescription: A.\nlicense: MIT\n---\nDo it.\n'
const OPEN = { 'package.json': '{"license":"MIT"}\n', 'a/SKILL.md': SKILL, 'SKILLSET.md': '---\nname: N\nimage: p.png\n---\n' }
const FILES = { ...OPEN, 'p.png': await plainPicture('png', 40, 20) }
const SHOWN_BY =
  'published: 2026-11-24T10:00:00Z\nmedia: {poster: p.jpg, clip: c.mp4}\ntexts: {en: {title: T, body: B, action: Go}}\n'
const OPERATOR = {
  'featured.yaml': '- address: /local/acme/featured\n  image: cover.webp\n',
  'cover.webp': await plainPicture('webp', 900, 300),
  'showcase/one.yaml': `address: /local/acme/ready\nposition: 1\n${SHOWN_BY}`,
  'showcase/p.jpg': await plainPicture('jpeg', 320, 180),
  'showcase/c.mp4': mp4Clip(),
  'legal/terms.en.md': '---\ntitle: Terms\nrevised: 2026-01-02\n---\nWords.\n',
}

const SVG = 'image/svg+xml; charset=utf-8'
const JSON_TYPE = 'application/json; charset=utf-8'
const HASH = /^"[0-9a-f]{32}"$/
const ACCOUNT = /^"gh-\d+-128-[0-9a-f]{16}"$/
const MEDIUM = /^"[0-9a-f]{64}\.(?:jpg|mp4)"$/
const MINUTE = 'public, max-age=60'
const HOUR = 'public, max-age=3600'
const DAY = 'public, max-age=86400'
const IMMUTABLE = 'public, max-age=31536000, immutable'
const BY_LANGUAGE = 'accept-language'

type Shown = readonly [state: string, url: string, type: string, cache: string, etag: RegExp, vary?: string]

const SHOWN: readonly Shown[] = [
  ['a card, ready', '/social/local/acme/ready', 'image/png', HOUR, HASH, BY_LANGUAGE],
  ['a card, ready, in a language', '/social/local/acme/ready?lang=de', 'image/png', HOUR, HASH],
  ['a card, ready, in what is no language', '/social/local/acme/ready?lang=', 'image/png', HOUR, HASH],
  ['a card, ready, of a skill', '/social/local/acme/ready?skill=a/SKILL.md', 'image/png', HOUR, HASH, BY_LANGUAGE],
  ['a card, indexing', '/social/local/acme/later', 'image/png', HOUR, HASH, BY_LANGUAGE],
  ['a card, indexing, in a language', '/social/local/acme/later?lang=de', 'image/png', HOUR, HASH],
  ['a card, unavailable', '/social/local/acme/failed', 'image/png', HOUR, HASH, BY_LANGUAGE],
  ['a card of an owner with a picture', '/social/gh/acme/ready', 'image/png', HOUR, HASH, BY_LANGUAGE],
  ['a card of an owner without a picture', '/social/gh/bare/ready', 'image/png', HOUR, HASH, BY_LANGUAGE],
  ['the card of the documentation', '/social/docs', 'image/png', HOUR, HASH, BY_LANGUAGE],
  ['the card of the documentation, in a language', '/social/docs?lang=de', 'image/png', HOUR, HASH],
  ['a card of a page of the documentation', '/social/docs/rules', 'image/png', HOUR, HASH, BY_LANGUAGE],
  ['a badge, ready', '/badge/local/acme/ready', SVG, HOUR, HASH],
  ['a badge, ready, at a ref and a folder', '/badge/local/acme/ready@main/a', SVG, HOUR, HASH],
  ['a badge, ready, of GitHub', '/badge/gh/acme/ready', SVG, HOUR, HASH],
  ['a badge, indexing', '/badge/local/acme/later', SVG, MINUTE, HASH],
  ['a badge, unavailable', '/badge/local/acme/failed', SVG, MINUTE, HASH],
  ['an icon', '/icon/gh/acme/ready', 'image/png', DAY, ACCOUNT],
  ['an icon, indexing', '/icon/gh/acme/later', 'image/png', DAY, ACCOUNT],
  ['a picture, ready', '/picture/local/acme/ready', 'image/png', HOUR, HASH],
  ['a picture, ready, of GitHub', '/picture/gh/acme/ready', 'image/png', HOUR, HASH],
  ['a picture, of the operator, indexing', '/picture/local/acme/featured', 'image/webp', HOUR, HASH],
  ['the picture of an account', '/picture/owners/gh/acme', 'image/png', HOUR, ACCOUNT],
  ['a poster', '/media/POSTER', 'image/jpeg', IMMUTABLE, MEDIUM],
  ['a clip', '/media/CLIP', 'video/mp4', IMMUTABLE, MEDIUM],
]

/** For every route of pictures: addresses of each state that shows nothing. */
const NOWHERE: readonly (readonly [state: string, address: string])[] = [
  ['missing', '/gh/acme/nothing'],
  ['missing, local', '/local/acme/nothing'],
  ['of a missing ref', '/local/acme/ready@nothing'],
  ['of a missing folder', '/local/acme/ready/nothing'],
  ['private, not seen', '/gh/acme/hidden'],
  ['blocked by the host', '/gh/acme/blocked'],
  ['not served by this deployment', '/local/acme/denied'],
  ['no address: nothing', '/'],
  ['no address: a host', '/local'],
  ['no address: an owner', '/local/acme'],
  ['no address: an unknown host', '/nowhere/acme/ready'],
  ['no address: an empty ref', '/local/acme/ready@'],
  ['no address: a bad escape', '/gh/a%zz/b'],
  ['no address: a parent folder', '/local/acme/ready/%2e%2e'],
]
const PREFIXES = ['/social', '/badge', '/icon', '/picture'] as const

/** Of one route, what is not there beside what is. */
const NO_PICTURE: readonly (readonly [state: string, url: string])[] = [
  ['the icon of a local repository', '/icon/local/acme/ready'],
  ['the icon of an owner without a picture', '/icon/gh/bare/ready'],
  ['a picture while indexing', '/picture/local/acme/later'],
  ['a picture of what cannot be indexed', '/picture/local/acme/failed'],
  ['a picture that no manifest names', '/picture/local/acme/plain'],
  ['the picture of an account without one', '/picture/owners/gh/bare'],
  ['the picture of a missing account', '/picture/owners/gh/nobody'],
  ['the picture of no account', '/picture/owners'],
  ['the picture of an account of local', '/picture/owners/local/acme'],
  ['the picture of an account and more', '/picture/owners/gh/acme/ready'],
  ['the picture of an account with a bad escape', '/picture/owners/gh/%zz'],
  ['a card of a missing skill', '/social/local/acme/ready?skill=b/SKILL.md'],
  ['a card of a skill by its folder', '/social/local/acme/ready?skill=a'],
  ['a card of a skill outside of the folder', '/social/local/acme/two/a?skill=b/SKILL.md'],
  ['a card of a missing page of the documentation', '/social/docs/nothing'],
  ['a card of the documentation with a slash', '/social/docs/'],
  ['a card of a page and more', '/social/docs/rules/more'],
  ['a card of the Markdown of a page', '/social/docs/rules.md'],
  ['a medium that is not there', `/media/${'0'.repeat(64)}.png`],
  ['a medium without its extension', '/media/POSTER-HASH'],
  ['a medium with another extension', '/media/POSTER-HASH.svg'],
  ['a medium in a folder', '/media/x/POSTER'],
  ['a medium with a slash', '/media/POSTER/'],
  ['a medium with an escape', '/media/%2e%2e%2fPOSTER'],
  ['no medium', '/media/'],
]

/** The endpoints of what the operator wrote. */
const WRITTEN: readonly (readonly [state: string, url: string, status: 200 | 404])[] = [
  ['the showcase', '/api/v1/showcase', 200],
  ['a legal page', '/api/v1/legal/terms', 200],
  ['a legal page that is unwritten', '/api/v1/legal/privacy', 404],
  ['a legal page of another kind', '/api/v1/legal/imprint', 404],
  ['a legal page of no kind', '/api/v1/legal/', 404],
]

/** Headers that every answer of the service has. */
const EVERYWHERE = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'strict-origin-when-cross-origin',
  'strict-transport-security': 'max-age=31536000',
}
/** Pages of any origin may embed it, and nothing in it runs. */
const EMBEDDED = {
  ...EVERYWHERE,
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'cross-origin',
}
const PLAIN = { ...EMBEDDED, 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }
const API = {
  ...EVERYWHERE,
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'content-type': JSON_TYPE,
  'cache-control': 'no-store',
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'x-request-id, retry-after, etag',
}

/** Who asks makes no difference. */
const ASKERS: readonly Record<string, string>[] = [
  { cookie: '__Host-session=mgs_a' },
  { cookie: '__Host-session=mgs_b; other=1' },
  { authorization: 'Bearer mgt_x', cookie: 'b=c' },
  { origin: 'https://other.example', referer: 'https://other.example/page', 'sec-fetch-site': 'cross-site' },
]

let at: TestApp
/** Names of media in the table, and their names in the service. */
let names: [RegExp, string][] = []
const spelled = (url: string) => names.reduce((text, [name, value]) => text.replace(name, value), url)

/** All headers but those that differ between two equal requests. */
function headersOf({ headers: { 'x-request-id': id, date: _, connection: __, ...rest } }: Picture) {
  expect(id).toMatch(/^[0-9a-f-]{36}$/)
  return rest
}
const get = (url: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') =>
  getPicture(at, spelled(url), headers, method)

beforeAll(async () => {
  const folder = await writeFolder(OPERATOR)
  const operator = await readOperatorFolder(folder, BASE_URL)
  await rm(folder, { recursive: true })
  const plain = { 'package.json': OPEN['package.json'], 'a/SKILL.md': SKILL }
  const own = ['ready', 'later', 'failed', 'featured', 'denied', 'hidden', 'blocked'].map(name => [`acme/${name}`, FILES])
  at = await testApp(
    {
      ...Object.fromEntries(own),
      'acme/plain': plain,
      'acme/two': { ...plain, 'b/SKILL.md': SKILL },
      'bare/ready': FILES,
      'down/ready': FILES,
    },
    {
      github: { withToken: true },
      operator,
      // Only deployments with pages have cards.
      site: async app => void app.setNotFoundHandler((_request, reply) => reply.code(404).send('no page')),
      docs: [
        { slug: '', texts: { en: { label: 'What it is', section: 'Start' }, de: { label: 'Was es ist', section: 'Anfang' } } },
        { slug: 'rules', texts: { en: { label: 'Rules', section: 'Write' } } },
      ],
      deps: deps => ({ ...deps, deny: [({ repository }) => repository === 'denied'] }),
    },
  )
  await at.github.shown('acme', 'hidden', { visibility: 'private' })
  await at.github.shown('acme', 'blocked', { blocked: { reason: 'dmca', createdAt: '2026-01-01T00:00:00Z' } })
  const bare = await at.github.world.account('bare')
  if (bare) bare.avatar = 'missing'
  for (const address of ['/local/acme/ready', '/local/acme/two', '/local/acme/plain', '/gh/acme/ready']) await at.open(address)
  await get('/badge/local/acme/failed')
  const lease = await at.queue.take('test')
  if (lease) await at.queue.fail(lease, 'index.too_large')
  const [entry] = (await at.ask('showcase', '')).items
  const [poster = '', clip = ''] = [entry?.media.poster.url, entry?.media.clip?.url].map(url => url?.slice('/media/'.length))
  names = [
    [/POSTER-HASH/, poster.slice(0, 64)],
    [/POSTER/, poster],
    [/CLIP/, clip],
  ]
})
afterAll(() => at.close())

const ROWS = SHOWN.map(([state, url, type, cache, etag, vary]) => ({ state, url, type, cache, etag, vary }))

describe.each(ROWS)('$state', ({ url, type, cache, etag, vary }) => {
  let whole: Picture
  /** Headers of the whole, of parts and of what is unchanged. */
  let common: Record<string, unknown>
  beforeAll(async () => {
    whole = await get(url)
    const varied = vary === undefined ? {} : { vary }
    const tag = whole.headers.etag
    common = { ...EMBEDDED, 'content-type': type, 'cache-control': cache, 'accept-ranges': 'bytes', etag: tag, ...varied }
  })

  test('is 200 with these headers and no others, by HEAD too', async () => {
    const expected = { ...common, 'content-length': String(whole.bytes.length) }
    expect([whole.status, headersOf(whole)]).toEqual([200, expected])
    expect(whole.headers.etag).toMatch(etag)
    const head = await get(url, {}, 'HEAD')
    expect([head.status, headersOf(head), head.bytes.length]).toEqual([200, expected, 0])
  })

  test('is 304 for a client that has it, with HEAD too, and whole for a client that has another one', async () => {
    const tag = whole.headers.etag ?? ''
    const length = { 'content-length': String(whole.bytes.length) }
    for (const listed of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
      const unchanged = await get(url, { 'if-none-match': listed })
      expect([unchanged.status, headersOf(unchanged), unchanged.bytes.length], listed).toEqual([304, common, 0])
      const head = await get(url, { 'if-none-match': listed }, 'HEAD')
      expect([head.status, headersOf(head), head.bytes.length], listed).toEqual([304, { ...common, ...length }, 0])
    }
    const { status, bytes } = await get(url, { 'if-none-match': '"other"' })
    expect([status, bytes.equals(whole.bytes)]).toEqual([200, true])
  })

  test('is sent by ranges: 206 for a part, 416 beyond the end, whole where the range does not count', async () => {
    const { bytes } = whole
    const { length } = bytes
    for (const [range, from, to] of [
      ['bytes=2-5', 2, 5],
      ['bytes=10-', 10, length - 1],
      ['bytes=-7', length - 7, length - 1],
      [`bytes=5-${length + 9}`, 5, length - 1],
    ] as const)
      for (const method of ['GET', 'HEAD'] as const) {
        const part = await get(url, { range, 'if-range': whole.headers.etag ?? '' }, method)
        const expected = { ...common, 'content-range': `bytes ${from}-${to}/${length}`, 'content-length': String(to + 1 - from) }
        expect([part.status, headersOf(part)], range).toEqual([206, expected])
        expect(part.bytes.equals(method === 'GET' ? bytes.subarray(from, to + 1) : Buffer.alloc(0)), range).toBe(true)
      }
    for (const range of [`bytes=${length}-`, 'bytes=-0']) {
      const beyond = await get(url, { range })
      const expected = { ...EMBEDDED, 'cache-control': 'no-store', 'content-range': `bytes */${length}`, 'content-length': '0' }
      expect([beyond.status, headersOf(beyond), beyond.bytes.length], range).toEqual([416, expected, 0])
    }
    for (const headers of [{ range: 'bytes=2-5', 'if-range': '"other"' }, { range: 'bytes=0-1,4-5' }, { range: 'lines=1-2' }]) {
      const all = await get(url, headers)
      expect([all.status, all.bytes.equals(bytes)], JSON.stringify(headers)).toEqual([200, true])
    }
  })

  test('has the same bytes and headers with any cookies and credentials', async () => {
    for (const who of ASKERS) {
      const theirs = await get(url, who)
      expect([theirs.status, headersOf(theirs), theirs.bytes.equals(whole.bytes)]).toEqual([200, headersOf(whole), true])
    }
  })
})

const IN_OTHER_WAYS = [...ASKERS, { 'if-none-match': '*' }, { range: 'bytes=0-1' }]

/** The same few words, whoever asks, in whatever way. */
async function expectPlainly(url: string, status: 404 | 503, text: string, ways = IN_OTHER_WAYS): Promise<void> {
  const expected = { ...PLAIN, 'content-length': String(text.length) }
  for (const headers of [{}, ...ways]) {
    const answer = await get(url, headers)
    expect([answer.status, headersOf(answer), answer.bytes.toString()], url).toEqual([status, expected, text])
  }
  const head = await get(url, {}, 'HEAD')
  expect([head.status, headersOf(head), head.bytes.length], url).toEqual([status, expected, 0])
}

describe.each(PREFIXES)('%s, of an address that is', prefix => {
  test.each(NOWHERE)('%s, is the same plain 404 as every other', async (_state, address) => {
    await expectPlainly(prefix + address, 404, 'not found\n')
  })

  test('at a host that is down, is 503 and not cacheable', async () => {
    at.github.faults.choose(({ path }) => (path.includes('/down/') ? { status: 500 } : null))
    await expectPlainly(`${prefix}/gh/down/ready`, 503, 'not available now\n', [])
    at.github.faults.choose(null)
  })
})

test.each(NO_PICTURE)('%s is the same plain 404', async (_state, url) => {
  await expectPlainly(url, 404, 'not found\n')
})

test.each(WRITTEN)(
  '%s is JSON that is never cached, readable by any origin, with any credentials',
  async (_state, url, status) => {
    const whole = await get(url)
    const expected = { ...API, 'content-length': String(whole.bytes.length) }
    expect([whole.status, headersOf(whole)]).toEqual([status, expected])
    const head = await get(url, {}, 'HEAD')
    expect([head.status, headersOf(head), head.bytes.length]).toEqual([status, expected, 0])
    for (const headers of IN_OTHER_WAYS) {
      const theirs = await get(url, headers)
      expect([theirs.status, headersOf(theirs)]).toEqual([status, expected])
      if (status === 200) expect(theirs.bytes.equals(whole.bytes)).toBe(true)
    }
  },
)
