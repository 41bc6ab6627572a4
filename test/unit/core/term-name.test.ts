import fc from 'fast-check'
import { expect, test } from 'vitest'
import { analyze, isStopWord } from '#core/search/analyze.ts'
import { nameOfTerm, termOfName } from '#core/search/terms-block.ts'
import { compareBytes } from '#core/text.ts'

function termsOf(text: string): string[] {
  const terms = new Set<string>()
  analyze(text, term => terms.add(term))
  return [...terms]
}

test('every term has a different name', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), text => {
      const terms = termsOf(`${text} the \0how`)
      const names = terms.map(nameOfTerm)
      expect(new Set(names).size).toBe(terms.length)
      expect(names.map(termOfName)).toEqual(terms)
    }),
  )
})

test('stop words come first', () => {
  const sorted = termsOf('zebra with 100 apples, and the queue').map(nameOfTerm).sort(compareBytes).map(termOfName)
  expect(sorted.filter(isStopWord)).toEqual(['and', 'the', 'with'])
  expect(sorted.slice(0, 3)).toEqual(['and', 'the', 'with'])
})
