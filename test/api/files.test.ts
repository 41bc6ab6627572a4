import { hash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { READABLE_FILE_BYTES } from '#core/limits.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { MIT, skillText } from './support/texts.ts'

const STRANGE = [
  'a b.md',
  '%5Bboop%5D.md',
  'c++.md',
  '%.md',
  'Ünïcode 漢字.md',
  'u\u0308nfd.md',
  "it's (a) #hash & more;.md",
  '🎻.md',
  '-dash.md',
]
const TEXT = '\ufeffLine\r\n漢字 🎻 e\u0301\n'.repeat(500)

let app: TestApp
beforeAll(async () => {
  app = await testApp({
    'acme/handbook': {
      LICENSE: MIT,
      'SKILLSET.md': '---\nname: Handbook\nexclude: [private/, "*.secret.md"]\n---\n',
      'docs/text.md': TEXT,
      'docs/empty.md': '',
      ...Object.fromEntries(STRANGE.map(name => [`docs/${name}`, `# ${name}\n`])),
      'docs/limit.md': 'x'.repeat(READABLE_FILE_BYTES),
      'docs/large.md': 'x'.repeat(READABLE_FILE_BYTES + 1),
      'docs/binary.md': new Uint8Array([0x23, 0x20, 0xff, 0xfe]),
      'docs/nul.md': 'a\0b',
      'docs/link.md': { link: 'gone.md' },
      'src/main.c': 'int main;\n',
      'private/a.md': '# A\n',
      'docs/x.secret.md': '# X\n',
      'skills/closed/SKILL.md': skillText('closed', 'Body.\n', 'license: Proprietary\n'),
      'skills/closed/file.md': 'File.\n',
      'broken/SKILLSET.md': '---\nname: [\n---\n',
      'broken/a.md': '# A\n',
    },
  })
})
afterAll(() => app.close())

const HANDBOOK = '/local/acme/handbook'

test('before the index is ready no file is served, and the answer has Retry-After', async () => {
  const answer = await app.get(`/api/v1/files${HANDBOOK}?path=docs/text.md`)
  expect([answer.status, answer.json.error.code]).toEqual([503, 'index.indexing'])
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
  await app.index()
  expect((await app.get(`/api/v1/files${HANDBOOK}?path=docs/text.md`)).status).toBe(200)
})

test('a page has its place, the whole length in characters and the size in bytes', async () => {
  expect(await app.ask('files', HANDBOOK, { path: 'docs/text.md', offset: 1, limit: 4 })).toEqual({
    kind: 'file',
    path: 'docs/text.md',
    content: 'Line',
    offset: 1,
    nextOffset: 5,
    totalLength: [...TEXT].length,
    commit: app.commitOf('acme/handbook'),
    size: Buffer.byteLength(TEXT),
    sha256: hash('sha256', TEXT, 'hex'),
  })
})

test.for([1_000, 4_096, 100_000])('pages of %i characters, joined, are the bytes of the file', async limit => {
  let text = ''
  for (let offset: number | null = 0; offset !== null; ) {
    const page: { content: string; nextOffset: number | null } = await app.ask('files', HANDBOOK, {
      path: 'docs/text.md',
      offset,
      limit,
    })
    text += page.content
    offset = page.nextOffset
  }
  expect(text).toBe(TEXT)
})

test('an offset at the end gives an empty page, beyond the end 400', async () => {
  const { totalLength } = await app.ask('files', HANDBOOK, { path: 'docs/text.md' })
  expect(await app.ask('files', HANDBOOK, { path: 'docs/text.md', offset: totalLength })).toMatchObject({
    content: '',
    nextOffset: null,
  })
  const answer = await app.get(`/api/v1/files${HANDBOOK}?path=docs/text.md&offset=${totalLength + 1}`)
  expect([answer.status, answer.json.error.code]).toEqual([400, 'request.invalid'])
  expect(await app.ask('files', HANDBOOK, { path: 'docs/empty.md' })).toMatchObject({
    content: '',
    nextOffset: null,
    totalLength: 0,
    size: 0,
  })
})

test('40,000 characters are the default, and a file of exactly the readable size is read', async () => {
  const page = await app.ask('files', HANDBOOK, { path: 'docs/limit.md' })
  expect([page.content.length, page.nextOffset, page.totalLength]).toEqual([40_000, 40_000, READABLE_FILE_BYTES])
  const last = await app.ask('files', HANDBOOK, { path: 'docs/limit.md', offset: READABLE_FILE_BYTES })
  expect(last.nextOffset).toBeNull()
})

test.for(STRANGE)('a file named %j is read by its name, decoded once', async name => {
  expect((await app.ask('files', HANDBOOK, { path: `docs/${name}` })).content).toBe(`# ${name}\n`)
})

test('names are bytes: another normalisation or case is another file', async () => {
  for (const path of ['docs/\u00fcnfd.md', 'docs/TEXT.md', 'docs/[boop].md', 'docs/c  .md']) {
    const answer = await app.get(`/api/v1/files${HANDBOOK}?path=${encodeURIComponent(path)}`)
    expect([path, answer.status, answer.json.error.code]).toEqual([path, 404, 'file.not_found'])
  }
})

test.for([
  ['docs/large.md', 413, 'file.too_large'],
  ['docs/binary.md', 415, 'file.not_text'],
  ['docs/nul.md', 415, 'file.not_text'],
  ['skills/closed/SKILL.md', 403, 'file.not_served'],
  ['skills/closed/file.md', 403, 'file.not_served'],
  ['src/main.c', 404, 'file.not_found'],
  ['docs/link.md', 404, 'file.not_found'],
] as const)('%s is refused with its address at the host: %i %s', async ([path, status, code]) => {
  const answer = await app.get(`/api/v1/files${HANDBOOK}?path=${path}`)
  expect([answer.status, answer.json.error]).toEqual([
    status,
    {
      code,
      message: expect.any(String),
      sourceUrl: `https://mountglass.test/git${HANDBOOK}/raw/${app.commitOf('acme/handbook')}/${path}`,
    },
  ])
})

test.for(['nothing.md', 'docs', 'private/a.md', 'docs/x.secret.md', 'broken/a.md', 'broken/SKILLSET.md'])(
  '%s is not found: missing, a folder, excluded and closed are the same',
  async path => {
    const answer = await app.get(`/api/v1/files${HANDBOOK}?path=${path}`)
    expect([answer.status, answer.json.error]).toEqual([404, { code: 'file.not_found', message: expect.any(String) }])
    expect(answer.json.error.message).toBe((await app.get(`/api/v1/files${HANDBOOK}?path=none`)).json.error.message)
  },
)

test.for([
  '/docs/text.md',
  'docs/text.md/',
  'docs//text.md',
  'docs/../docs/text.md',
  './docs/text.md',
  'docs\\text.md',
  'docs/text.md\0',
  'x'.repeat(1_100),
])('the path %j is not canonical: 400', async path => {
  const answer = await app.get(`/api/v1/files${HANDBOOK}?path=${encodeURIComponent(path)}`)
  expect([answer.status, answer.json.error.code]).toEqual([400, 'request.invalid'])
})

test('a file outside the mount is not found, and one inside has its real path', async () => {
  expect((await app.ask('files', `${HANDBOOK}/docs`, { path: 'docs/text.md' })).path).toBe('docs/text.md')
  for (const path of ['LICENSE', 'text.md', 'skills/closed/SKILL.md']) {
    const answer = await app.get(`/api/v1/files${HANDBOOK}/docs?path=${path}`)
    expect([answer.status, answer.json.error.code]).toEqual([404, 'file.not_found'])
  }
})
