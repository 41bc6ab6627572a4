import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ChangesAnswer } from '#core/contract/changes.ts'
import { openDiskBlobStore } from '#infra/disk/blob-store.ts'
import { createMemoryBlobStore } from '#infra/memory-stores.ts'
import { systemClock } from '#infra/system/system.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'

/* The difference of a long skill, page by page; and tags of the same answers from several stores and processes. */

const line = (mark: string, at: number) => `${mark} ${at}: 漢字 and 👍, words and more words.\n`
const text = (mark: string) => Array.from({ length: 900 }, (_, at) => line(at % 3 === 0 ? mark : 'same', at)).join('')
const skillOf = (mark: string) => `---\nname: long\ndescription: Long.\n---\n${text(mark)}`
const FILES = {
  'package.json': '{"license":"MIT"}\n',
  'SKILLSET.md': '---\nname: Root\ninclude: terms.md\n---\nOld rules.\n',
  'terms.md': 'Old terms, without an end',
  'long/SKILL.md': skillOf('old'),
}
const EDITS = {
  'SKILLSET.md': '---\nname: Root\ninclude: terms.md\n---\nNew rules.\n',
  'terms.md': 'New terms, without an end',
  'long/SKILL.md': skillOf('new'),
}
const ADDRESS = '/local/acme/long'
type ReadySkill = Extract<ChangesAnswer, { entries: unknown }>

async function openApp(options: Parameters<typeof testApp>[1] = {}): Promise<TestApp> {
  const opened = await testApp({ 'acme/long': FILES }, options)
  await opened.repository('acme/long').tag('v1', opened.commitOf('acme/long'))
  await opened.repository('acme/long').commit(EDITS)
  await opened.open(`${ADDRESS}@v1`)
  await opened.open(ADDRESS)
  return opened
}

let app: TestApp
let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mountglass-changes-'))
  app = await openApp()
})
afterAll(async () => {
  await app.close()
  rmSync(folder, { recursive: true })
})

async function allPages(): Promise<ReadySkill[]> {
  const pages: ReadySkill[] = []
  for (let cursor: string | null = null; ; ) {
    const query = { from: 'v1', skill: 'long/SKILL.md', ...(cursor === null ? {} : { cursor }) }
    const page = (await app.ask('changes', ADDRESS, query)) as ReadySkill
    pages.push(page)
    cursor = page.nextCursor
    if (cursor === null) return pages
  }
}

test('a page holds at most 16 KiB of differences, and every page has the item and the metadata', async () => {
  const pages = await allPages()
  expect(pages.length).toBeGreaterThan(3)
  for (const { entries, skill, metadata } of pages) {
    const bytes = entries.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0)
    expect(bytes).toBeLessThanOrEqual(16_384)
    expect(entries.every(({ content }) => content.isWellFormed())).toBe(true)
    expect([skill, metadata]).toEqual([pages[0]?.skill, pages[0]?.metadata])
  }
})

test('the pieces of a text, joined, apply to the old text and give the new one', async () => {
  const pieces = Map.groupBy(
    (await allPages()).flatMap(({ entries }) => entries),
    ({ kind, path }) => `${kind} ${path}`,
  )
  const texts: Record<string, [before: string, after: string]> = {
    'rules SKILLSET.md': ['Old rules.', 'New rules.'],
    'body long/SKILL.md': [text('old'), text('new')],
    'includes terms.md': [FILES['terms.md'], EDITS['terms.md']],
  }
  expect([...pieces.keys()]).toEqual(Object.keys(texts))
  for (const [key, [before, after]] of Object.entries(texts)) {
    const ofText = pieces.get(key) ?? []
    expect(ofText.map(({ fragment }) => fragment.index)).toEqual(ofText.map((_, index) => index))
    let offset = 0
    for (const { content, fragment } of ofText) {
      expect([fragment.offset, fragment.length]).toEqual([offset, [...content].length])
      offset += fragment.length
    }
    expect(ofText.at(-1)?.fragment).toMatchObject({ last: true, totalLength: offset })
    expect(applied(before, ofText.map(({ content }) => content).join(''))).toBe(after)
  }
})

test('equal comparisons have equal entity tags in any store, in any process, and after indexing again', async () => {
  const urls = [`/api/v1/changes${ADDRESS}?from=v1`, `/api/v1/changes${ADDRESS}@v1?from=main`]
  const tagsOf = async (one: TestApp) => Promise.all(urls.map(async url => (await one.get(url)).headers.etag))
  const expected = await tagsOf(app)
  const disk = await openDiskBlobStore(join(folder, 'store'))
  for (const blobs of [createMemoryBlobStore(systemClock), disk, disk]) {
    // The second service over the disk finds what the first one indexed.
    const other = await openApp({ blobs })
    expect(await tagsOf(other)).toEqual(expected)
    await other.close()
  }
  expect(new Set(expected).size).toBe(urls.length)
})

function applied(before: string, difference: string): string {
  writeFileSync(join(folder, 'text'), before)
  const patch = `diff --git a/text b/text\n--- a/text\n+++ b/text\n${difference}`
  const env = { PATH: process.env.PATH, HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' }
  execFileSync('git', ['apply', '--whitespace=nowarn', '-'], { cwd: folder, input: patch, env })
  return readFileSync(join(folder, 'text'), 'utf8')
}
