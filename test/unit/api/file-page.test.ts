import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cutFilePage } from '#api/reading/file-page.ts'

test('joined pages give the text, at any limit, and no page splits a character', () => {
  const text = fc.array(fc.constantFrom('a', 'é', '漢', '🎻', '👩‍👩‍👧', 'e\u0301', '\n', '\ufeff')).map(parts => parts.join(''))
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 20 }), (whole, limit) => {
      const pages: string[] = []
      for (let offset: number | null = 0; offset !== null; ) {
        const page: ReturnType<typeof cutFilePage> = cutFilePage(whole, { offset, limit })
        expect(page.content.isWellFormed()).toBe(true)
        expect([...page.content].length).toBeLessThanOrEqual(limit)
        expect(page.totalLength).toBe([...whole].length)
        pages.push(page.content)
        offset = page.nextOffset
      }
      expect(pages.join('')).toBe(whole)
    }),
  )
})

test('an offset at the end gives an empty last page, one past the end is refused', () => {
  expect(cutFilePage('ab🎻', { offset: 3, limit: 5 })).toEqual({ content: '', offset: 3, nextOffset: null, totalLength: 3 })
  expect(() => cutFilePage('ab🎻', { offset: 4, limit: 5 })).toThrow(expect.objectContaining({ code: 'request.invalid' }))
})
