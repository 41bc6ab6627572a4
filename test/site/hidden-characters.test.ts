import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { countHidden, markHidden, spellHidden } from '#site/lib/hidden-characters.ts'
import { exactTextsOf } from './support/html.ts'

describe('hidden characters', () => {
  test.each([
    ['a\u200bb', 'U+200B'],
    ['a\u202eb', 'U+202E'],
    ['a\u2066b', 'U+2066'],
    ['\ufeffa', 'U+FEFF'],
    ['a\u00adb', 'U+00AD'],
    ['a\u{e0041}b', 'U+E0041'],
    ['a\u200db', 'U+200D'],
    ['a\ufe0fb', 'U+FE0F'],
    ['a\u{e0100}b', 'U+E0100'],
    ['a\u3164b', 'U+3164'],
    ['a\x1b[31mb', 'U+001B'],
    ['a\rb', 'U+000D'],
    ['a\u2028b', 'U+2028'],
    ['a\x85b', 'U+0085'],
  ])('%j is marked as %s', (text, code) => {
    expect(markHidden(text)).toContain(`data-code="${code}"`)
    expect(spellHidden(text)).toContain(`[${code}]`)
    expect(countHidden(text)).toBe(1)
  })

  test.each(['plain\n\ttext\r\n', '👩‍👩‍👧', '❤️', '🏳️‍🌈', '👍🏽', '1️⃣', 'می‌خواهم', 'क्‍ष', '葛󠄀', 'e\u0301', '日本語', 'שלום'])(
    '%s is ordinary writing',
    text => {
      expect(countHidden(text)).toBe(0)
      expect(spellHidden(text)).toBe(text)
    },
  )

  test('marking keeps every character', () => {
    const texts = fc.string({
      unit: fc.oneof(
        fc.constantFrom('\u202e', '\u200d', '<', '&', '"', '\n', '\r\n', 'a', '😀', '\u{e0041}'),
        fc.string({ unit: 'grapheme', maxLength: 2 }),
      ),
    })
    fc.assert(
      fc.property(texts, text => {
        fc.pre(!text.includes('\0'))
        expect(exactTextsOf(`<pre class="exact">\n${markHidden(text)}</pre>`)).toEqual([text])
      }),
    )
  })
})
