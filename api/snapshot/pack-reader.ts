import type { BlobStore } from '#core/ports/blob-store.ts'
import { DamagedBytes } from '#core/snapshot/damage.ts'
import { askStore } from './unavailable.ts'

/** Reads parts of packs. Joins reads that start in one turn of the event loop and lie close together. */
export interface PackReader {
  /**
   * Exactly `length` bytes from `offset` on. They may be a view of a larger buffer: copy them before caching them.
   *
   * @throws DamagedBytes when the pack is missing or too short, StoreFailure when the store does not answer
   */
  read(key: string, offset: number, length: number): Promise<Uint8Array>
}

interface Part {
  start: number
  end: number
  resolve(bytes: Uint8Array): void
  reject(cause: unknown): void
}

/** Reading a smaller gap costs less than another request. */
const GAP_BYTES = 16 * 1024
/** With more parallel requests to a pack, wider gaps are read too: an answer waits for the slowest request. */
const PARALLEL_REQUESTS = 5
const WIDE_GAP_BYTES = 48 * 1024

/** A reader of the packs of all repositories. */
export function createPackReader(blobs: Pick<BlobStore, 'readRange'>): PackReader {
  let waiting = new Map<string, Part[]>()

  function readWaiting(): void {
    const packs = waiting
    waiting = new Map()
    for (const [key, parts] of packs) for (const group of joinNearest(groupParts(parts))) void readGroup(key, group)
  }

  async function readGroup(key: string, { start, end, parts }: Group): Promise<void> {
    try {
      const bytes = await askStore(blobs.readRange(key, start, end - start))
      if (bytes === null) throw new DamagedBytes('the pack is missing')
      for (const part of parts) {
        if (part.end - start > bytes.length) part.reject(new DamagedBytes('the pack is cut short'))
        else part.resolve(bytes.subarray(part.start - start, part.end - start))
      }
    } catch (cause) {
      for (const part of parts) part.reject(cause)
    }
  }

  return {
    read(key, offset, length) {
      return new Promise((resolve, reject) => {
        if (waiting.size === 0) setImmediate(readWaiting)
        const part = { start: offset, end: offset + length, resolve, reject }
        const parts = waiting.get(key)
        if (parts) parts.push(part)
        else waiting.set(key, [part])
      })
    },
  }
}

interface Group {
  start: number
  end: number
  parts: Part[]
}

function groupParts(parts: readonly Part[]): Group[] {
  const groups: Group[] = []
  for (const part of parts.toSorted((left, right) => left.start - right.start)) {
    const group = groups.at(-1)
    if (group === undefined || part.start - group.end >= GAP_BYTES) {
      groups.push({ start: part.start, end: part.end, parts: [part] })
    } else {
      group.end = Math.max(group.end, part.end)
      group.parts.push(part)
    }
  }
  return groups
}

/** Joins the nearest neighbours until at most `PARALLEL_REQUESTS` are left, or the smallest gap is too wide. */
function joinNearest(groups: Group[]): Group[] {
  const gapBefore = (index: number) => (groups[index]?.start ?? 0) - (groups[index - 1]?.end ?? 0)
  while (groups.length > PARALLEL_REQUESTS) {
    let nearest = 1
    for (let index = 2; index < groups.length; index++) if (gapBefore(index) < gapBefore(nearest)) nearest = index
    const [left, right] = [groups[nearest - 1], groups[nearest]]
    if (!left || !right || gapBefore(nearest) >= WIDE_GAP_BYTES) break
    groups.splice(nearest - 1, 2, { start: left.start, end: right.end, parts: [...left.parts, ...right.parts] })
  }
  return groups
}
