import { describe, expect, test } from 'vitest'
import { eligibleOf, foldRanked, isMet, NAMED_FILES, qualityOf, rankOf, type Unit } from './metrics.ts'
import { readSets } from './sets.ts'

const unit = (path: string, ...files: string[]): Unit => ({ path, files })

describe('the rank of an answer', () => {
  test('is the place of the first expected path, counted from 1', () => {
    const units = [unit('a.md'), unit('b.md'), unit('c.md')]
    expect(rankOf(['c.md', 'b.md'], units)).toBe(2)
    expect(rankOf(['a.md'], units)).toBe(1)
  })

  test('is that of the skill that names an expected supporting file', () => {
    expect(rankOf(['pdf/forms.md'], [unit('a.md'), unit('pdf/SKILL.md', 'pdf/other.md', 'pdf/forms.md')])).toBe(2)
  })

  test('is none for a skill that owns an expected file and does not name it', () => {
    expect(rankOf(['pdf/forms.md'], [unit('pdf/SKILL.md', 'pdf/other.md')])).toBeNull()
  })

  test('is none behind the tenth place', () => {
    const others = Array.from({ length: 10 }, (_, index) => unit(`${index}.md`))
    expect(rankOf(['last.md'], [...others.slice(0, 9), unit('last.md')])).toBe(10)
    expect(rankOf(['last.md'], [...others, unit('last.md')])).toBeNull()
  })

  test('is none for a path that is only similar', () => {
    expect(rankOf(['docs/A.md'], [unit('docs/a.md'), unit('A.md'), unit('docs/A.md.md')])).toBeNull()
  })
})

describe('the quality of a class', () => {
  test('is the mean of the reciprocal ranks, and the share that is found', () => {
    expect(qualityOf([1, 2, null, 4])).toEqual({ questions: 4, mrr: 1.75 / 4, recall: 0.75 })
  })

  test('is unknown without questions', () => {
    expect(qualityOf([])).toEqual({ questions: 0, mrr: null, recall: null })
  })

  test('meets a target if every figure reaches it', () => {
    const target = { mrr: 0.5, recall: 1 }
    expect(isMet({ questions: 2, mrr: 0.5, recall: 1 }, target)).toBe(true)
    expect(isMet({ questions: 2, mrr: 0.49, recall: 1 }, target)).toBe(false)
    expect(isMet({ questions: 2, mrr: 0.9, recall: 0.99 }, target)).toBe(false)
    expect(isMet({ questions: 2, mrr: 0.5, recall: 0 }, { mrr: 0.5 })).toBe(true)
    expect(isMet(qualityOf([]), target)).toBeNull()
    expect(isMet(qualityOf([1]), null)).toBeNull()
  })
})

test('expected paths that are no items of the index do not count', () => {
  const items = new Set(['docs/a.md', 'docs/b.md'])
  expect(eligibleOf(['README.md', 'docs/b.md'], items)).toEqual(['docs/b.md'])
  expect(eligibleOf(['README.md', 'CONTRIBUTING.md'], items)).toEqual([])
})

describe('ranked items become units', () => {
  const owners: Record<string, string> = {
    'pdf/SKILL.md': 'pdf/SKILL.md',
    'pdf/forms.md': 'pdf/SKILL.md',
    'pdf/fonts.md': 'pdf/SKILL.md',
  }
  const ownerOf = (path: string) => owners[path] ?? null

  test('a skill ranks by its best member and names the files behind it in their order', () => {
    expect(foldRanked(['pdf/forms.md', 'guide.md', 'pdf/SKILL.md', 'pdf/fonts.md'], ownerOf)).toEqual([
      unit('pdf/SKILL.md', 'pdf/forms.md', 'pdf/fonts.md'),
      unit('guide.md'),
    ])
  })

  test('and names at most so many files', () => {
    const files = Array.from({ length: NAMED_FILES + 1 }, (_, index) => `pdf/${index}.md`)
    expect(foldRanked(files, () => 'pdf/SKILL.md')).toEqual([unit('pdf/SKILL.md', ...files.slice(0, NAMED_FILES))])
  })
})

test('the questions of the project are many, over at least five repositories, each with one to three answers and asked once', () => {
  const own = readSets().filter(({ gates }) => !gates)
  const questions = own.flatMap(({ queries }) => queries)
  expect(questions.length).toBeGreaterThanOrEqual(44)
  expect(new Set(own.map(({ corpus }) => corpus)).size).toBeGreaterThanOrEqual(5)
  expect(new Set(questions.map(({ query }) => query)).size).toBe(questions.length)
  for (const { expected } of questions) expect(expected.length).toBeLessThanOrEqual(3)
})
