import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CommitGraph, type ListedCommit } from '#core/commit-graph.ts'
import type { CommitSha } from '#core/commit-sha.ts'

const id = (name: string) => name.padEnd(40, '0')
const commit = (name: string, parents: string[] = [], seconds: number | null = 0): ListedCommit => ({
  id: id(name),
  seconds,
  parents: parents.map(id),
})

/** A merge of `c` and `d`, both of `b`; `a` is the first commit. */
const whole = new CommitGraph([
  commit('e', ['c', 'd'], 1_700_000_000),
  commit('d', ['b']),
  commit('c', ['b'], null),
  commit('b', ['a']),
  commit('a'),
])
/** The same without the first two commits. */
const cut = new CommitGraph([commit('e', ['c', 'd']), commit('d', ['b']), commit('c', ['b'])])

describe('the graph of the newest commits', () => {
  test('has the date of a commit, if it is one', () => {
    expect(whole.dateOf(id('e'))).toBe('2023-11-14T22:13:20Z')
    expect([whole.dateOf(id('c')), whole.dateOf(id('f'))]).toEqual([null, null])
  })

  test('has the first parent, and says where the history begins or is not known', () => {
    expect(whole.parentOf(id('e'))).toBe(id('c'))
    expect(whole.parentOf(id('a'))).toBeNull()
    expect(cut.parentOf(id('d'))).toBeUndefined()
    expect(cut.parentOf(id('a'))).toBeUndefined()
  })

  test('tells ancestors, and does not claim what lies behind its end', () => {
    const of = (graph: CommitGraph, name: string) =>
      ['a', 'b', 'c', 'd', 'e'].map(other => graph.ancestorsOf(id(name)).has(id(other)))
    expect(of(whole, 'd')).toEqual([true, true, false, true, false])
    expect(of(cut, 'd')).toEqual([null, null, null, true, null])
    expect(cut.ancestorsOf(id('a')).has(id('b'))).toBeNull()
  })

  test('counts the commits between two, where it has all of them', () => {
    expect(whole.countBetween(id('b'), id('e'))).toBe(3)
    expect(whole.countBetween(id('e'), id('b'))).toBe(0)
    expect(whole.countBetween(id('a'), id('a'))).toBe(0)
    expect(cut.countBetween(id('d'), id('e'))).toBeNull()
    expect(cut.countBetween(id('a'), id('e'))).toBeNull()
  })

  test('tells two histories without a common commit', () => {
    const apart = new CommitGraph([commit('b', ['a']), commit('a'), commit('d', ['c']), commit('c')])
    expect(apart.haveCommonCommit(id('b'), id('d'))).toBe(false)
    expect(apart.haveCommonCommit(id('a'), id('b'))).toBe(true)
    expect(whole.haveCommonCommit(id('c'), id('d'))).toBe(true)
    expect(cut.haveCommonCommit(id('c'), id('a'))).toBeNull()
  })

  test('finds commits by the beginning of their hash', () => {
    const graph = new CommitGraph([commit('abc1'), commit('abc2'), commit('abd'), commit('ff')])
    expect(graph.startingWith('abc', 9)).toEqual([id('abc1'), id('abc2')])
    expect(graph.startingWith('ab', 2)).toHaveLength(2)
    expect([graph.startingWith('f', 9), graph.startingWith('0', 9), graph.startingWith('ffff', 9)]).toEqual([[id('ff')], [], []])
  })

  test('knows where an annotated tag leads', () => {
    const graph = new CommitGraph([commit('a')], new Map([[id('7a6'), id('a') as CommitSha]]))
    expect([graph.commitOf(id('a')), graph.commitOf(id('7a6')), graph.commitOf(id('b'))]).toEqual([id('a'), id('a'), null])
  })

  test('every listed commit is found by its id and by each of its beginnings', () => {
    const ids = fc.uniqueArray(fc.stringMatching(/^[0-9a-f]{40}$/), { minLength: 1, maxLength: 30 })
    fc.assert(
      fc.property(ids, fc.nat(39), (all, digits) => {
        const graph = new CommitGraph(all.map(one => ({ id: one, seconds: 1, parents: [] })))
        for (const one of all) {
          const prefix = one.slice(0, digits + 1)
          expect(graph.startingWith(prefix, 100)).toEqual(all.filter(other => other.startsWith(prefix)).sort())
          expect(graph.dateOf(one)).toBe('1970-01-01T00:00:01Z')
        }
      }),
    )
  })
})
