import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { wordDifference } from '#indexer/rules/license/guard.ts'
import { makeLicenseData } from '../../../../scripts/make-license-data.ts'

test('the committed license data is what the script makes', () => {
  const { names, templates } = makeLicenseData()
  const read = (name: string) => readFileSync(new URL(`../../../../indexer/rules/license/${name}`, import.meta.url), 'utf8')
  // Compared as a truth value: a difference of a megabyte helps nobody.
  expect(read('names.jsonl') === names, 'run node scripts/make-license-data.ts').toBe(true)
  expect(read('templates.jsonl') === templates, 'run node scripts/make-license-data.ts').toBe(true)
})

const words = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 30 })

test('a difference turns the first text into the second, in as few words as possible', () => {
  fc.assert(
    fc.property(words, words, (from, to) => {
      const difference = wordDifference(from, to, 100)
      if (difference === null) throw new Error('the texts are short enough')
      const gone = new Set(difference.deleted.flatMap(({ at, words }) => words.map((_, index) => at + index)))
      const added = new Map(difference.inserted.map(({ at, words }) => [at, words]))
      const result = [...from, null].flatMap((word, at) => [
        ...(added.get(at) ?? []),
        ...(word === null || gone.has(at) ? [] : [word]),
      ])
      expect(result).toEqual(to)
      expect(difference.deleted.flatMap(run => run.words)).toEqual(from.filter((_, at) => gone.has(at)))
      expect(difference.deletedWords + difference.insertedWords).toBe(from.length + to.length - 2 * commonLength(from, to))
    }),
  )
})

test('texts that differ in more words than asked for have no difference', () => {
  expect(wordDifference(['a', 'b', 'c'], ['a', 'x', 'c'], 1)).toBeNull()
  expect(wordDifference(['a', 'b', 'c'], ['a', 'x', 'c'], 2)).toMatchObject({ deletedWords: 1, insertedWords: 1 })
  expect(wordDifference([], [], 0)).toMatchObject({ deleted: [], inserted: [] })
})

/** Length of the longest common subsequence, by the book. */
function commonLength(left: readonly string[], right: readonly string[]): number {
  let row = right.map(() => 0)
  for (const word of left) {
    const next: number[] = []
    for (const [index, other] of right.entries()) {
      next.push(word === other ? (row[index - 1] ?? 0) + 1 : Math.max(next[index - 1] ?? 0, row[index] ?? 0))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
