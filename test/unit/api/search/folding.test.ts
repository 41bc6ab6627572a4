import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type FoundUnit, foldPage, type Interval } from '#api/search/folding.ts'
import { FIND_FOLDED_FILES } from '#core/limits.ts'
import { ITEM_KIND } from '#core/search/head.ts'

interface Item {
  kind: number
  owner: number
  score: number
  /** The skill that a skill is a copy of. */
  original?: number
}

function fold(items: readonly Item[], page: { mounted: Interval; visible: Interval; offset: number; limit: number }) {
  const scores = Uint32Array.from(items, ({ score }) => score)
  const head = {
    kinds: Uint8Array.from(items, ({ kind }) => kind),
    owners: Int32Array.from(items, ({ owner }) => owner),
    copies: new Map(items.flatMap(({ original }, item) => (original === undefined ? [] : [[item, original] as const]))),
  }
  const matched = Uint32Array.from([...scores.keys()].filter(item => scores[item] !== 0))
  return foldPage({ scores, matched, scratch: new Uint32Array(items.length) }, head, page)
}

/** The whole list, as sorting everything gives it. */
function sorted(items: readonly Item[], mounted: Interval, visible: Interval): FoundUnit[] {
  const isIn = ([from, to]: Interval, item: number) => item >= from && item < to
  const numbers = [...items.keys()].filter(item => isIn(visible, item) && (items[item]?.score ?? 0) > 0)
  numbers.sort((left, right) => (items[right]?.score ?? 0) - (items[left]?.score ?? 0) || left - right)
  const setOf = (skill: number) => {
    const original = items[skill]?.original ?? skill
    return [original, ...items.keys().filter(item => items[item]?.original === original)]
  }
  const units = new Map<number, number[]>()
  for (const item of numbers) {
    const { kind = 0, owner = -1 } = items[item] ?? {}
    const isMember = kind === ITEM_KIND.page || kind === ITEM_KIND.file
    const unit = !isMember ? item : isIn(mounted, owner) ? owner : kind === ITEM_KIND.page ? item : null
    if (unit === null) continue
    if (isIn(visible, unit) && (setOf(unit).find(copy => isIn(visible, copy)) ?? unit) !== unit) continue
    const files = units.get(unit) ?? []
    if (unit !== item) files.push(item)
    units.set(unit, files)
  }
  return [...units].map(([item, files]) => ({
    item,
    files: files.slice(0, FIND_FOLDED_FILES),
    moreFiles: Math.max(0, files.length - FIND_FOLDED_FILES),
    copies: setOf(item).filter(copy => copy !== item && isIn(mounted, copy)),
  }))
}

/** Items with few different scores, so that many are equal, or with any. */
const anyItems = fc
  .array(
    fc.record({ kind: fc.nat(3), owner: fc.nat(60), isCopy: fc.boolean(), score: fc.oneof(fc.nat(9), fc.nat(2 ** 32 - 1)) }),
    { maxLength: 60 },
  )
  .map(items => {
    const skills = items.flatMap(({ kind }, item) => (kind === ITEM_KIND.skill ? [item] : []))
    const [original] = skills.slice(-2)
    return items.map(({ kind, owner, isCopy, score }, item): Item => {
      if (kind === ITEM_KIND.skill)
        return { kind, owner: item, score, ...(isCopy && original !== undefined && original !== item && { original }) }
      const skill = skills[owner % Math.max(1, skills.length)]
      return kind === ITEM_KIND.document || skill === undefined
        ? { kind: ITEM_KIND.document, owner: -1, score }
        : { kind, owner: skill, score }
    })
  })

const anySearch = anyItems.chain(items => {
  const border = fc.nat(items.length)
  return fc.tuple(border, border, border, border).map(borders => {
    const [a = 0, b = 0, c = 0, d = 0] = borders.sort((left, right) => left - right)
    return { items, mounted: [a, d] as const, visible: [b, c] as const }
  })
})

describe('folding', () => {
  test('gives pages that together are the sorted list, at any limits', () => {
    fc.assert(
      fc.property(
        anySearch,
        fc.array(fc.integer({ min: 1, max: 25 }), { minLength: 1 }),
        ({ items, mounted, visible }, limits) => {
          const all = sorted(items, mounted, visible)
          const pages: FoundUnit[] = []
          for (let turn = 0, hasMore = true; hasMore; turn++) {
            const page = fold(items, { mounted, visible, offset: pages.length, limit: limits[turn % limits.length] ?? 1 })
            pages.push(...page.units)
            hasMore = page.hasMore
            expect(hasMore).toBe(pages.length < all.length)
          }
          expect(pages).toEqual(all)
        },
      ),
      { numRuns: 300 },
    )
  })

  const skill = (owner: number, score: number): Item => ({ kind: ITEM_KIND.skill, owner, score })
  const page = (owner: number, score: number): Item => ({ kind: ITEM_KIND.page, owner, score })
  const file = (owner: number, score: number): Item => ({ kind: ITEM_KIND.file, owner, score })
  const document = (score: number): Item => ({ kind: ITEM_KIND.document, owner: -1, score })
  const first = { offset: 0, limit: 10 }

  test('gives a skill the place of its best member, with its five best files', () => {
    const items = [document(50), skill(1, 0), ...[10, 20, 90, 40, 30, 60, 0].map(score => page(1, score))]
    expect(fold(items, { mounted: [0, 9], visible: [0, 9], ...first })).toEqual({
      units: [
        { item: 1, files: [4, 7, 5, 6, 3], moreFiles: 1, copies: [] },
        { item: 0, files: [], moreFiles: 0, copies: [] },
      ],
      hasMore: false,
    })
  })

  test('makes documents of the Markdown files of a skill above the mount, and leaves out its other files', () => {
    const items = [skill(0, 90), page(0, 20), file(0, 80)]
    expect(fold(items, { mounted: [1, 3], visible: [1, 3], ...first }).units).toEqual([
      { item: 1, files: [], moreFiles: 0, copies: [] },
    ])
  })

  test('finds a skill in the mount by its files in a folder below it', () => {
    const items = [skill(0, 90), page(0, 20), file(0, 80)]
    expect(fold(items, { mounted: [0, 3], visible: [1, 3], ...first }).units).toEqual([
      { item: 0, files: [2, 1], moreFiles: 0, copies: [] },
    ])
  })

  test('gives one result for copies: the original if it is in the searched folder, else the first, with its own files only', () => {
    const copy = (item: number, score: number): Item => ({ ...skill(item, score), original: 3 })
    const items = [copy(0, 30), page(0, 40), copy(2, 30), skill(3, 20), page(3, 10), document(5)]
    const all = fold(items, { mounted: [0, 6], visible: [0, 6], ...first }).units
    expect(all).toEqual([
      { item: 3, files: [4], moreFiles: 0, copies: [0, 2] },
      { item: 5, files: [], moreFiles: 0, copies: [] },
    ])
    const below = fold(items, { mounted: [0, 6], visible: [0, 3], ...first }).units
    expect(below).toEqual([{ item: 0, files: [1], moreFiles: 0, copies: [3, 2] }])
    const mounted = fold(items, { mounted: [2, 3], visible: [2, 3], ...first }).units
    expect(mounted).toEqual([{ item: 2, files: [], moreFiles: 0, copies: [] }])
  })

  test('orders equal results by path, and leaves out items without a score', () => {
    const items = [document(5), document(7), document(5), document(0)]
    expect(fold(items, { mounted: [0, 4], visible: [0, 4], ...first }).units.map(({ item }) => item)).toEqual([1, 0, 2])
  })

  test('gives an empty page behind the last result', () => {
    expect(fold([document(5)], { mounted: [0, 1], visible: [0, 1], offset: 9, limit: 3 })).toEqual({ units: [], hasMore: false })
    expect(fold([document(0)], { mounted: [0, 1], visible: [0, 1], ...first })).toEqual({ units: [], hasMore: false })
  })
})
