import { NO_BYTES } from '#core/search/bytes.ts'
import { createTermsBlockWriter } from '#core/search/terms-block.ts'
import type { Scratch } from './scratch.ts'
import { StoredTerms } from './stored-terms.ts'
import { addRenumbered, clearPostings, createTermPostings } from './term-postings.ts'
import type { TermSource } from './term-source.ts'

/** The frames of a stored run, in the scratch file. A frame is a block of terms with their whole posting lists, and is read at once. */
export type StoredRun = readonly { position: number; length: number }[]

const FRAME_BYTES = 64 * 1024
const INLINE_ITEMS = Number.POSITIVE_INFINITY
const OUTSIDE = { bytes: NO_BYTES, start: 0 }

/** Stores the terms of a run. `yieldIfDue` is called between them. */
export async function storeRun(
  scratch: Scratch,
  terms: TermSource,
  yieldIfDue: () => Promise<void> | undefined,
): Promise<StoredRun> {
  const frames: { position: number; length: number }[] = []
  const writer = createTermsBlockWriter(INLINE_ITEMS)
  const storeFrame = async () => {
    const frame = writer.finish()
    frames.push({ position: await scratch.append(frame), length: frame.length })
  }
  for (;;) {
    const waiting = terms.next() ?? yieldIfDue()
    if (waiting) await waiting
    if (terms.current === null) break
    writer.add(terms.current)
    if (writer.bytes() >= FRAME_BYTES) await storeFrame()
  }
  if (writer.bytes() > 0) await storeFrame()
  return frames
}

/** Reads the terms of a stored run, one frame at a time. */
export function readRun(scratch: Scratch, run: StoredRun): TermSource {
  let frame = 0
  const target = createTermPostings()
  let terms: StoredTerms | null = null

  async function nextFrame({ position, length }: StoredRun[number]): Promise<void> {
    const block = await scratch.read(position, length)
    terms = new StoredTerms({ block, inlineItems: INLINE_ITEMS, outside: OUTSIDE })
    readTerm()
  }

  function readTerm(): void {
    source.current = null
    if (!terms?.next()) return
    clearPostings(target)
    target.term = terms.term
    addRenumbered(target, terms.bytes, terms.list, null)
    source.current = target
  }

  const source: TermSource = {
    current: null,
    next() {
      readTerm()
      const next = source.current === null ? run[frame++] : undefined
      return next && nextFrame(next)
    },
  }
  return source
}
