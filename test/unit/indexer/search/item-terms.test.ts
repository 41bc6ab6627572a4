import { describe, expect, test } from 'vitest'
import { SEARCHED_FILE_BYTES } from '#core/limits.ts'
import { TITLE_LENGTH_MAX } from '#core/search/head.ts'
import { IMPACT_MAX, impactOf, PLACE, placeOf } from '#core/search/postings.ts'
import type { SearchInput } from '#indexer/search/input.ts'
import { FIELD_TERMS, Lexicon, visitItemTerms } from '#indexer/search/item-terms.ts'

function termsOf({ fields = {}, ...item }: Partial<SearchInput>) {
  const terms = new Map<string, number>()
  const input: SearchInput = { path: 'a.md', kind: 'document', owner: null, title: '', summary: '', text: null, fields, ...item }
  const lexicon = new Lexicon()
  const postings = new Map<number, number>()
  const titleLength = visitItemTerms(input, lexicon, (term, posting) => {
    expect(postings.has(term)).toBe(false)
    postings.set(term, posting)
  })
  const texts = [...lexicon.texts()]
  expect(postings.size).toBe(texts.length)
  for (const [term, posting] of postings) terms.set(texts[term] as string, posting)
  return {
    terms,
    titleLength,
    impact: (term: string) => impactOf(terms.get(term) ?? 0),
    place: (term: string) => placeOf(terms.get(term) ?? 0),
  }
}

describe('the terms of an item', () => {
  test('have the best of their places', () => {
    const fields = { description: 'both here', keywords: 'key', headings: 'head', body: 'plain head title' }
    const { place } = termsOf({ title: 'Title', path: 'folder/name.md', fields })
    expect(['title', 'here', 'key', 'head', 'folder', 'plain'].map(place)).toEqual([
      PLACE.title,
      PLACE.named,
      PLACE.named,
      PLACE.named,
      PLACE.named,
      PLACE.body,
    ])
  })

  test('have a higher impact in a heavier field and with more occurrences', () => {
    const fields = { description: 'd', keywords: 'k', headings: 'h', body: 'b' }
    const { impact } = termsOf({ title: 't', fields })
    const impacts = ['t', 'd', 'k', 'h', 'b'].map(impact)
    expect(impacts).toEqual(impacts.toSorted((left, right) => right - left))
    expect(new Set(impacts).size).toBe(5)
    const often = termsOf({ fields: { body: 'word '.repeat(99) } }).impact('word')
    expect(often).toBeGreaterThan(termsOf({ fields: { body: 'word' } }).impact('word'))
    expect(often).toBeLessThanOrEqual(IMPACT_MAX)
  })

  test('have a lower impact in a longer text', () => {
    const padding = Array.from({ length: 2000 }, (_, at) => `w${at}`).join(' ')
    expect(termsOf({ fields: { body: `word ${padding}` } }).impact('word')).toBeLessThan(
      termsOf({ fields: { body: 'word' } }).impact('word'),
    )
  })

  test('keep their impact after a small edit', () => {
    const body = (count: number) => Array.from({ length: count }, (_, index) => `word${index}`).join(' ')
    const { terms } = termsOf({ fields: { body: body(650) } })
    const edited = termsOf({ fields: { body: body(620) } }).terms
    expect([...edited].filter(([term, posting]) => terms.get(term) === posting)).toHaveLength(edited.size)
    expect([...termsOf({ fields: { body: body(300) } }).terms]).not.toEqual([...edited].slice(0, 301))
  })

  test('do not depend on the items before it', () => {
    const before = termsOf({ title: 'one two', fields: { body: 'three three' } }).terms
    termsOf({ title: 'three', fields: { body: 'one' } })
    expect(termsOf({ title: 'one two', fields: { body: 'three three' } }).terms).toEqual(before)
    const item: SearchInput = { path: 'a', kind: 'document', owner: null, title: 'one', summary: '', text: null, fields: {} }
    const fail = () => {
      throw new Error('stop')
    }
    expect(() => visitItemTerms(item, new Lexicon(), fail)).toThrow('stop')
    expect(termsOf({ title: 'one two', fields: { body: 'three three' } }).terms).toEqual(before)
  })

  test('keep their numbers from item to item, with any number of words between', () => {
    const lexicon = new Lexicon()
    const numbersOf = (body: string) => {
      const numbers: number[] = []
      const item: SearchInput = { path: '', kind: 'document', owner: null, title: '', summary: '', text: null, fields: { body } }
      visitItemTerms(item, lexicon, number => numbers.push(number))
      return numbers
    }
    const first = numbersOf('read a FileReader reads files')
    for (let item = 0; item < 10; item++) numbersOf(Array.from({ length: 4_000 }, (_, at) => `w${item}x${at}`).join(' '))
    expect(numbersOf('read a FileReader reads files')).toEqual(first)
    expect([...lexicon.texts()].slice(0, 4)).toEqual(['read', 'file', 'reader', 'filereader'])
  })

  test('have common English words of titles only', () => {
    const { terms } = termsOf({ title: 'What is it', fields: { body: 'the what', description: 'and' } })
    expect([...terms.keys()]).toEqual(['what', 'is', 'it', 'md', 'a.md'])
  })

  test('have the summary where there is no description, and the name beside the title', () => {
    expect(termsOf({ summary: 'brief' }).place('brief')).toBe(PLACE.named)
    expect(termsOf({ summary: 'brief', fields: { description: 'other' } }).terms.has('brief')).toBe(false)
    const { place, titleLength } = termsOf({ title: 'Code review', fields: { name: 'code-reviewer' } })
    expect(place('reviewer')).toBe(PLACE.title)
    expect(titleLength).toBe(3)
  })

  test('have nothing of the file name of a skill', () => {
    const { terms } = termsOf({ kind: 'skill', path: 'skills/pdf/SKILL.md', owner: 'skills/pdf/SKILL.md' })
    expect([...terms.keys()].sort()).toEqual(['pdf', 'skill'])
    expect([...termsOf({ kind: 'skill', path: 'SKILL.md' }).terms]).toEqual([])
  })

  test('have triples of characters in names alone', () => {
    const { terms, titleLength } = termsOf({ title: '算出法', fields: { headings: '基本的', body: '条件式' } })
    expect(['算出法', '基本的', '条件式'].map(term => terms.has(term))).toEqual([true, true, false])
    expect(titleLength).toBe(2)
  })

  test('are bounded by field and by bytes, so that nothing depends on other files', () => {
    const words = (count: number, letter: string) => Array.from({ length: count }, (_, at) => `${letter}${at}`).join(' ')
    const { terms } = termsOf({ path: 'p', fields: { headings: words(FIELD_TERMS + 9, 'h'), body: words(FIELD_TERMS + 9, 'b') } })
    expect(terms.size).toBe(2 * FIELD_TERMS + 1)
    const far = `${' '.repeat(SEARCHED_FILE_BYTES)}far`
    expect(termsOf({ fields: { body: far } }).terms.has('far')).toBe(false)
    expect(termsOf({ title: words(400, 't') }).titleLength).toBe(TITLE_LENGTH_MAX)
  })
})
