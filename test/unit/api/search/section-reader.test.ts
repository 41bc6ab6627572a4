import { beforeAll, describe, expect, test } from 'vitest'
import { openSection, type SearchReader } from '#api/search/section-reader.ts'
import { closeWords } from '#api/search/spelling.ts'
import { createCache } from '#api/snapshot/cache.ts'
import { PAGE_BYTES } from '#core/search/head.ts'
import { visitPostings } from '#core/search/postings.ts'
import { compareBytes } from '#core/text.ts'
import { type Content, inMemory, MEGABYTE, sectionOf, store, type Written, write } from './written-section.ts'

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
    const { open } = await store(size === 'small' ? smallBytes : largeBytes, packs)
    reader = await open()
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

  test('reads one round a call, and nothing twice', async () => {
    const { blobs: fresh, open } = await store(size === 'small' ? smallBytes : largeBytes, packs)
    const terms = ['word0', 'word7', 'kettle', 'common']
    const rounds: number[] = []
    async function counted<Value>(read: () => Promise<Value>): Promise<Value> {
      fresh.reset()
      const value = await read()
      rounds.push(fresh.reads.rounds.length)
      return value
    }
    const cold = await counted(open)
    const [found] = await counted(() => {
      return Promise.all([
        cold.lookUp(terms.map(term => ({ term, orLonger: false }))),
        cold.itemsBelow('b/f1'),
        cold.itemsBelow('b'),
      ])
    })
    await counted(() => cold.wordsNear(['kettel', 'commmon']))
    await counted(() => cold.postings(found.flat()))
    await counted(() => cold.items([Math.floor(content.items.length / 2)]))
    expect(rounds).toEqual(size === 'small' ? [1, 0, 0, 0, 0] : [1, 1, 1, 1, 1])

    fresh.reset()
    const again = await open()
    await again.lookUp(terms.map(term => ({ term, orLonger: false })))
    await again.postings(found.flat())
    expect(fresh.reads.rounds).toEqual([])
  })
})

describe('damage', () => {
  test('a changed byte anywhere in a small section makes it unavailable', async () => {
    const { packs, stored } = inMemory(smallBytes, 2)
    for (const pack of packs) {
      for (const at of pack.keys()) {
        pack[at] = (pack[at] ?? 0) ^ 0x10
        await expect(openSection({ ...stored, cache: createCache(MEGABYTE) })).rejects.toEqual(UNAVAILABLE)
        pack[at] = (pack[at] ?? 0) ^ 0x10
      }
    }
    expect((await openSection({ ...stored, cache: createCache(MEGABYTE) })).head.kinds.length).toBe(small.items.length)
  })

  test('a changed byte of a large section makes it unavailable, or is not read', async () => {
    const { packs, stored } = inMemory(largeBytes, 2)
    const right = await askAll(await openSection({ ...stored, cache: createCache(8 * MEGABYTE) }))
    let unavailable = 0
    let harmless = 0
    for (const pack of packs) {
      for (let at = 0; at < pack.length; at += 3_989) {
        pack[at] = (pack[at] ?? 0) ^ 0x01
        try {
          expect(await askAll(await openSection({ ...stored, cache: createCache(8 * MEGABYTE) }))).toEqual(right)
          harmless++
        } catch (error) {
          expect(error).toEqual(UNAVAILABLE)
          unavailable++
        }
        pack[at] = (pack[at] ?? 0) ^ 0x01
      }
    }
    expect([unavailable > 10, harmless > 10]).toEqual([true, true])
  })

  test('a pack cut short at any page makes the section unavailable, or is not read so far', async () => {
    const { packs, stored } = inMemory(largeBytes, 2)
    const right = await askAll(await openSection({ ...stored, cache: createCache(8 * MEGABYTE) }))
    for (const [number, whole] of [...packs.entries()]) {
      for (let end = 0; end < whole.length; end += PAGE_BYTES) {
        packs[number] = whole.slice(0, end)
        try {
          expect(await askAll(await openSection({ ...stored, cache: createCache(8 * MEGABYTE) }))).toEqual(right)
        } catch (error) {
          expect(error).toEqual(UNAVAILABLE)
        }
      }
      packs[number] = whole
    }
  })

  test('a section of two packs is unavailable while one of them is missing', async () => {
    const { packs, stored } = inMemory(smallBytes, 2)
    const cache = createCache(MEGABYTE)
    const [first] = packs.splice(0, 1, new Uint8Array())
    await expect(openSection({ ...stored, cache })).rejects.toEqual(UNAVAILABLE)
    packs[0] = first ?? new Uint8Array()
    expect((await openSection({ ...stored, cache })).head.kinds.length).toBe(small.items.length)
  })
})

async function askAll(reader: SearchReader) {
  const found = await reader.lookUp(['word0', 'kettle', 'common', 'nowhere'].map(term => ({ term, orLonger: false })))
  return {
    found,
    lists: await reader.postings(found.flat()),
    words: await reader.wordsNear(['kettel']),
    below: await reader.itemsBelow('b/f1'),
    items: await reader.items([0, 50]),
  }
}
