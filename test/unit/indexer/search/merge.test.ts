import fc from 'fast-check'
import { expect, test } from 'vitest'
import { textOf } from '#core/search/bytes.ts'
import { PLACE, packPosting, visitPostings } from '#core/search/postings.ts'
import { compareBytes } from '#core/text.ts'
import { mergeTerms } from '#indexer/search/merge.ts'
import { createPostingRun } from '#indexer/search/run.ts'
import type { Scratch } from '#indexer/search/scratch.ts'
import { readRun, storeRun } from '#indexer/search/stored-run.ts'
import type { TermSource } from '#indexer/search/term-source.ts'
import { encodedList } from '#test/support/posting-list.ts'

type Posted = readonly [term: string, item: number, posting: number]

const ITEMS = 300
const posted: fc.Arbitrary<Posted[]> = fc
  .uniqueArray(
    fc.tuple(
      fc.constantFrom('a', 'ab', 'b', 'é', '\uffee', '\u{10000}', 'zebra'),
      fc.integer({ min: 0, max: ITEMS - 1 }),
      fc.constantFrom(packPosting(1, PLACE.body), packPosting(40, PLACE.named), packPosting(84, PLACE.title)),
    ),
    { selector: ([term, item]) => `${item} ${term}`, maxLength: 80 },
  )
  .map(list => list.sort((left, right) => left[1] - right[1]))

function runOf(list: readonly Posted[]): TermSource {
  const run = createPostingRun()
  for (const [term, item, posting] of list) run.add(item, term, posting)
  return run.take()
}

async function storedRunOf(list: readonly Posted[]): Promise<TermSource> {
  const written: Uint8Array[] = []
  const scratch: Scratch = {
    append: async bytes => written.push(bytes) - 1,
    read: async position => written[position] as Uint8Array,
    close: async () => {},
  }
  return readRun(scratch, await storeRun(scratch, runOf(list), () => undefined))
}

/** Everything of a source, with the lists as a section has them. */
async function readAll(merged: TermSource): Promise<unknown[]> {
  const terms: unknown[] = []
  for (;;) {
    await merged.next()
    if (merged.current === null) return terms
    const { term, items, isNamed } = merged.current
    const postings: [number, number][] = []
    visitPostings(encodedList(merged.current), items, ITEMS, (item, posting) => postings.push([item, posting]))
    terms.push({ term: textOf(term), isNamed, postings })
  }
}

function expected(list: readonly Posted[]): unknown[] {
  const terms = [...new Set(list.map(([term]) => term))].sort(compareBytes)
  return terms.map(term => {
    const postings = list.filter(each => each[0] === term).map(([, item, posting]) => [item, posting])
    return { term, isNamed: postings.some(([, posting]) => (posting as number) % 3 !== PLACE.body), postings }
  })
}

test('runs of items one behind the other give every term once, with all of its postings', async () => {
  await fc.assert(
    fc.asyncProperty(posted, fc.array(fc.integer({ min: 0, max: ITEMS }), { maxLength: 5 }), async (list, cuts) => {
      const bounds = [0, ...cuts.sort((left, right) => left - right), ITEMS]
      const runs = bounds.slice(1).map((end, index) => list.filter(([, item]) => item >= (bounds[index] as number) && item < end))
      const sources = await Promise.all(runs.map((run, index) => (index % 2 === 0 ? storedRunOf(run) : runOf(run))))
      expect(await readAll(mergeTerms(sources))).toEqual(expected(list))
    }),
  )
})

test('the last source may have items between those of the others', async () => {
  await fc.assert(
    fc.asyncProperty(posted, fc.integer({ min: 0, max: ITEMS }), fc.func(fc.boolean()), async (list, cut, isLast) => {
      const ofLast = new Set(list.map(([, item]) => item).filter(item => isLast(item)))
      const others = list.filter(([, item]) => !ofLast.has(item))
      const sources = [
        runOf(others.filter(([, item]) => item < cut)),
        await storedRunOf(others.filter(([, item]) => item >= cut)),
        runOf(list.filter(([, item]) => ofLast.has(item))),
      ]
      expect(await readAll(mergeTerms(sources))).toEqual(expected(list))
    }),
  )
})

test('a run is full by its postings, and empty when it was taken', () => {
  const run = createPostingRun(2)
  run.add(0, 'a', packPosting(1, PLACE.body))
  expect([run.isFull, run.isEmpty]).toEqual([false, false])
  run.add(1, 'a', packPosting(1, PLACE.body))
  expect(run.isFull).toBe(true)
  expect(termsOf(run.take())).toEqual(['a'])
  expect([run.isFull, run.isEmpty, termsOf(run.take())]).toEqual([false, true, []])
})

function termsOf(source: TermSource): string[] {
  const terms: string[] = []
  for (source.next(); source.current !== null; source.next()) terms.push(textOf(source.current.term))
  return terms
}
