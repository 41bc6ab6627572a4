import fc from 'fast-check'
import { expect, test } from 'vitest'
import { countCharacters } from '#core/text.ts'
import { cutAtParagraph } from '#site/lib/cut-at-paragraph.ts'
import { browsePage, filePage, readyMount } from './support/answers.ts'
import { attributesOf, textOf } from './support/html.ts'
import { open, PAGE, useOpenedSite } from './support/opened-site.ts'

useOpenedSite()

const page = (path: string, content: string, offset = 0) =>
  filePage({ path, content, offset, nextOffset: offset + countCharacters(content), totalLength: offset + 9_999 })
const contentOf = (path: string, content: string) => cutAtParagraph(page(path, content)).content

test.each([
  ['README.md', 'The first paragraph.\n\nThe second one.\n\nThe third is cut wi', 'The first paragraph.\n\nThe second one.\n\n'],
  ['README.md', 'Some text that is long.\n\n```sh\none\n\ntwo', 'Some text that is long.\n\n'],
  ['README.md', 'Text.\n\n~~~~\none\n\n~~~\n\ntwo\n~~~~\n\nand mo', 'Text.\n\n~~~~\none\n\n~~~\n\ntwo\n~~~~\n\n'],
  [
    'README.md',
    'a\n\nlines of a long paragraph\nthat has no end on\nthis pa',
    'a\n\nlines of a long paragraph\nthat has no end on\n',
  ],
  ['data.csv', 'a,b\n\nc,d\ne,f\ng', 'a,b\n\nc,d\ne,f\n'],
  ['min.js', 'var a=1;var b=2', 'var a=1;var b=2'],
  ['min.js', 'a\nvar a=1;var b=2;var c=3', 'a\nvar a=1;var b=2;var c=3'],
])('a page of %s ends with a paragraph or a line: %j', (path, content, shown) => {
  expect(contentOf(path, content)).toBe(shown)
})

test('the last page is all that is left', () => {
  const last = filePage({ content: 'One.\n\nTwo', nextOffset: null })
  expect(cutAtParagraph(last)).toBe(last)
})

test('the next page begins where this one ends, counted in characters', () => {
  const characters = fc.array(fc.constantFrom('a', '\n', '\n\n', '```', '𝄞', ' '), { maxLength: 60 }).map(parts => parts.join(''))
  fc.assert(
    fc.property(characters, fc.constantFrom('a.md', 'a.txt'), fc.nat(9), (content, path, offset) => {
      const { content: shown, nextOffset } = cutAtParagraph(page(path, content, offset))
      expect(content.startsWith(shown)).toBe(true)
      expect(shown.length * 2).toBeGreaterThanOrEqual(content.length)
      expect(nextOffset).toBe(offset + countCharacters(shown))
    }),
  )
})

const LONG = `# Kit\n\n${'Words that stand. '.repeat(20)}\n\nThis paragraph is cut wi`
const END = LONG.length - 'This paragraph is cut wi'.length

test('a long README ends with a paragraph, and leads on from there', async () => {
  const { get } = await open({
    mounts: () => readyMount(),
    browse: () => browsePage({ overview: { path: 'README.md', title: 'Kit', description: null } }),
    files: () => page('README.md', LONG),
  })
  const { html } = await get(PAGE)
  expect(textOf(html)).not.toContain('This paragraph')
  expect(attributesOf(html, 'a', 'href')).toContain(`${PAGE}?view=file&path=README.md&offset=${END}`)
})

test('a page of a file ends with a paragraph, copies its own text, and its Markdown continues at the same place', async () => {
  const { get } = await open({ files: () => page('docs/guide.md', LONG) })
  const { html } = await get(`${PAGE}?view=file&path=docs/guide.md`)
  expect(textOf(html)).not.toContain('This paragraph')
  expect(attributesOf(html, 'a', 'href')).toContain(`${PAGE}?view=file&path=docs/guide.md&offset=${END}&line=5`)
  expect(attributesOf(html, 'button', 'data-copy-from').join()).toContain(`limit=${END}`)
  const markdown = await get(`${PAGE}?view=file&path=docs/guide.md&format=markdown`)
  expect(markdown.html).toContain(`offset=${END})`)
  expect(markdown.html).not.toContain('This paragraph')
})
