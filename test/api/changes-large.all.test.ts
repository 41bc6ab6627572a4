import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ChangesPage } from '#core/contract/changes.ts'
import { CHANGES_PAGE_BYTES } from '#core/limits.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'

const SKILLS = 9
const FILES = 450
const ADDRESS = '/local/acme/large'
const pathOf = (skill: number, file: number) => `skill-${skill}/${'long-name-of-a-folder/'.repeat(12)}file-${file}.md`

function filesOf(word: string): Record<string, string> {
  const files: Record<string, string> = { 'package.json': '{"license":"MIT"}\n' }
  for (let skill = 0; skill < SKILLS; skill++) {
    files[`skill-${skill}/SKILL.md`] = `---\nname: skill-${skill}\ndescription: One of many.\n---\nDo it.\n`
    for (let file = 0; file < FILES; file++) files[pathOf(skill, file)] = `${word} ${skill} ${file}\n`
  }
  return files
}

let app: TestApp
beforeAll(async () => {
  app = await testApp({ 'acme/large': filesOf('old') })
  await app.repository('acme/large').tag('v1', app.commitOf('acme/large'))
  await app.repository('acme/large').commit(filesOf('new'))
  await app.open(`${ADDRESS}@v1`)
  await app.open(ADDRESS)
})
afterAll(() => app.close())

test('pages of changes stay below the size limit at any page limit, and joined they give the whole', async () => {
  const pages: ChangesPage[] = []
  for (let cursor: string | null = null; ; ) {
    const page = (await app.ask('changes', ADDRESS, { from: 'v1', limit: 200, ...(cursor && { cursor }) })) as ChangesPage
    pages.push(page)
    cursor = page.nextCursor
    if (cursor === null) break
  }
  expect(pages.length).toBeGreaterThan(1)
  for (const { items } of pages) expect(Buffer.byteLength(JSON.stringify(items))).toBeLessThan(CHANGES_PAGE_BYTES + 1_000)
  const items = pages.flatMap(page => page.items)
  expect(items.map(({ path }) => path)).toEqual(Array.from({ length: SKILLS }, (_, skill) => `skill-${skill}/SKILL.md`))
  for (const item of items) expect(item.kind === 'skill' && item.causes.length).toBe(FILES)
})
