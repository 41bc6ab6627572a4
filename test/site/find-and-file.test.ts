import { describe, expect, test } from 'vitest'
import { markWords, wordsOf } from '#site/lib/text-html.ts'
import { COMMIT, filePage, findPage } from './support/answers.ts'
import { attributesOf, dangersOf, exactTextsOf, textOf } from './support/html.ts'
import { open, PAGE, useOpenedSite } from './support/opened-site.ts'

useOpenedSite()

describe('marked words', () => {
  const mark = (text: string, query: string) => markWords(text, wordsOf(query))

  test.each([
    ['Reads PDF forms.', 'pdf form', 'Reads <mark>PDF</mark> <mark>forms</mark>.'],
    ['subform', 'form', 'subform'],
    ['エージェントを読む', '読む', 'エージェントを<mark>読む</mark>'],
    ['a <b> & "c"', 'b c', 'a &#60;b&#62; &#38; &#34;c&#34;'],
    ['x (.*) y', '(.*) $&', 'x (.*) y'],
    ['<script>', 'script', '&#60;<mark>script</mark>&#62;'],
  ])('%j for %j', (text, query, html) => expect(mark(text, query)).toBe(html))

  test('hidden characters inside stay visible', () => {
    const html = mark('pdf\u202eforms', 'pdf')
    expect(html).toContain('<mark>pdf</mark>')
    expect(html).toContain('data-code="U+202E"')
  })
})

test('results are counted, and their words are marked', async () => {
  const license = { kind: 'open', name: 'MIT', source: null } as const
  const skill = {
    kind: 'skill' as const,
    path: 'pdf/SKILL.md',
    directory: 'pdf',
    name: 'pdf',
    description: 'Reads PDF files.',
    translations: {},
    license,
    files: [],
    moreFiles: 0,
  }
  const { get } = await open({
    find: () => findPage({ query: 'pdf', items: [skill, { kind: 'document', path: 'a.md', title: 'About', summary: 'x' }] }),
  })
  const { html } = await get(`${PAGE}?view=find&query=pdf`)
  expect(textOf(html)).toContain('1 skill and 1 document, best first.')
  expect(html).toContain('Reads <mark>PDF</mark> files.')
  expect(dangersOf(html)).toEqual([])
})

describe('a file', () => {
  test('of code has numbered lines that continue on the next page', async () => {
    const { get } = await open({
      files: ({ query }) =>
        query.get('offset') === '12'
          ? filePage({ path: 'a.ts', content: 'st b = 2\n', offset: 12, totalLength: 21 })
          : filePage({ path: 'a.ts', content: 'const a = 1\n', nextOffset: 12, totalLength: 21 }),
    })
    const first = await get(`${PAGE}?view=file&path=a.ts`)
    expect(exactTextsOf(first.html)).toEqual(['const a = 1\n'])
    expect(first.html).toContain('<span class="hljs-keyword">const</span>')
    expect(first.html).not.toContain('aria-label="Text view"')
    const next = attributesOf(first.html, 'a', 'href').find(href => href.includes('offset=')) ?? ''
    expect(next).toBe(`${PAGE}?view=file&path=a.ts&offset=12&line=2`)
    expect((await get(next)).html).toContain('id="L2"')
  })

  test('has a permanent link, its raw form and a button that copies', async () => {
    const { get } = await open({ files: () => filePage({ path: 'docs/a b.md' }) })
    const { html } = await get(`${PAGE}?view=file&path=docs/a%20b.md`)
    expect(attributesOf(html, 'a', 'href')).toEqual(
      expect.arrayContaining([
        `${PAGE}@${COMMIT}?view=file&path=docs/a%20b.md`,
        `/git/local/acme/tools/raw/${COMMIT}/docs/a%20b.md`,
      ]),
    )
    expect(attributesOf(html, 'button', 'data-copy-from')).toContain(`/api/v1/files${PAGE}?path=docs%2Fa+b.md&offset=0`)
  })

  test('of GitHub links to GitHub, at the commit', async () => {
    const { get } = await open({ files: () => filePage() }, { hosts: ['local'], hostUrls: { local: 'https://host.example' } })
    expect(attributesOf((await get(`${PAGE}?view=file&path=docs/guide.md`)).html, 'a', 'href')).toContain(
      `https://host.example/acme/tools/blob/${COMMIT}/docs/guide.md`,
    )
  })
})
