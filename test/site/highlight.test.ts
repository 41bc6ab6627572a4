import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { highlightCode, renderCode } from '#site/lib/highlight.ts'
import { dangersOf, exactTextsOf, tagsOf } from './support/html.ts'

const code = (content: string, path = 'a.ts', firstLine = 1) => renderCode({ content, path, idPrefix: '', firstLine })

test('tokens have classes, and lines their numbers and links', () => {
  const html = code('const a = 1\n// two\n', 'src/a.ts', 7)
  expect(html).toBe(
    '<span class="line" id="L7"><a href="#L7" aria-label="7"></a><span class="hljs-keyword">const</span> a = <span class="hljs-number">1</span>\n</span>' +
      '<span class="line" id="L8"><a href="#L8" aria-label="8"></a><span class="hljs-comment">// two</span>\n</span>',
  )
})

test('a token over several lines is closed at each end of a line', () => {
  const lines = code('/* a\nb */ const c = 1').split('</span>\n</span>')
  expect(lines.length).toBe(1)
  const html = code('/* a\nb */')
  expect(html).toContain('<span class="hljs-comment">/* a\n</span></span>')
  expect(html).toContain('</a><span class="hljs-comment">b */</span></span>')
})

test('an unknown language, a long line and a long file stay plain', () => {
  expect(highlightCode('const a', 'nonsense')).toBe('const a')
  expect(tagsOf(highlightCode(`const a = "${'x'.repeat(1_000)}"`, 'ts'))).toEqual([])
  expect(tagsOf(highlightCode('const a = 1\n'.repeat(4_000), 'ts'))).toEqual([])
})

describe('highlighting of any code', () => {
  const piece = fc.constantFrom(
    '<',
    '>',
    '&',
    '"',
    "'",
    '\n',
    '\r\n',
    '`',
    '/*',
    '*/',
    '${',
    '}',
    '\u202e',
    '\u200b',
    'é',
    '😀',
    '</span>',
    '</pre>',
    '<script>',
    'const ',
    '#',
    '-- ',
  )
  const text = fc.array(piece, { maxLength: 40 }).map(pieces => pieces.join(''))

  test('its lines, without their tags, are the text', () => {
    fc.assert(
      fc.property(text, fc.constantFrom('a.ts', 'a.md', 'a.html', 'a.py', 'a.txt', 'Makefile'), (content, path) => {
        const html = code(content, path)
        expect(exactTextsOf(`<pre class="exact">\n${html}</pre>`)).toEqual([content])
        expect(dangersOf(html)).toEqual([])
        expect(tagsOf(html).length).toBe((html.match(/<\/(?:span|a|bdi)>/g) ?? []).length)
      }),
      { numRuns: 300 },
    )
  })
})

test('hostile code ends in time', () => {
  for (const unit of ['[', '"', '/*', '<!--', '`${', '((', '#!', '---\n', '\\', '@a ', '{{'])
    for (const path of ['a.ts', 'a.md', 'a.html', 'a.css', 'a.php', 'a.pl', 'a.yml'])
      expect(code(`${unit.repeat(900)}\n`.repeat(20), path).length).toBeGreaterThan(0)
})
