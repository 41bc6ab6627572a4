import { beforeAll, describe, expect, test } from 'vitest'
import type { SearchReader } from '#api/search/section-reader.ts'
import { closeWords } from '#api/search/spelling.ts'
import { visitPostings } from '#core/search/postings.ts'
import { compareBytes } from '#core/text.ts'
import { type Content, MEGABYTE, openFrom, sectionOf, type Written, write } from './written-section.ts'

const UNAVAILABLE = expect.objectContaining({ code: 'skill.unavailable' })

const small = sectionOf(70, 40)
const large = sectionOf(9_000, 4_000)
let smallBytes: Written
let largeBytes: Written

beforeAll(async () => {
  smallBytes = await write(small)
  largeBytes = await write(large)
})

test('one of the two sections is read in one piece, the other by range', () => {
  expect(smallBytes.bytes.length).toBeLessThan(MEGABYTE)
  expect(largeBytes.bytes.length).toBeGreaterThan(MEGABYTE)
})

describe.for([
  ['small', 1],
  ['small', 3],
  ['large', 1],
  ['large', 3],
] as const)('a %s section in %i packs', ([size, packs]) => {
  let content: Content
  let reader: SearchReader
  beforeAll(async () => {
    content = size === 'small' ? small : large
    reader = await openFrom(size === 'small' ? smallBytes : largeBytes, packs)
  })

  test('gives every term with its postings, and no other', async () => {
    const terms = [...content.terms.keys()].filter((_, index) => index % 37 === 0)
    const found = await reader.lookUp([...terms, 'nowhere', '', '\u{10ffff}'].map(term => ({ term, orLonger: false })))
    expect(found.map(([term]) => term?.term)).toEqual([...terms, undefined, undefined, undefined])
    const lists = await reader.postings(found.flat())
    for (const [index, term] of terms.entries()) {
      const read: [number, number][] = []
      visitPostings(lists[index] ?? new Uint8Array(), found[index]?.[0]?.items ?? 0, content.items.length, (item, posting) => {
        read.push([item, posting])
      })
      expect(read).toEqual([...(content.terms.get(term) ?? [])].sort(([left], [right]) => left - right))
    }
  })

  test('gives at most 16 pairs for a single character, the most frequent ones', async () => {
    const [alone, pairs, many] = await reader.lookUp(['独', '水', '山'].map(term => ({ term, orLonger: true })))
    expect(alone?.map(({ term }) => term)).toEqual(['独'])
    expect(pairs?.map(({ term }) => term)).toEqual(['水一', '水三', '水二'])
    const all = [...content.terms.keys()].filter(term => term.startsWith('山')).sort(compareBytes)
    const frequency = (term: string) => content.terms.get(term)?.size ?? 0
    const frequent = all.toSorted((left, right) => frequency(right) - frequency(left))
    expect(frequency(frequent[0] ?? '')).toBeGreaterThan(frequency(frequent[16] ?? ''))
    expect(many?.map(({ term }) => term)).toEqual(frequent.slice(0, 16))
  })

  test('gives the items below a folder', async () => {
    const paths = content.items.map(({ path }) => path)
    for (const folder of ['', 'a', 'b', 'b/f0', 'b/f1', 'b/f', 'b/f1.5', 'c', 'zz', 'b/f3/nothing']) {
      const [from, to] = await reader.itemsBelow(folder)
      const right = paths.filter(path => folder === '' || path.startsWith(`${folder}/`))
      expect([folder, paths.slice(from, to)]).toEqual([folder, right])
    }
  })

  test('gives items by number', async () => {
    const numbers = [0, 31, 32, content.items.length - 1, 5, 5]
    const items = await reader.items(numbers)
    for (const number of numbers) expect(items.get(number)?.path).toBe(content.items[number]?.path)
    expect(items.size).toBe(5)
    await expect(reader.items([content.items.length])).rejects.toEqual(UNAVAILABLE)
  })

  test.for(['kett', 'kettel', 'wordagain', 'word1O', 'kettledrmus', 'wrod', 'qqqqqqqq'])(
    'gives all words that %s may mean',
    async misspelled => {
      const [words = []] = await reader.wordsNear([misspelled])
      const all = content.words.map(word => ({ word, items: content.terms.get(word)?.size ?? 0 }))
      expect(closeWords(misspelled, words)).toEqual(closeWords(misspelled, all))
      expect(words.length).toBeLessThan(all.length)
    },
  )
})
