import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SKILL_PAGE_BREAK_SHARE, SKILL_PAGE_BYTES, SKILL_PAGE_MIN_BYTES } from '#core/limits.ts'
import {
  type ContextCut,
  type ContextPiece,
  type ContextPosition,
  countPages,
  cutSkillContext,
  START,
} from '#core/skill-pages.ts'
import { countCharacters, utf8Length } from '#core/text.ts'

test('joined pages give every piece whole, in order, each page within 16 KiB', () => {
  const character = fc.constantFrom('a', 'é', '漢', '🎻', 'e\u0301', '\n', '\r\n', '\u{10ffff}')
  const text = fc
    .tuple(fc.array(character, { minLength: 0, maxLength: 40 }), fc.nat(1500))
    .map(([characters, times]) => characters.join('').repeat(times))
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 5 }), texts => {
      const pages = cutAll(texts)
      for (const [number, page] of pages.entries()) {
        expect(utf8Length(page.map(cut => cut.content).join(''))).toBeLessThanOrEqual(SKILL_PAGE_BYTES)
        if (number < pages.length - 1) expect(page.some(cut => cut.content !== '')).toBe(true)
        for (const cut of page) expect(cut.content.isWellFormed()).toBe(true)
      }
      expect(countPages(texts)).toBe(pages.length)
      const cuts = pages.flat()
      expect(texts.map((_, piece) => joined(cuts, piece))).toEqual(texts)
      expect(cuts.map(cut => Number(cut.piece.path))).toEqual(cuts.map(cut => Number(cut.piece.path)).sort((a, b) => a - b))
    }),
    { numRuns: 60 },
  )
})

test.each([
  ['a full page', ['a'.repeat(SKILL_PAGE_BYTES)], 1],
  ['a byte more', ['a'.repeat(SKILL_PAGE_BYTES), 'a'], 2],
  ['a character of four bytes at the border', ['a'.repeat(SKILL_PAGE_BYTES - 3), '🎻'], 2],
  ['nothing', [], 1],
])('%s has as many pages as its cuts', (_, texts, pages) => {
  expect(countPages(texts)).toBe(pages)
})

test('fragments of a piece are numbered, contiguous by characters, and the last one is marked', () => {
  const text = '🎻 violin\n'.repeat(6_000)
  const cuts = cutAll(['first', text, 'last']).flat()
  const fragments = cuts.filter(cut => cut.piece.path === '1').map(cut => cut.fragment)
  expect(fragments.length).toBeGreaterThan(3)
  expect(fragments.map(fragment => fragment.index)).toEqual(fragments.map((_, index) => index))
  let offset = 0
  for (const fragment of fragments) {
    expect(fragment.offset).toBe(offset)
    expect(fragment.totalLength).toBe(countCharacters(text))
    offset += fragment.length
  }
  expect(offset).toBe(countCharacters(text))
  expect(fragments.map(fragment => fragment.last)).toEqual(fragments.map((_, index) => index === fragments.length - 1))
})

test('a page that cuts a piece ends behind the last line break of its last KiB', () => {
  const first = cutAll([`${'x'.repeat(SKILL_PAGE_BYTES - 500)}\n${'y'.repeat(100)}\n${'z'.repeat(2_000)}`])[0]?.[0]
  expect(first?.content).toBe(`${'x'.repeat(SKILL_PAGE_BYTES - 500)}\n${'y'.repeat(100)}\n`)
})

test('a line break before the last KiB does not shorten the page', () => {
  const [page] = cutAll([`${'x'.repeat(SKILL_PAGE_BYTES * (1 - SKILL_PAGE_BREAK_SHARE) - 1)}\n${'z'.repeat(2_000)}`])
  expect(utf8Length(page?.[0]?.content ?? '')).toBe(SKILL_PAGE_BYTES)
})

test('a page never splits a character, and stays below the limit instead', () => {
  const [page] = cutAll([`abc${'🎻'.repeat(5_000)}`])
  expect(utf8Length(page?.[0]?.content ?? '')).toBe(3 + 4 * Math.floor((SKILL_PAGE_BYTES - 3) / 4))
})

test('a piece of which no character fits any more begins on the next page', () => {
  const pages = cutAll(['x'.repeat(SKILL_PAGE_BYTES - 2), '漢字'])
  expect(pages.map(page => page.map(cut => cut.content))).toEqual([['x'.repeat(SKILL_PAGE_BYTES - 2)], ['漢字']])
  expect(pages[1]?.[0]?.fragment).toEqual({
    index: 0,
    offset: 0,
    length: 2,
    totalLength: 2,
    totalBytes: 6,
    totalTokens: 0,
    last: true,
  })
})

test('a text that fills a page exactly makes no second page, and an empty piece still has its fragment', () => {
  const pages = cutAll(['x'.repeat(SKILL_PAGE_BYTES), ''])
  expect(pages).toHaveLength(1)
  expect(pages[0]?.[1]?.fragment).toEqual({
    index: 0,
    offset: 0,
    length: 0,
    totalLength: 0,
    totalBytes: 0,
    totalTokens: 0,
    last: true,
  })
})

/** Every page, each cut from the position that the one before gave. */
test('shorter pages join to the same texts', () => {
  const texts = ['Rule.\n'.repeat(500), '漢字🎻 line\n'.repeat(900), '', 'x'.repeat(9_000)]
  const pages = cutAll(texts, SKILL_PAGE_MIN_BYTES)
  for (const page of pages) expect(utf8Length(page.map(cut => cut.content).join(''))).toBeLessThanOrEqual(SKILL_PAGE_MIN_BYTES)
  expect(texts.map((_, piece) => joined(pages.flat(), piece))).toEqual(texts)
})

function cutAll(texts: readonly string[], pageBytes?: number): ContextCut[][] {
  const pieces = texts.map((text, number): ContextPiece => {
    return { kind: 'include', path: String(number), characters: countCharacters(text), sizeBytes: utf8Length(text), tokens: 0 }
  })
  const pages: ContextCut[][] = []
  for (let start: ContextPosition | null = START; start !== null; ) {
    const page: ReturnType<typeof cutSkillContext> = cutSkillContext(
      pieces.slice(start.piece),
      texts.slice(start.piece),
      start,
      pageBytes,
    )
    pages.push(page.cuts)
    start = page.next
  }
  return pages
}

function joined(cuts: readonly ContextCut[], piece: number): string {
  return cuts
    .filter(cut => cut.piece.path === String(piece))
    .map(cut => cut.content)
    .join('')
}
