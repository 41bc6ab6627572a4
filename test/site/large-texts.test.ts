import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RenderOutcome } from '#site/lib/render-pool.ts'
import { commitOf, filePage, readyMount, skillPage, whole } from './support/answers.ts'
import { textOf } from './support/html.ts'
import { openSite, type Site } from './support/site.ts'

const CHARACTERS = 40_000
/** What a page holds around its text. */
const PAGE_BYTES = 65_000

/** A header of so many columns, and rows of one cell: every row is filled up. */
const FILLED_TABLE = padded(`${'|a'.repeat(120)}\n${'|-'.repeat(120)}\n`, '|\n')

const HOSTILE: [string, string][] = [
  ['a table that is filled up', FILLED_TABLE],
  ['many small links', padded('', '[a](b) ')],
  ['many small links to headings', padded('', '[a](#b) ')],
  ['hidden characters alone', '\u200b'.repeat(CHARACTERS)],
  ['hidden characters between others', 'a\u202e'.repeat(CHARACTERS / 2)],
  ['quotes to escape', '"'.repeat(CHARACTERS)],
  ['emphasis', padded('', '*a* ')],
  ['headings', padded('', '# a\n')],
  ['lists in lists', padded('', '- '.repeat(100)).slice(0, CHARACTERS)],
  ['code in cells', padded('|a|\n|-|\n', '|`"`|\n')],
]

let site: Site
let content = ''
const outcomes: RenderOutcome[] = []

beforeAll(async () => {
  site = await openSite(
    {
      mounts: () => readyMount({}, { commit: commitOf(content) }),
      files: () => filePage({ content, totalLength: content.length, size: content.length, path: 'docs/a.md' }),
      skills: () => skillPage({ body: content, bodyFragment: whole(content) }),
    },
    { rendering: { onOutcome: outcome => void outcomes.push(outcome) } },
  )
})
afterAll(() => site.close())

test.each(HOSTILE)('a page of %s is bounded in both looks', async (_, text) => {
  content = text
  for (const look of ['exact', 'rendered']) {
    const { status, html } = await site.get(`/local/acme/tools?view=file&path=docs/a.md&look=${look}`)
    expect(status).toBe(200)
    expect(html.length, look).toBeLessThan(10 * CHARACTERS + 20_000 + PAGE_BYTES)
  }
})

test('a table that would be much larger than its text is shown as the text, with a note', async () => {
  content = FILLED_TABLE
  const { html } = await site.get('/local/acme/tools?view=file&path=docs/a.md&look=rendered')
  expect(textOf(html)).toContain('This text is too large to render. This is the exact text.')
  expect(html).toContain('<pre class="exact"')
  expect(html.length).toBeLessThan(CHARACTERS + PAGE_BYTES)
  expect(outcomes.at(-1)).toMatch(/too_large|cached/)
})

test('an ordinary table, and a skill of many fragments, are drawn', async () => {
  content = padded('| Name | Age |\n|---|---|\n', '| Ada | 36 |\n')
  const { html } = await site.get('/local/acme/tools?view=file&path=docs/a.md&look=rendered')
  expect(html).toContain('<td>Ada</td>')
  content = 'Do *this*.'
  const skill = await site.get('/local/acme/tools?view=skill&path=pdf/SKILL.md&look=rendered')
  expect(skill.html).toContain('<em>this</em>')
  expect(outcomes.at(-1)).toBe('rendered')
})

test('while the renderer is busy, pages show the exact text with a note', async () => {
  const busy = await openSite(
    { mounts: () => readyMount(), files: () => filePage({ content: '# Title\n', path: 'docs/a.md' }) },
    { rendering: { patienceMs: 0, program: new URL('../support/hostile-renderer.ts', import.meta.url) } },
  )
  const { status, html } = await busy.get('/local/acme/tools?view=file&path=docs/a.md&look=rendered')
  await busy.close()
  expect([status, textOf(html)]).toEqual([200, expect.stringContaining('This text cannot be rendered now.')])
  expect(html).toContain('# Title')
})

function padded(start: string, unit: string): string {
  return (start + unit.repeat(Math.floor((CHARACTERS - start.length) / unit.length))).slice(0, CHARACTERS)
}
