import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findNearWords, findTerms } from '#api/search/block-scan.ts'
import { closeWords } from '#api/search/spelling.ts'
import { createTermsBlockWriter, INLINE_ITEMS } from '#core/search/terms-block.ts'
import { createWordsBlockWriter, type SpellingEntry } from '#core/search/words-block.ts'
import { compareBytes } from '#core/text.ts'
import { bytesOf, termPostings } from '#test/support/posting-list.ts'
import { readTermsBlock } from '#test/support/search-section.ts'

const letter = fc.constantFrom('a', 'b', 'z', '0', '_', 'é', 'я', '水', '𠮷')
const text = fc.string({ unit: letter, minLength: 1, maxLength: 6 })
const sorted = fc.uniqueArray(text, { minLength: 1, maxLength: 60 }).map(terms => terms.sort(compareBytes))

test('a lookup finds its term in a block, and longer terms only on request', () => {
  fc.assert(
    fc.property(
      sorted,
      fc.array(fc.integer({ min: 1, max: 2 * INLINE_ITEMS }), { minLength: 60, maxLength: 60 }),
      text,
      fc.boolean(),
      (terms, counts, term, orLonger) => {
        const writer = createTermsBlockWriter()
        for (const [index, stored] of terms.entries()) {
          const items = Array.from({ length: counts[index] ?? 1 }, (_, item) => [item * 100 + index, 3 + item] as const)
          writer.add(termPostings(stored, items))
        }
        const block = writer.finish()
        const right = readTermsBlock(block).filter(entry => (orLonger ? entry.term.startsWith(term) : entry.term === term))
        expect(findTerms(block, { term, orLonger })).toEqual(right)
      },
    ),
    { numRuns: 500 },
  )
})

test('the near words of a block include every close word', () => {
  const units = fc.constantFrom('a', 'b', 'e', 'n', 'r', 's', 't', '1', 'é', 'я')
  const word = (length: number) => fc.string({ unit: units, minLength: length, maxLength: length })
  const block = fc.integer({ min: 4, max: 12 }).chain(length => fc.uniqueArray(word(length), { minLength: 1, maxLength: 40 }))
  const place = fc.nat(12)
  fc.assert(
    fc.property(block, place, place, units, (words, from, at, letter) => {
      const [meant = ''] = words.slice(from % words.length)
      const misspellings = [
        meant.slice(0, at) + letter + meant.slice(at),
        meant.slice(0, at) + letter + meant.slice(at + 1),
        meant.slice(0, at) + meant.slice(at + 1),
        meant.slice(0, at) +
          meant
            .slice(at, at + 2)
            .split('')
            .reverse()
            .join('') +
          meant.slice(at + 2),
        `${letter}${meant.slice(0, at)}${letter}${meant.slice(at)}`,
        meant.slice(0, 4),
      ]
      const entries = words.sort(compareBytes).map((stored, index) => ({ word: stored, items: index + 1 }))
      for (const misspelled of misspellings) {
        const near = findNearWords(wordsBlock(entries), misspelled, misspelled.length >= 8 ? 2 : 1)
        expect(closeWords(misspelled, near)).toEqual(closeWords(misspelled, entries))
      }
    }),
    { numRuns: 500 },
  )
})

test('words without a common letter are skipped', () => {
  const entries = ['aaaaa', 'xyxyx'].map(word => ({ word, items: 1 }))
  expect(findNearWords(wordsBlock(entries), 'xyxy', 1)).toEqual([{ word: 'xyxyx', items: 1 }])
})

test.for<[string, number[]]>([
  ['that ends in front of its columns', [1]],
  ['with a column of four gigabytes', [0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0, 0, 0]],
  ['with a text that shares more than there is', [1, 1, 0, 0, 0, 0x31, 97]],
  ['with a text that is not there', [1, 1, 0, 0, 0, 0x02, 122]],
  ['with a text of four gigabytes', [6, 1, 0, 0, 0, 0x0f, 0xff, 0xff, 0xff, 0xff, 0x0f, 122]],
  ['without a list', [1, 1, 0, 0, 0, 0x01, 122]],
  ['without gaps', [1, 1, 1, 0, 0, 0x01, 122, 1, 3]],
  ['without postings', [1, 1, 1, 0, 1, 0x01, 122, 1, 0]],
  ['without the length of a list', [1, 1, 1, 0, 0, 0x01, 122, 100]],
])('a block of terms %s is refused', ([, bytes]) => {
  expect(() => findTerms(Uint8Array.from(bytes), { term: 'z', orLonger: false })).toThrow(RangeError)
})

test.for<[string, number[]]>([
  ['that ends in front of its columns', [1]],
  ['with a text that shares more than there is', [1, 1, 0x31, 97, 1]],
  ['with a text that is not there', [1, 1, 0x02, 122]],
  ['without a count', [1, 1, 0x01, 122]],
])('a block of words %s is refused', ([, bytes]) => {
  expect(() => findNearWords(Uint8Array.from(bytes), 'zebra', 1)).toThrow(RangeError)
})

function wordsBlock(entries: readonly SpellingEntry[]): Uint8Array {
  const writer = createWordsBlockWriter()
  for (const { word, items } of entries) writer.add(bytesOf(word), items)
  return writer.finish()
}
