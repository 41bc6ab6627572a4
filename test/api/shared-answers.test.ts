import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { countOpened } from './support/count-opened.ts'

/* Requests that arrive in one turn of the event loop and ask for the same. */

const ADDRESS = '/local/acme/tools'
const MOUNT = `/api/v1/mounts${ADDRESS}`
const FILE = `/api/v1/files${ADDRESS}?path=docs/guide.md`

let app: TestApp
const opened = countOpened()
beforeAll(async () => {
  const files = { 'package.json': '{"license":"MIT"}\n', 'docs/guide.md': '# Guide\n\nHow to do it.\n' }
  app = await testApp({ 'acme/tools': files }, { deps: opened.deps })
  await app.open(ADDRESS)
  await app.app.inject(MOUNT)
})
afterAll(() => app.close())
beforeEach(() => {
  opened.count = 0
})

test.each([MOUNT, FILE])('%s: they are answered by one call, each whole', async url => {
  const answers = await Promise.all([1, 2, 3].map(() => app.app.inject(url)))
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200])
  const [{ body, headers }] = answers as [(typeof answers)[number]]
  for (const answer of answers) {
    expect(answer.body).toBe(body)
    expect(answer.headers.etag).toBe(headers.etag)
  }
  expect(headers.etag).toBeDefined()
  expect(new Set(answers.map(answer => answer.headers['x-request-id'])).size).toBe(3)
  expect(opened.count).toBe(1)
})

test('whoever asks for something else, or has the answer, is answered apart', async () => {
  const { etag } = (await app.app.inject(MOUNT)).headers
  opened.count = 0
  const [whole, held, other] = await Promise.all([
    app.app.inject(MOUNT),
    app.app.inject({ url: MOUNT, headers: { 'if-none-match': String(etag) } }),
    app.app.inject(`${MOUNT}/docs`),
  ])
  expect([whole.statusCode, held.statusCode, other.statusCode]).toEqual([200, 304, 200])
  expect(opened.count).toBe(3)
})

test('a refusal is that of all, and the next turn sees what changed', async () => {
  const marker = join(app.repository('acme/tools').gitDir, 'mountglass-private')
  await writeFile(marker, '')
  const refused = await Promise.all([1, 2].map(() => app.app.inject(MOUNT)))
  expect(refused.map(({ statusCode }) => statusCode)).toEqual([404, 404])
  await rm(marker)
  expect((await app.app.inject(MOUNT)).statusCode).toBe(200)
})
