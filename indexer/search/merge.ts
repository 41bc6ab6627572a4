import { createByteReader, createByteWriter, NO_BYTES } from '#core/search/bytes.ts'
import type { Scratch } from './scratch.ts'
import { joinPostings, type TermPostings } from './term-postings.ts'

/** Terms in byte order, one at a time. */
export interface TermSource {
  /** The term at hand; `null` behind the last. */
  readonly current: TermPostings | null
  /** Goes on to the next term; a promise when that must be waited for. */
  next(): Promise<void> | undefined
}

/**
 * The terms of all sources in byte order, each once; `next` leads to the first. The items of each source lie behind those of the source
 * before, but for the last source, whose may lie anywhere.
 */
export function mergeTerms(sources: readonly TermSource[]): TermSource {
  const heap = createHeap(sources)
  let parts: TermPostings[] = []
  let current: TermPostings | null = null

  function takeParts(): Promise<void> | undefined {
    for (;;) {
      const source = heap.top()
      const part = source?.current
      if (!source || !part || (parts[0] && compareTerms(part.term, parts[0].term) !== 0)) break
      parts.push(part)
      const waiting = source.next()
      if (waiting) {
        return waiting.then(() => {
          heap.settle()
          return takeParts()
        })
      }
      heap.settle()
    }
    current = parts.length === 0 ? null : joinPostings(parts)
    return undefined
  }

  return {
    get current() {
      return current
    },
    next() {
      parts = []
      return takeParts()
    },
  }
}

/** The source with the first term on top; among equal terms in the order of the sources. */
function createHeap(sources: readonly TermSource[]): { top(): TermSource | undefined; settle(): void } {
  const heap: number[] = []
  const currentOf = (number: number) => sources[number]?.current as TermPostings

  function isBefore(left: number, right: number): boolean {
    const order = compareTerms(currentOf(left).term, currentOf(right).term)
    return order === 0 ? left < right : order < 0
  }

  function sink(from: number): void {
    let at = from
    const moving = heap[at] as number
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

  for (const [number, source] of sources.entries()) if (source.current) heap.push(number)
  for (let at = (heap.length >> 1) - 1; at >= 0; at--) sink(at)

  return {
    top: () => sources[heap[0] ?? -1],
    /** Puts the top where it belongs after it went on. */
    settle() {
      if (!currentOf(heap[0] as number)) {
        const last = heap.pop() as number
        if (heap.length === 0) return
        heap[0] = last
      }
      sink(0)
    },
  }
}

function compareTerms(left: Uint8Array, right: Uint8Array): number {
  const length = Math.min(left.length, right.length)
  for (let at = 0; at < length; at++) {
    const difference = (left[at] as number) - (right[at] as number)
    if (difference !== 0) return difference
  }
  return left.length - right.length
}

export function iterate(terms: Iterable<TermPostings>): TermSource {
  const iterator = terms[Symbol.iterator]()
  let current: TermPostings | null = iterator.next().value ?? null
  return {
    get current() {
      return current
    },
    next() {
      current = iterator.next().value ?? null
      return undefined
    },
  }
}

/** Where a stored run lies: frames of whole terms, each read at once. */
export type StoredRun = readonly { position: number; length: number }[]

const FRAME_BYTES = 64 * 1024

/** Stores the terms of a run; `turn` is asked between them. */
export async function storeRun(
  scratch: Scratch,
  terms: Iterable<TermPostings>,
  turn: () => Promise<void> | undefined,
): Promise<StoredRun> {
  const frames: { position: number; length: number }[] = []
  const writer = createByteWriter(2 * FRAME_BYTES)
  let previous: Uint8Array = NO_BYTES
  const storeFrame = async () => {
    frames.push({ position: await scratch.append(writer.finish()), length: writer.length })
    writer.reset()
    previous = NO_BYTES
  }
  for (const { term, items, isNamed, first, last, rest } of terms) {
    writer.text(term, previous)
    previous = term
    writer.varint(2 * items + (isNamed ? 1 : 0))
    writer.varint(first)
    writer.varint(last - first)
    writer.varint(rest.length)
    writer.bytes(rest)
    if (writer.length >= FRAME_BYTES) await storeFrame()
    const waiting = turn()
    if (waiting) await waiting
  }
  if (writer.length > 0) await storeFrame()
  return frames
}

/** The terms of a stored run, of which one frame is held at a time. */
export async function readRun(scratch: Scratch, run: StoredRun): Promise<TermSource> {
  let frame = 0
  let terms: Iterator<TermPostings> = [][Symbol.iterator]()
  let current: TermPostings | null = null

  async function nextFrame(): Promise<void> {
    const next = run[frame++]
    if (!next) return
    terms = readFrame(await scratch.read(next.position, next.length))
    current = terms.next().value
  }

  await nextFrame()
  return {
    get current() {
      return current
    },
    next() {
      current = terms.next().value ?? null
      return current === null && frame < run.length ? nextFrame() : undefined
    },
  }
}

function* readFrame(frame: Uint8Array): Generator<TermPostings, null> {
  const reader = createByteReader(frame)
  let previous: Uint8Array = NO_BYTES
  while (!reader.atEnd) {
    previous = reader.text(previous)
    const packed = reader.varint()
    const first = reader.varint()
    const last = first + reader.varint()
    const rest = reader.bytes(reader.varint())
    yield { term: previous, items: packed >>> 1, isNamed: packed % 2 === 1, first, last, rest }
  }
  return null
}
