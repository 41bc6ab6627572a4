import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { parseRange } from '#api/http/send-file.ts'
import { errorMessage } from '#core/errors.ts'
import { RAW_FILE_BYTES } from '#core/limits.ts'
import { countGitStreams } from '#test/support/git-streams.ts'
import { BASE_URL, type TestApp, testApp } from '#test/support/test-app.ts'
import { countTurns } from '#test/support/turn-counter.ts'
import { MIT, skillText } from './support/texts.ts'

const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0xff, 0x00])

let app: TestApp
let raw: string
beforeAll(async () => {
  app = await testApp({
    'acme/handbook': {
      LICENSE: MIT,
      'SKILLSET.md': '---\nname: Handbook\nexclude: [private/]\n---\n',
      'a b/größe.png': PNG,
      'page.html': '<script>alert(1)</script>',
      'a.constructor': 'a',
      'a.__proto__': 'a',
      'src/main.c': 'int main;\n',
      'empty.txt': '',
      'large.bin': new Uint8Array(2 * 1024 * 1024).fill(65),
      'skills/open/SKILL.md': skillText('open', 'Body.\n'),
      'skills/open/large.txt': 'x'.repeat(2 * 1024 * 1024),
      'skills/closed/SKILL.md': skillText('closed', 'Body.\n', 'license: Proprietary\n'),
      'private/a.md': '# A\n',
      'broken/SKILLSET.md': '---\nname: [\n---\n',
      'broken/a.md': '# A\n',
    },
    'acme/large': {},
  })
  raw = `/git/local/acme/handbook/raw/${app.commitOf('acme/handbook')}`
})
afterAll(() => app.close())

test('before the index is ready nothing is served', async () => {
  const answer = await app.get(`${raw}/src/main.c`)
  expect([answer.status, answer.json.error.code]).toEqual([503, 'index.indexing'])
  await app.index()
  expect((await app.get(`${raw}/src/main.c`)).body).toBe('int main;\n')
})

test('every file of the commit is served that may be copied, large and binary ones too, as a download that runs nothing', async () => {
  for (const path of ['page.html', 'a.constructor', 'a.__proto__', 'large.bin', 'empty.txt', 'LICENSE']) {
    const { status, headers } = await app.get(`${raw}/${path}`)
    expect([path, status]).toEqual([path, 200])
    expect(headers['content-type']).toBe('application/octet-stream')
    expect(headers['content-disposition']).toMatch(/^attachment; filename\*=UTF-8''/)
    expect(headers['content-security-policy']).toBe("default-src 'none'; sandbox")
    expect(headers['x-content-type-options']).toBe('nosniff')
  }
})

test('a picture has its type, and its name is in the disposition', async () => {
  const answer = await app.app.inject(`${raw}/a%20b/gr%C3%B6%C3%9Fe.png`)
  expect(answer.statusCode).toBe(200)
  expect(answer.rawPayload).toEqual(Buffer.from(PNG))
  expect(answer.headers['content-type']).toBe('image/png')
  expect(answer.headers['content-disposition']).toBe("attachment; filename*=UTF-8''gr%C3%B6%C3%9Fe.png")
})

test('HEAD has the headers of GET; a known ETag is 304', async () => {
  const get = await app.get(`${raw}/src/main.c`)
  const head = await app.get(`${raw}/src/main.c`, { method: 'HEAD' })
  expect([head.status, head.body, head.headers['content-length']]).toEqual([200, '', '10'])
  expect(head.headers.etag).toBe(get.headers.etag)
  const again = await app.get(`${raw}/src/main.c`, { headers: { 'if-none-match': `"x", ${get.headers.etag}` } })
  expect([again.status, again.body]).toEqual([304, ''])
})

test.for([
  ['bytes=0-2', 206, 'int', 'bytes 0-2/10'],
  ['bytes=4-', 206, 'main;\n', 'bytes 4-9/10'],
  ['bytes=-3', 206, 'n;\n', 'bytes 7-9/10'],
  ['bytes=-99', 206, 'int main;\n', 'bytes 0-9/10'],
  ['bytes=9-99', 206, '\n', 'bytes 9-9/10'],
  ['bytes=10-', 416, '', 'bytes */10'],
  ['bytes=-0', 416, '', 'bytes */10'],
  ['bytes=5-2', 200, 'int main;\n', undefined],
  ['bytes=0-1,4-5', 200, 'int main;\n', undefined],
  ['lines=1-2', 200, 'int main;\n', undefined],
] as const)('the range %s answers %i', async ([range, status, body, contentRange]) => {
  const answer = await app.get(`${raw}/src/main.c`, { headers: { range } })
  expect([answer.status, answer.body, answer.headers['content-range']]).toEqual([status, body, contentRange])
})

test('a range is used only if the file is still the one that the client names', async () => {
  const { headers } = await app.get(`${raw}/src/main.c`)
  const same = await app.get(`${raw}/src/main.c`, { headers: { range: 'bytes=0-2', 'if-range': String(headers.etag) } })
  const other = await app.get(`${raw}/src/main.c`, { headers: { range: 'bytes=0-2', 'if-range': '"other"' } })
  expect([same.status, other.status]).toEqual([206, 200])
})

test('no range reaches behind an empty file', () => {
  expect(parseRange('bytes=0-', 0)).toBe('unsatisfiable')
  expect(parseRange(undefined, 0)).toBe('whole')
})

test('an excluded, closed or missing file is 404, and so is any path that is no file', async () => {
  const commit = app.commitOf('acme/handbook')
  for (const url of [
    `${raw}/private/a.md`,
    `${raw}/private`,
    `${raw}/broken/a.md`,
    `${raw}/broken/SKILLSET.md`,
    `${raw}/nothing`,
    `${raw}/src`,
    `${raw}/`,
    raw,
    `${raw}/src%2Fmain.c`,
    `${raw}/src//main.c`,
    `${raw}/%ZZ`,
    `${raw}/%00`,
    '/git/local/acme/handbook/raw/main/LICENSE',
    `/git/local/acme/handbook/blob/${commit}/LICENSE`,
    `/git/gh/acme/handbook/raw/${commit}/LICENSE`,
    '/git/',
  ]) {
    const answer = await app.app.inject(url)
    expect([url, answer.statusCode]).toEqual([url, 404])
  }
})

test('the address that the interface gives for a file leads to its bytes', async () => {
  const refused = await app.get('/api/v1/files/local/acme/handbook?path=skills/open/large.txt')
  expect(refused.json.error.code).toBe('file.too_large')
  const { pathname } = new URL(refused.json.error.sourceUrl)
  expect((await app.get(pathname)).body).toHaveLength(2 * 1024 * 1024)
})

test('any part of a file of more than 100 MiB is 413 before git reads it', async () => {
  const repository = app.repository('acme/large')
  const [largest, larger] = [await repository.writeZeroBlob(RAW_FILE_BYTES), await repository.writeZeroBlob(RAW_FILE_BYTES + 1)]
  const commit = await repository.commit({ LICENSE: MIT, 'largest.bin': { blob: largest }, 'larger.bin': { blob: larger } })
  await app.open('/local/acme/large')
  const urlOf = (path: string) => `/git/local/acme/large/raw/${commit}/${path}`
  const head = await app.get(urlOf('largest.bin'), { headers: { range: 'bytes=0-0', 'if-range': '"other"' }, method: 'HEAD' })
  expect([head.status, head.headers['content-length']]).toEqual([200, `${RAW_FILE_BYTES}`])
  for (const headers of [{}, { range: 'bytes=0-0' }, { 'if-none-match': `W/"${larger}"` }]) {
    const answer = await app.get(urlOf('larger.bin'), { headers })
    expect([answer.status, answer.json.error]).toEqual([
      413,
      {
        code: 'file.too_large',
        message: errorMessage('file.too_large:raw'),
        sourceUrl: `${BASE_URL}${urlOf('larger.bin')}`,
      },
    ])
    expect(countGitStreams()).toBe(0)
  }
})

test('simultaneous requests begin one in a turn of the event loop, and clients take turns', async () => {
  const turns = countTurns()
  const begun: number[] = []
  app.deps.deny = [
    ({ repository }) => {
      begun[Number(repository)] = turns.turn()
      return true
    },
  ]
  onTestFinished(() => {
    app.deps.deny = []
  })
  const clients = ['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2']
  const asked = clients.map((remoteAddress, number) =>
    app.app.inject({ url: `/git/local/acme/${number}/raw/${'0'.repeat(40)}/a.md`, remoteAddress }),
  )
  const answers = await Promise.all(asked)
  turns.stop()
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([403, 403, 403, 403])
  const [first = 0] = begun
  expect(begun.map(turn => turn - first)).toEqual([0, 2, 3, 1])
})
