import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { MONO, openCardFonts, readCoverage, SANS } from '#api/pictures/card-fonts.ts'

const fonts = openCardFonts()
const namesOf = async (text: string, families: readonly string[]) =>
  [...new Set([...(await fonts.match(text, families)).fonts].map(({ family }) => family))].sort()

describe('the fonts of a text', () => {
  test.each<[text: string, lang: string | null, names: string[]]>([
    ['plain', null, [SANS]],
    ['한국어', null, ['Korean']],
    ['한국어', 'ko', ['Korean']],
    ['漢字', null, ['Chinese']],
    ['漢字', 'ja', ['Japanese']],
    ['语 and 한국어', 'ja', ['Chinese', 'Korean', SANS]],
    ['العربية', null, ['Arabic']],
    ['שָׁלוֹם', null, ['Hebrew']],
    ['ไทย', null, ['Thai']],
    ['हिन्दी', null, ['Noto']],
    ['a\u200bb\u00ad\ufe0f', null, [SANS]],
    ['\u{1fbff}\u{e000}', null, []],
  ])('%s in the language %s are %j, which have its characters', async (text, lang, names) => {
    expect(await namesOf(text, fonts.familiesFor(lang))).toEqual(names.sort())
    const matched = await fonts.match(text, fonts.familiesFor(lang))
    const visible = [...matched.text].filter(one => !/\p{Default_Ignorable_Code_Point}/u.test(one))
    for (const character of visible) {
      const code = character.codePointAt(0) ?? 0
      const has = [...matched.fonts].some(({ unicodeRange }) =>
        unicodeRange.some(([first, last]) => first <= code && code <= last),
      )
      expect([character, has]).toEqual([character, true])
    }
  })

  test('the characters of an address use the font of addresses first', async () => {
    expect(await namesOf('docs', [MONO, ...fonts.familiesFor(null)])).toEqual([MONO])
  })
})

describe('a character that no font has', () => {
  test.each([
    ['abc ბბ', '', 'abc ', 2 / 6],
    ['docs/ბ', '…', 'docs/…', 1 / 6],
    ['x\u0bbe', '', 'x', 1 / 2],
    ['\u{1fbff}', '', '', 1],
    ['', '', '', 0],
  ])('%j with %j is %j', async (text, substitute, kept, missingShare) => {
    const matched = await fonts.match(text, fonts.familiesFor(null), { substitute })
    expect([matched.text, matched.missingShare]).toEqual([kept, missingShare])
  })
})

test('the characters of a file are those of its table, and not those that its package lists', async () => {
  const list = createRequire(import.meta.url).resolve('@fontsource-variable/noto-sans-sc/unicode.json')
  const coverage = await readCoverage(await readFile(join(dirname(list), 'files/noto-sans-sc-105-wght-normal.woff2')))
  const has = (character: string) =>
    coverage.some(([first, last]) => first <= (character.codePointAt(0) ?? 0) && (character.codePointAt(0) ?? 0) <= last)
  expect(['한', '국', '어'].filter(has)).toEqual([])
  expect(coverage.every(([first, last], index) => first <= last && (coverage[index - 1]?.[1] ?? -1) < first)).toBe(true)
  await expect(readCoverage(Buffer.from('no font at all'))).rejects.toThrow('WOFF2')
})
