import type { Bytes } from '#core/search/bytes.ts'
import { chain, compareTerms, createTermPostings, type TermPostings } from './term-postings.ts'

/** Merges sources into one, in byte order of the names, every term once. All items of a source come after those of the source before. */
export function mergeTerms(sources: readonly TermSource[]): TermSource {
  const heap = new SourceHeap(sources)
  const chained = createTermPostings()
  /** The sources, by number, of the current term; at first all of them. */
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

/** A binary heap of source numbers by their current terms; sources with equal terms keep their order. */
class SourceHeap {
  readonly #sources: readonly TermSource[]
  readonly #heap: number[] = []

  constructor(sources: readonly TermSource[]) {
    this.#sources = sources
  }

  push(number: number): void {
    const heap = this.#heap
    let at = heap.length
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!this.#isBefore(number, heap[parent] as number)) break
      heap[at] = heap[parent] as number
      at = parent
    }
    heap[at] = number
  }

  /** Removes and returns all sources that have the first term. */
  takeTop(): number[] {
    const top: number[] = []
    for (let number = this.#heap[0]; number !== undefined; number = this.#heap[0]) {
      if (top[0] !== undefined && this.#compare(top[0], number) !== 0) break
      top.push(number)
      this.#pop()
    }
    return top
  }

  #pop(): void {
    const heap = this.#heap
    const moving = heap.pop() as number
    if (heap.length === 0) return
    let at = 0
    for (let child = this.#firstChild(at); child < heap.length; child = this.#firstChild(at)) {
      if (this.#isBefore(moving, heap[child] as number)) break
      heap[at] = heap[child] as number
      at = child
    }
    heap[at] = moving
  }

  /** Of the two children the one that comes first; past the end when there is none. */
  #firstChild(at: number): number {
    const heap = this.#heap
    const left = 2 * at + 1
    const right = left + 1
    return right < heap.length && this.#isBefore(heap[right] as number, heap[left] as number) ? right : left
  }

  #isBefore(left: number, right: number): boolean {
    const order = this.#compare(left, right)
    return order === 0 ? left < right : order < 0
  }

  #compare(left: number, right: number): number {
    return compareTerms(this.#termOf(left), this.#termOf(right))
  }

  #termOf(number: number): Bytes {
    const { current } = this.#sources[number] as TermSource
    return (current as TermPostings).term
  }
}

/** Iterates over terms in byte order of their names. */
export interface TermSource {
  /** The current term, valid until `next`; `null` before the first and after the last. */
  current: TermPostings | null
  /** Moves to the next term. Returns a promise only if that has to be loaded. */
  next(): Promise<void> | undefined
}

/** @param fill writes the next term into `target`; `false` at the end */
export function createSource(target: TermPostings, fill: () => boolean): TermSource {
  const source: TermSource = {
    current: null,
    next() {
      source.current = fill() ? target : null
      return undefined
    },
  }
  return source
}
