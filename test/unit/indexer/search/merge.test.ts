import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ByteWriter, textOf } from '#core/search/bytes.ts'
import { PLACE, packPosting, visitPostings } from '#core/search/postings.ts'
import { createTermsBlockWriter, INLINE_ITEMS, nameOfTerm, termOfName } from '#core/search/terms-block.ts'
import { compareBytes } from '#core/text.ts'
import { writeTerms } from '#indexer/search/builder.ts'
import { NO_NUMBER, Term } from '#indexer/search/item-terms.ts'
import { mergeTerms, type TermSource } from '#indexer/search/merge.ts'
import { PostingRun } from '#indexer/search/posting-run.ts'
import { readRun, type Scratch, storeRun } from '#indexer/search/scratch.ts'
import { StoredTerms } from '#indexer/search/stored-terms.ts'
import { addRenumbered, createTermPostings, type TermPostings } from '#indexer/search/term-postings.ts'
import { encodedList } from '#test/support/posting-list.ts'

type Posted = readonly [term: string, item: number, posting: number]

const ITEMS = 300
const posted: fc.Arbitrary<Posted[]> = fc
  .uniqueArray(
    fc.tuple(
      fc.constantFrom('a', 'ab', 'b', 'the', 'é', '\uffee', '\u{10000}', 'zebra'),
      fc.integer({ min: 0, max: ITEMS - 1 }),
      fc.constantFrom(packPosting(1, PLACE.body), packPosting(40, PLACE.named), packPosting(84, PLACE.title)),
    ),
    { selector: ([term, item]) => `${item} ${term}`, maxLength: 80 },
  )
  .map(list => list.sort((left, right) => left[1] - right[1]))

function runOf(list: readonly Posted[]): TermSource {
  const run = new PostingRun()
  for (const [term, item, posting] of list) run.add(item, numberOf(run, term), posting)
  return run.take()
}

function numberOf({ lexicon }: PostingRun, text: string): number {
  const term = new Term(text)
  const known = lexicon.find(term)
  return known === NO_NUMBER ? lexicon.add(term) : known
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
    terms.push(contentOf(merged.current))
  }
}

function contentOf(list: TermPostings): unknown {
  const { term, items, isNamed } = list
  const postings: [number, number][] = []
  visitPostings(encodedList(list), items, ITEMS, (item, posting) => postings.push([item, posting]))
  return { term: termOfName(textOf(term)), isNamed, postings }
}

function expected(list: readonly Posted[]): unknown[] {
  const terms = [...new Set(list.map(([term]) => nameOfTerm(term)))].sort(compareBytes).map(termOfName)
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

/** What is written of the terms of earlier items, by their numbers then, and of changed ones. */
async function written(earlier: readonly Posted[], numbers: Int32Array, changed: TermSource): Promise<unknown[]> {
  const writer = createTermsBlockWriter()
  const outside = new ByteWriter()
  for (const terms = runOf(earlier); ; ) {
    await terms.next()
    if (terms.current === null) break
    if (!writer.add(terms.current)) outside.bytes(encodedList(terms.current))
  }
  const block = { block: writer.finish(), inlineItems: INLINE_ITEMS, outside: { bytes: outside.finish(), start: 0 } }
  const terms: unknown[] = []
  const section = {
    addTerm(postings: TermPostings) {
      terms.push(contentOf(postings))
      // Some must be waited for.
      return postings.items % 2 === 0 ? Promise.resolve() : undefined
    },
    takeTerm(stored: StoredTerms, now: Int32Array) {
      if (!stored.isInline) return false
      const taken = createTermPostings()
      taken.term = stored.term
      addRenumbered(taken, stored.bytes, stored.list, now)
      if (taken.items > 0) terms.push(contentOf(taken))
      return true
    },
  }
  await writeTerms(section, { earlier: [new StoredTerms(block)], numbers, changed }, () => undefined)
  return terms
}

test('the items of an earlier commit may lie between those that changed, and have other numbers', async () => {
  await fc.assert(
    fc.asyncProperty(posted, fc.integer({ min: 0, max: ITEMS }), fc.func(fc.boolean()), async (list, cut, hasChanged) => {
      const changed = new Set(list.map(([, item]) => item).filter(item => hasChanged(item)))
      const fresh = list.filter(([, item]) => changed.has(item))
      const runs = [await storedRunOf(fresh.filter(([, item]) => item < cut)), runOf(fresh.filter(([, item]) => item >= cut))]
      // Then, what changed was in front of everything else, and is gone.
      const before = (item: number) => (changed.has(item) ? item : ITEMS + item)
      const earlier = list.map(([term, item, posting]) => [term, before(item), posting] as const)
      const numbers = Int32Array.from({ length: 2 * ITEMS }, (_, item) => (item < ITEMS ? -1 : item - ITEMS))
      const sorted = earlier.toSorted((left, right) => left[1] - right[1])
      expect(await written(sorted, numbers, mergeTerms(runs))).toEqual(expected(list))
    }),
  )
})
