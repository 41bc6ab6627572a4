import { expect, test } from 'vitest'
import { createApiClient } from '#site/lib/api-client.ts'
import { PageCache, watchAnswers } from '#site/lib/page-cache.ts'
import { type Versions, versionsOfClient } from '#site/lib/versions.ts'
import {
  type Answers,
  answering,
  browsePage,
  filePage,
  type Question,
  readyMount,
  refusal,
  skillPage,
} from './support/answers.ts'
import { exactTextsOf } from './support/html.ts'
import { open, PAGE, SKILL, useOpenedSite } from './support/opened-site.ts'

useOpenedSite()

const FILE = `${PAGE}?view=file&path=docs/guide.md&look=exact`
const OTHER_COMMIT = 'b'.repeat(40)

/** A site whose answers change, and what the API was asked beside mounts. */
async function openChanging(answers: Answers = {}) {
  const state = { commit: 'a'.repeat(40), isVisible: true, content: 'one\n' }
  const asked: Question[] = []
  const { get } = await open({
    mounts: () => (state.isVisible ? readyMount({}, { commit: state.commit }) : refusal('mount.repo_not_found')),
    files: question => {
      asked.push(question)
      return filePage({ content: state.content })
    },
    ...answers,
  })
  return { get, state, asked }
}

test('a page is kept with its headers while the facts of its mount stay the same', async () => {
  const { get, asked } = await openChanging()
  for (const accepted of [{}, { 'accept-encoding': 'br' }]) {
    const first = await get(FILE, 'GET', accepted)
    const again = await get(FILE, 'GET', accepted)
    expect(again.bytes.equals(first.bytes)).toBe(true)
    const {
      date: _,
      'x-request-id': id,
      'transfer-encoding': __,
      'content-length': ___,
      connection: ____,
      'keep-alive': _____,
      ...headers
    } = again.headers
    expect(first.headers).toMatchObject(headers)
    expect(first.headers['x-request-id']).not.toBe(id)
    expect(headers['content-security-policy']).toContain("default-src 'none'")
  }
  expect(asked.length).toBe(2)
})

test('a new commit gives a new page, and a page that the visitor may no longer see is not sent', async () => {
  const { get, state } = await openChanging()
  expect(exactTextsOf((await get(FILE)).html)).toEqual(['one\n'])
  Object.assign(state, { commit: OTHER_COMMIT, content: 'two\n' })
  expect(exactTextsOf((await get(FILE)).html)).toEqual(['two\n'])
  await get(FILE)
  state.isVisible = false
  const { status, html } = await get(FILE)
  expect(status).toBe(404)
  expect(html).not.toContain('two')
})

test('every form of a page is kept by itself', async () => {
  const { get } = await openChanging({ skills: () => skillPage() })
  for (let turn = 0; turn < 2; turn++) {
    expect((await get(SKILL)).headers['content-type']).toContain('text/html')
    expect((await get(SKILL, 'GET', { accept: 'text/markdown' })).headers['content-type']).toContain('text/markdown')
    expect((await get(`${SKILL}&format=markdown`)).html).toMatch(/^# local/)
    expect((await get(SKILL, 'GET', { 'accept-encoding': 'gzip' })).headers['content-encoding']).toBe('gzip')
    expect((await get(SKILL, 'HEAD')).bytes.length).toBe(0)
  }
})

test('a page with an error or with a text that could not be drawn is rendered again', async () => {
  let isThere = false
  const { get } = await openChanging({ files: () => (isThere ? filePage() : refusal('skill.unavailable')) })
  expect((await get(FILE)).status).toBe(503)
  isThere = true
  expect((await get(FILE)).status).toBe(200)

  let asked = 0
  const busy = await open(
    {
      files: () => {
        asked++
        return filePage({ content: '# Title\n' })
      },
    },
    { rendering: { patienceMs: 0, program: new URL('../support/hostile-renderer.ts', import.meta.url) } },
  )
  for (let turn = 0; turn < 2; turn++) {
    const { html } = await busy.get(`${PAGE}?view=file&path=docs/guide.md`)
    expect(html).toMatch(/This text cannot be rendered now\.[^<]*<a href="\/local\/[^"]+">Try again<\/a>/)
  }
  await busy.close()
  expect(asked).toBe(2)
})

test('an overview whose skills could not be listed is rendered again', async () => {
  let asked = 0
  const counts = { skills: 60, documents: 0 }
  const all = async () => {
    asked++
    if (asked === 1) throw refusal('mount.unavailable')
    return null
  }
  const { get } = await open(
    {
      mounts: () => readyMount({ counts, documents: [] }),
      browse: () => browsePage({ entries: [{ path: 'skills', kind: 'directory', counts }] }),
    },
    { skills: () => all },
  )
  for (let turn = 0; turn < 3; turn++) expect((await get(PAGE)).status).toBe(200)
  expect(asked).toBe(2)
})

test('an overview whose comparison failed is rendered again, and one whose comparison is refused is kept', async () => {
  for (const [code, times] of [
    ['mount.unavailable', 3],
    ['mount.path_not_found', 1],
  ] as const) {
    let asked = 0
    const versions: Versions = {
      ...versionsOfClient(createApiClient(answering({}))),
      indexedBase: async () => ({ ref: 'v1', commit: OTHER_COMMIT, isIndexed: true }),
      changesIfIndexed: async () => {
        asked++
        throw refusal(code)
      },
    }
    const { get, close } = await open({ browse: () => browsePage({ entries: [] }) }, { versions: () => versions })
    for (let turn = 0; turn < 3; turn++) expect((await get(PAGE)).status).toBe(200)
    await close()
    expect(asked).toBe(times)
  }
})

test('a page whose facts changed while it was rendered is not cached', async () => {
  const { get, state, asked } = await openChanging({
    files: question => {
      asked.push(question)
      state.commit = OTHER_COMMIT
      return filePage()
    },
  })
  for (let turn = 0; turn < 3; turn++) await get(FILE)
  expect(asked.length).toBe(2)
})

test('pages of the same facts share answers, once the facts were the same after the first page', async () => {
  let asked = 0
  const api = createApiClient(async () => {
    asked++
    return { status: 200, body: JSON.stringify(filePage()), etag: '"one"' }
  })
  const factsOf = new WeakMap()
  const open = async (facts: string | null) => {
    const watched = watchAnswers(api, facts, factsOf)
    await watched.client.get('files', 'local/acme/tools', { path: 'a.md' })
    return watched
  }
  await open('these facts')
  await open('these facts')
  expect(asked).toBe(2)
  ;(await open('these facts')).keep()
  await open('these facts')
  expect(asked).toBe(3)
  await open('other facts')
  ;(await open(null)).keep()
  expect(asked).toBe(5)
})

test('kept pages are bounded by their bytes', () => {
  const cache = new PageCache(100_000)
  for (let index = 0; index < 100; index++) cache.set(`key ${index}`, 'facts', { headers: [], bytes: new Uint8Array(10_000) })
  const kept = Array.from({ length: 100 }, (_, index) => cache.get(`key ${index}`, 'facts')).filter(Boolean)
  expect(kept.length).toBeGreaterThan(5)
  expect(kept.length).toBeLessThan(10)
  cache.set('large', 'facts', { headers: [], bytes: new Uint8Array(2 * 1024 * 1024) })
  expect(cache.get('large', 'facts')).toBeUndefined()
})
