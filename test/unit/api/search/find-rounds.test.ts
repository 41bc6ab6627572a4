import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createRoundsStore } from '#test/support/rounds-store.ts'
import {
  type FindOptions,
  openSearchApp,
  type SearchApp,
  type Searchable,
  writeSearchSnapshot,
} from '#test/support/search-app.ts'

/** Documents and skills of words that each stand in some of them. */
function library(files: number, words: number): Searchable {
  let random = 1
  const word = () => {
    random = (Math.imul(random, 1_103_515_245) + 12_345) >>> 0
    return `word${Math.floor((random / 2 ** 32) ** 2 * words)}`
  }
  const text = (title: string) => `# ${title}\n\n${Array.from({ length: 200 }, word).join(' ')}\n`
  return Object.fromEntries(
    Array.from({ length: files }, (_, number) => [
      number % 50 === 0
        ? `skills/s${number}/SKILL.md`
        : number % 50 < 4
          ? `skills/s${number - (number % 50)}/r${number}.md`
          : `docs/d${number % 13}/${number}.md`,
      { title: `Wonderful number ${number}`, summary: `Summary ${number}`, body: text(`Wonderful number ${number}`) },
    ]),
  )
}

const blobs = { small: createRoundsStore(), large: createRoundsStore() }
let app: SearchApp | null = null

beforeAll(async () => {
  await writeSearchSnapshot(library(60, 200), blobs.small)
  await writeSearchSnapshot(library(3_000, 20_000), blobs.large)
})
afterEach(() => app?.close())

type Size = keyof typeof blobs

/** Asks a service that has read nothing but the header. */
async function ask(size: Size, query: string, options: FindOptions = {}) {
  await app?.close()
  app = await openSearchApp(blobs[size])
  blobs[size].reset()
  const page = await app.find(query, options)
  return { ...blobs[size].reads, page }
}

describe.for<[string, string, FindOptions]>([
  ['a word', 'word7', {}],
  ['a question', 'how do I do word3 from word55 and word1007 with word9', {}],
  ['a skill', 'wonderful number 150', {}],
  ['a folder', 'word7', { path: 'docs/d3' }],
  ['a mounted folder', 'word7', { mount: 'docs/d3' }],
  ['a folder of a mounted folder, many results', 'word7 wonderful', { mount: 'docs', path: 'docs/d3', limit: 25 }],
])('%s', ([, query, options]) => {
  test('takes at most five rounds of reads, two in a small repository', async () => {
    const large = await ask('large', query, options)
    expect(large.rounds.length).toBeLessThanOrEqual(5)
    expect(large.page.items.length).toBeGreaterThan(0)
    // The last round reads rows and texts.
    const ofSection = large.rounds.slice(0, -1).reduce((sum, reads) => sum + reads, 0)
    expect(ofSection).toBeLessThanOrEqual(16)
    const small = await ask('small', query, options)
    expect(small.rounds.length).toBeLessThanOrEqual(2)
    expect(small.rounds[0]).toBeLessThanOrEqual(2)
  })
})

test('a misspelled word takes at most two further rounds, and none in a small repository', async () => {
  const large = await ask('large', 'wunderful word7 nmber')
  expect(large.rounds.length).toBeLessThanOrEqual(7)
  expect(large.page.items.length).toBeGreaterThan(0)
  expect((await ask('small', 'wunderful nmber')).rounds.length).toBeLessThanOrEqual(2)
})

test('stop words and short words that no item has are not respelled', async () => {
  expect((await ask('large', 'what should they have been with word7 qzx')).rounds.length).toBeLessThanOrEqual(5)
})

test('a query without matches reads no postings, items or texts', async () => {
  const { rounds, page } = await ask('large', 'qqqqqqqq zzzzzzzz')
  expect([rounds.length, page.items]).toEqual([3, []])
})

test('asking again reads nothing', async () => {
  await ask('large', 'word7 wonderful')
  blobs.large.reset()
  await app?.find('word7 wonderful')
  expect(blobs.large.reads.rounds).toEqual([])
})
