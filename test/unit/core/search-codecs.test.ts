import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ZodError } from 'zod'
import { ByteReader, ByteWriter, NO_BYTES } from '#core/search/bytes.ts'
import { type BlockIndex, decodeHead, encodeHead, ITEM_KIND, type SearchHead } from '#core/search/head.ts'
import { BLOCK_ITEMS, writeItemsBlock } from '#core/search/items-block.ts'
import { visitPostings } from '#core/search/postings.ts'
import { createTermsBlockWriter, INLINE_ITEMS } from '#core/search/terms-block.ts'
import { createWordsBlockWriter } from '#core/search/words-block.ts'
import { compareBytes, encodeText } from '#core/text.ts'
import { bytesOf, encodePostings, termPostings } from '#test/support/posting-list.ts'
import { readItemsBlock, readTermsBlock, readWordsBlock } from '#test/support/search-section.ts'

const word = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
const words = fc.uniqueArray(word, { maxLength: 40 }).map(list => list.sort(compareBytes))
const uint32 = fc.integer({ min: 0, max: 0xffff_ffff })

/** What reading may throw over bytes that nobody wrote. */
function refusalOf(read: () => unknown): unknown {
  try {
    read()
    return null
  } catch (error) {
    return error
  }
}

function expectRefusalsOnly(read: (bytes: Uint8Array) => unknown): void {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), bytes => {
      const refusal = refusalOf(() => read(bytes))
      const isRefusal = [RangeError, TypeError, SyntaxError, ZodError].some(kind => refusal instanceof kind)
      expect(refusal === null || isRefusal).toBe(true)
    }),
    { numRuns: 500 },
  )
}

describe('numbers and texts', () => {
  test('are read as they were written', () => {
    fc.assert(
      fc.property(fc.array(uint32), words, (numbers, texts) => {
        const writer = new ByteWriter(1)
        for (const number of numbers) writer.varint(number)
        let previous: Uint8Array = NO_BYTES
        for (const text of texts) {
          writer.text(encodeText(text), previous)
          previous = encodeText(text)
        }
        const reader = new ByteReader(writer.finish())
        expect(numbers.map(() => reader.varint())).toEqual(numbers)
        previous = NO_BYTES
        for (const text of texts) {
          previous = reader.text(previous)
          expect(Buffer.from(previous).toString()).toBe(text)
        }
        expect(reader.atEnd).toBe(true)
      }),
    )
  })

  test('that end too early, or are too long, are refused', () => {
    expect(() => new ByteReader(Uint8Array.of(0x80)).varint()).toThrow(RangeError)
    expect(() => new ByteReader(Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0x7f)).varint()).toThrow(RangeError)
    expect(() => new ByteReader(Uint8Array.of(1, 0)).text(NO_BYTES)).toThrow(RangeError)
    expect(() => new ByteReader(Uint8Array.of(0, 9, 1)).text(NO_BYTES)).toThrow(RangeError)
  })
})

describe('postings', () => {
  const postings = fc
    .uniqueArray(fc.tuple(fc.integer({ min: 0, max: 999_999 }), fc.integer({ min: 3, max: 254 })), {
      selector: ([item]) => item,
      maxLength: 60,
    })
    .map(list => list.sort(([left], [right]) => left - right))

  test('are read as they were written', () => {
    fc.assert(
      fc.property(postings, list => {
        const read: [number, number][] = []
        visitPostings(encodePostings(list), list.length, 1_000_000, (item, posting) => read.push([item, posting]))
        expect(read).toEqual(list)
      }),
    )
  })

  test('that are fewer, more, or of missing items are refused', () => {
    fc.assert(
      fc.property(
        postings.filter(list => list.length > 0),
        list => {
          const bytes = encodePostings(list)
          const [last] = list.at(-1) as [number, number]
          expect(() => visitPostings(bytes.subarray(0, -1), list.length, 1_000_000, () => {})).toThrow(RangeError)
          expect(() => visitPostings(bytes, list.length + 1, 1_000_000, () => {})).toThrow(RangeError)
          expect(() => visitPostings(bytes, list.length - 1, 1_000_000, () => {})).toThrow(RangeError)
          expect(() => visitPostings(bytes, list.length, last, () => {})).toThrow(RangeError)
        },
      ),
    )
  })
})

describe('blocks', () => {
  const long = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 80 })
  const terms = fc.uniqueArray(fc.oneof(word, long), { maxLength: 40 }).map(list => list.sort(compareBytes))
  const gap = fc.oneof(fc.nat(3), fc.integer({ min: 100, max: 300 }), fc.integer({ min: 16_000, max: 3_000_000 }))
  const lists = fc.array(
    fc.array(fc.tuple(gap, fc.integer({ min: 3, max: 254 })), { minLength: 1, maxLength: 2 * INLINE_ITEMS }),
    {
      minLength: 40,
      maxLength: 40,
    },
  )

  test('of terms are read as they were written, with the location of every list outside', () => {
    fc.assert(
      fc.property(terms, lists, (texts, gaps) => {
        const writer = createTermsBlockWriter()
        let behind = 0
        const expected = texts.map((term, index) => {
          let item = -1
          const postings = (gaps[index] ?? []).map(([before, posting]) => {
            item += before + 1
            return [item, posting] as const
          })
          const list = encodePostings(postings)
          const isInline = postings.length <= INLINE_ITEMS
          expect(writer.add(termPostings(term, postings))).toBe(isInline)
          const place = { start: behind, end: behind + list.length }
          if (!isInline) behind = place.end
          return { term, items: postings.length, postings: isInline ? list : place }
        })
        expect(readTermsBlock(writer.finish())).toEqual(expected)
        expect(writer.bytes()).toBe(0)
      }),
    )
  })

  test('of terms start empty', () => {
    const writer = createTermsBlockWriter()
    const blocks = [1, 2].map(() => {
      writer.add(termPostings('zebra', [[7, 5]]))
      return writer.finish()
    })
    expect(blocks[1]).toEqual(blocks[0])
  })

  test('of words are read as they were written', () => {
    fc.assert(
      fc.property(words, list => {
        const writer = createWordsBlockWriter()
        const entries = list.map((each, index) => ({ word: each, items: index + 1 }))
        for (const { word, items } of entries) writer.add(bytesOf(word), items)
        expect(writer.words).toBe(list.length)
        expect(readWordsBlock(writer.finish())).toEqual(entries)
      }),
    )
  })

  test('of items are read as they were written, and have at most as many as a block has', () => {
    const item = { path: 'a.md', title: 'A', summary: '', text: [0, 1, 2] as [number, number, number] }
    const full = Array.from({ length: BLOCK_ITEMS }, () => item)
    expect(readItemsBlock(writeItemsBlock([item, { ...item, text: null }]))).toEqual([item, { ...item, text: null }])
    expect(readItemsBlock(writeItemsBlock(full))).toEqual(full)
    expect(() => readItemsBlock(writeItemsBlock([...full, item]))).toThrow(ZodError)
    expect(() => readItemsBlock(writeItemsBlock([]))).toThrow(ZodError)
  })

  test('of random bytes are refused, or read as something else', () => {
    expectRefusalsOnly(readTermsBlock)
    expectRefusalsOnly(readWordsBlock)
    expectRefusalsOnly(readItemsBlock)
  })
})

/** Some skills as copies of the last one. */
function copiesAmong(items: readonly { kind: number; isCopy: boolean }[]): Map<number, number> {
  const original = items.findLastIndex(({ kind }) => kind === ITEM_KIND.skill)
  const copies = items.flatMap(({ kind, isCopy }, item): [number, number][] =>
    kind === ITEM_KIND.skill && isCopy && item !== original ? [[item, original]] : [],
  )
  return new Map(copies)
}

describe('a head', () => {
  const index: fc.Arbitrary<BlockIndex> = fc
    .tuple(words, fc.array(fc.integer({ min: 0, max: 1_000_000 }), { minLength: 41, maxLength: 41 }))
    .map(([firstKeys, numbers]) => ({
      firstKeys,
      starts: Uint32Array.from(numbers.slice(0, firstKeys.length + 1)).sort(),
    }))
  const head: fc.Arbitrary<SearchHead> = fc
    .record({
      items: fc.array(
        fc.record({
          kind: fc.constantFrom(...Object.values(ITEM_KIND)),
          owner: fc.nat(),
          aside: fc.nat(1),
          isCopy: fc.boolean(),
          titleLength: fc.integer({ min: 0, max: 255 }),
        }),
        { maxLength: 50 },
      ),
      terms: index,
      items2: index,
      words: index,
      checksums: fc.array(uint32, { maxLength: 20 }),
    })
    .map(({ items, terms, items2, words, checksums }) => ({
      asides: Uint8Array.from(items, ({ aside }) => aside),
      copies: copiesAmong(items),
      kinds: Uint8Array.from(items, ({ kind }) => kind),
      owners: Int32Array.from(items, ({ kind, owner }, number) =>
        kind === ITEM_KIND.document ? -1 : kind === ITEM_KIND.skill ? number : owner % items.length,
      ),
      titleLengths: Uint8Array.from(items, ({ titleLength }) => titleLength),
      terms,
      postings: terms.starts,
      items: items2,
      words,
      checksums: Uint32Array.from(checksums),
    }))

  test('is read as it was written', () => {
    fc.assert(
      fc.property(head, written => {
        expect(decodeHead(encodeHead(written))).toEqual(written)
      }),
    )
  })

  test('that ends too early or goes on is refused', () => {
    fc.assert(
      fc.property(head, fc.nat(), (written, cut) => {
        const bytes = encodeHead(written)
        expect(() => decodeHead(bytes.subarray(0, cut % bytes.length))).toThrow()
        expect(() => decodeHead(Uint8Array.of(...bytes, 0))).toThrow(RangeError)
      }),
    )
  })

  test('of random bytes is refused, or read as something else', () => {
    expectRefusalsOnly(decodeHead)
  })
})
