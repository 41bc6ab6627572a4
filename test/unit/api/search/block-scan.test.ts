import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findNearWords, findTerms } from '#api/search/block-scan.ts'
import { closeWords } from '#api/search/spelling.ts'
import { createTermsBlockWriter, readTermsBlock, writeSpellingBlock } from '#core/search/blocks.ts'
import { compareBytes, encodeText } from '#core/text.ts'

const letter = fc.constantFrom('a', 'b', 'z', '0', '_', 'é', 'я', '水', '𠮷')
const text = fc.string({ unit: letter, minLength: 1, maxLength: 6 })
const sorted = fc.uniqueArray(text, { minLength: 1, maxLength: 60 }).map(terms => terms.sort(compareBytes))

test('a term is found as the whole block has it, and those that begin with it where they are wished for', () => {
  fc.assert(
    fc.property(
      sorted,
      fc.array(fc.nat(40), { minLength: 60, maxLength: 60 }),
      text,
      fc.boolean(),
      (terms, lengths, term, orLonger) => {
        const writer = createTermsBlockWriter()
        for (const [index, stored] of terms.entries()) {
          const length = lengths[index] ?? 0
          // Longer lists than 14 bytes stand elsewhere.
          const postings = length <= 14 ? new Uint8Array(length).fill(index) : length
          writer.add({ term: encodeText(stored), items: index + 1, postings })
        }
        const block = writer.finish()
        const right = [...readTermsBlock(block)].filter(entry => (orLonger ? entry.term.startsWith(term) : entry.term === term))
        expect(findTerms(block, { term, orLonger })).toEqual(right)
      },
    ),
    { numRuns: 500 },
  )
})

test('of a block of words all stay that a misspelled one may mean', () => {
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
        const near = findNearWords(writeSpellingBlock(entries), misspelled, misspelled.length >= 8 ? 2 : 1)
        expect(closeWords(misspelled, near)).toEqual(closeWords(misspelled, entries))
      }
    }),
    { numRuns: 500 },
  )
})

test('words without a letter in common are passed over', () => {
  const entries = ['aaaaa', 'xyxyx'].map(word => ({ word, items: 1 }))
  expect(findNearWords(writeSpellingBlock(entries), 'xyxy', 1)).toEqual([{ word: 'xyxyx', items: 1 }])
})

test.for<[string, number[]]>([
  ['cut in a term', [0, 5, 97]],
  ['cut in postings', [0, 1, 97, 1, 3, 1]],
  ['sharing more than there is', [3, 1, 97, 1, 0]],
  ['with a text of four gigabytes', [0, 0xff, 0xff, 0xff, 0xff, 0x0f, 97]],
])('a block %s is refused', ([, bytes]) => {
  expect(() => findTerms(Uint8Array.from(bytes), { term: 'z', orLonger: true })).toThrow(RangeError)
  expect(() => findNearWords(Uint8Array.from(bytes.slice(0, 3)), 'zebra', 1)).toThrow(RangeError)
})
