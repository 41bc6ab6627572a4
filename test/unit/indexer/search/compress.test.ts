import { inflateRawSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createTermsBlockWriter, INLINE_ITEMS, partsOfTermsBlock } from '#core/search/terms-block.ts'
import { compress, compressParts } from '#indexer/search/section-writer.ts'
import { termPostings } from '#test/support/posting-list.ts'

const part = fc.record({
  bytes: fc.uint8Array({ minLength: 1, maxLength: 300 }).map(bytes => Uint8Array.from(bytes)),
  isText: fc.boolean(),
})

test('parts are one stream, for any parts', () => {
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 6 }), parts => {
      const whole = Buffer.concat(parts.map(({ bytes }) => bytes))
      expect(inflateRawSync(compressParts(parts)).equals(whole)).toBe(true)
    }),
  )
})

test('compressed bytes hold no more memory than their length', () => {
  for (const bytes of [new Uint8Array(0), new Uint8Array(100_000)]) {
    const packed = compress(bytes)
    expect(packed.buffer.byteLength).toBe(packed.length)
    expect(inflateRawSync(packed).length).toBe(bytes.length)
  }
})

test('a block of terms is in its parts, without those that are empty', () => {
  const writer = createTermsBlockWriter()
  const some = Array.from({ length: INLINE_ITEMS + 1 }, (_, item) => [item, 3] as const)
  writer.add(termPostings('outside', some))
  const block = writer.finish()
  const parts = partsOfTermsBlock(block)
  expect(Buffer.concat(parts.map(({ bytes }) => bytes)).equals(block)).toBe(true)
  expect(parts.map(({ isText }) => isText)).toEqual([false, true, false])
  expect(parts.every(({ bytes }) => bytes.length > 0)).toBe(true)
})
