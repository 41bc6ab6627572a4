import type { Bytes } from '#core/search/bytes.ts'
import { chain, compareTerms, createTermPostings, type TermPostings } from './term-postings.ts'
import type { TermSource } from './term-source.ts'

/** The terms of all sources in byte order of their names, each once. The items of each source lie behind those of the source before. */
export function mergeTerms(sources: readonly TermSource[]): TermSource {
  const heap = createHeap(sources)
  const chained = createTermPostings()
  /** Sources by number that have the term at hand; at first all, which have none. */
  let taken = [...sources.keys()]

  function takeTerm(): void {
    for (const number of taken) if (sources[number]?.current) heap.push(number)
    taken = heap.takeTop()
    const parts = taken.map(number => sources[number]?.current as TermPostings)
    merged.current = parts.length > 1 ? chain(parts, chained) : (parts[0] ?? null)
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

  function pop(): void {
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
  }

  return {
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
    /** All that have the first term. */
    takeTop(): number[] {
      const top: number[] = []
      for (let number = heap[0]; number !== undefined; number = heap[0]) {
        if (top[0] !== undefined && compare(top[0], number) !== 0) break
        top.push(number)
        pop()
      }
      return top
    },
  }
}
