import { afterAll, beforeAll, expect, test } from 'vitest'
import { attributesOf, titleOf } from './support/html.ts'
import { ANSWERS } from './support/page-states.ts'
import { openSite, type Site } from './support/site.ts'

let site: Site
beforeAll(async () => {
  site = await openSite(ANSWERS, { hosts: ['local', 'gh'] })
})
afterAll(() => site.close())

/** What the tab shows of each page, and what a preview of its link says. */
const HEADS = [
  ['', 'Kit · gh/acme/tools', 'What we work with: '],
  ['?view=refs', 'Branches and tags · gh/acme/tools', 'The branches and tags of gh/acme/tools.'],
  ['?view=browse', 'Browse · gh/acme/tools', 'The files of gh/acme/tools, and which of them agents get.'],
  ['?view=browse&path=skills', 'skills · Browse · gh/acme/tools', 'The files of gh/acme/tools, and which of them agents get.'],
  ['?view=find', 'Find · gh/acme/tools', 'Search the skills and documents of gh/acme/tools.'],
  ['?view=find&query=pdf', 'Results for “pdf” · gh/acme/tools', 'Search the skills and documents of gh/acme/tools.'],
  ['?view=find&query=pdf&path=docs', 'docs · Results for “pdf” · gh/acme/tools', 'Search the skills '],
  ['?view=findings', 'Findings · gh/acme/tools', 'What to look at before agents read gh/acme/tools: 6 findings.'],
  ['?view=findings&level=look', 'Look at this · Findings · gh/acme/tools', 'What to look at '],
  ['?view=findings&path=skills', 'skills · Findings · gh/acme/tools', 'What to look at '],
  ['?view=skill&path=skills/pdf/SKILL.md', 'pdf · gh/acme/tools', 'Reads PDF files.'],
  ['?view=skill&path=skills/pdf/SKILL.md&page=2', 'pdf · Page 2 · gh/acme/tools', 'Reads PDF files.'],
  ['?view=file&path=docs/guide.md', 'docs/guide.md · gh/acme/tools', 'docs/guide.md of gh/acme/tools, as agents get it.'],
  // Pages of errors say what is wrong, and nothing of the repository.
  ['?view=file&path=skills/pd', 'File not found · skills/pd · gh/acme/tools', undefined],
  ['?view=file&path=skills/logo.png', 'skills/logo.png · gh/acme/tools', undefined],
  ['?view=skill&path=two', 'Several skills match · two · gh/acme/tools', undefined],
  ['?view=nope', 'No page of this name · gh/acme/tools', undefined],
] as const

test('each page has a title of its own, which begins with what the page shows, and a description of what is on it', async () => {
  const heads = await Promise.all(
    HEADS.map(async ([query]) => {
      const { html } = await site.get(`/gh/acme/tools${query}`)
      return { query, title: titleOf(html), description: attributesOf(html, 'meta name="description"', 'content')[0] }
    }),
  )
  expect(heads.map(({ query, title }) => [query, title])).toEqual(HEADS.map(([query, title]) => [query, `${title} · Mountglass`]))
  for (const [index, [query, , description]] of HEADS.entries()) {
    expect([query, heads[index]?.description?.slice(0, description?.length)]).toEqual([query, description])
  }
  expect(new Set(heads.map(({ title }) => title)).size).toBe(HEADS.length)
})

test('a page without its content says its state first', async () => {
  for (const [address, title] of [
    ['/gh/acme/later', 'Indexing · gh/acme/later'],
    ['/gh/acme/broken', 'Indexing failed · gh/acme/broken'],
    ['/gh/acme/empty', 'No commits yet · gh/acme/empty'],
    ['/gh/acme/damaged', 'Damaged repository · gh/acme/damaged'],
    ['/gh/acme/gone', 'Repository not found · gh/acme/gone'],
    ['/gh/acme/missing@v9', 'Version not found · gh/acme/missing@v9'],
  ] as const) {
    const { html } = await site.get(address)
    expect([address, titleOf(html)]).toEqual([address, `${title} · Mountglass`])
    expect([address, attributesOf(html, 'meta name="description"', 'content')]).toEqual([address, []])
  }
})
