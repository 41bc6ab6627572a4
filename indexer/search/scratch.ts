import { randomUUID } from 'node:crypto'
import { open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { NO_BYTES } from '#core/search/bytes.ts'
import { createTermsBlockWriter } from '#core/search/terms-block.ts'
import type { TermSource } from './merge.ts'
import { StoredTerms } from './stored-terms.ts'
import { addRenumbered, clearPostings, createTermPostings } from './term-postings.ts'

/** Storage for bytes that exceed memory: append only, read anywhere. */
export interface Scratch {
  /** Appends bytes and resolves with their position. */
  append(bytes: Uint8Array): Promise<number>
  read(position: number, length: number): Promise<Uint8Array>
  /** Deletes the bytes. */
  close(): Promise<void>
}

/** Opens a temporary file. Where the platform allows it, the file is unlinked as soon as it is open. */
export async function openScratchFile(): Promise<Scratch> {
  const path = join(tmpdir(), `mountglass-${randomUUID()}`)
  const file = await open(path, 'wx+', 0o600)
  // Unlinked now, so a crash leaves no file. Where an open file cannot be removed, `close` removes it.
  await rm(path).catch(() => {})
  let size = 0
  return {
    async append(bytes) {
      const position = size
      for (let written = 0; written < bytes.length; ) {
        written += (await file.write(bytes, written, bytes.length - written, position + written)).bytesWritten
      }
      size += bytes.length
      return position
    },
    async read(position, length) {
      const bytes = new Uint8Array(length)
      for (let read = 0; read < length; ) {
        const { bytesRead } = await file.read(bytes, read, length - read, position + read)
        if (bytesRead === 0) throw new RangeError('the scratch file is truncated')
        read += bytesRead
      }
      return bytes
    },
    async close() {
      await file.close()
      await rm(path, { force: true })
    },
  }
}

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
