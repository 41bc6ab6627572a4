import type { Bytes } from '#core/search/bytes.ts'
import { createJoiner, type TermPostings } from './term-postings.ts'
import type { TermSource } from './term-source.ts'

/**
 * The terms of all sources in byte order, each once. The items of each source lie behind those of the source before, but for the last
 * source, whose may lie anywhere.
 */
export function mergeTerms(sources: readonly TermSource[]): TermSource {
  const heap = createHeap(sources)
  const join = createJoiner()
  /** Sources by number that have the term at hand; at first all, which have none. */
  const taken = [...sources.keys()]
  const parts: TermPostings[] = []
  function takeTerm(): void {
    for (const number of taken) if (sources[number]?.current) heap.push(number)
    taken.length = 0
    parts.length = 0
    for (;;) {
      const number = heap.top()
      if (number === undefined || (taken[0] !== undefined && !heap.isAlike(taken[0], number))) break
      taken.push(number)
      parts.push(sources[number]?.current as TermPostings)
      heap.pop()
    }
    merged.current = parts.length === 0 ? null : join(parts)
  }

  const merged: TermSource = {
    current: null,
    next() {
      let waiting: Promise<unknown> | undefined
      for (const number of taken) {
        const reading = sources[number]?.next()
        if (reading) waiting = waiting ? Promise.all([waiting, reading]) : reading
      }
      if (waiting) return waiting.then(takeTerm)
      takeTerm()
      return undefined
    },
  }
  return merged
}

/** Numbers of sources: the one with the first term on top, among equal terms in the order of the sources. */
function createHeap(sources: readonly TermSource[]) {
  const heap: number[] = []

  function compare(left: number, right: number): number {
    return compareTerms(termOf(left), termOf(right))
  }

  function termOf(number: number): Bytes {
    const { current } = sources[number] as TermSource
    return (current as TermPostings).term
  }

  function isBefore(left: number, right: number): boolean {
    const order = compare(left, right)
    return order === 0 ? left < right : order < 0
  }

  return {
    top: () => heap[0],
    isAlike: (left: number, right: number) => compare(left, right) === 0,
    push(number: number): void {
      let at = heap.length
      while (at > 0) {
        const parent = (at - 1) >> 1
        if (!isBefore(number, heap[parent] as number)) break
        heap[at] = heap[parent] as number
        at = parent
      }
      heap[at] = number
    },
    pop(): void {
      const moving = heap.pop() as number
      if (heap.length === 0) return
      let at = 0
      for (;;) {
        let child = 2 * at + 1
        if (child >= heap.length) break
        if (child + 1 < heap.length && isBefore(heap[child + 1] as number, heap[child] as number)) child++
        if (isBefore(moving, heap[child] as number)) break
        heap[at] = heap[child] as number
        at = child
      }
      heap[at] = moving
    },
  }
}

function compareTerms(left: Bytes, right: Bytes): number {
  const length = Math.min(left.length, right.length)
  const { data } = left
  const { data: other } = right
  for (let at = 0; at < length; at++) {
    const difference = (data[at] as number) - (other[at] as number)
    if (difference !== 0) return difference
  }
  return left.length - right.length
}
