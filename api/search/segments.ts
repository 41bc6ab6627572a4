import type { Location } from '#core/snapshot/format.ts'
import type { Range } from './pages.ts'

export function sizeOfSegments(segments: readonly Location[]): number {
  return segments.reduce((sum, [, , length]) => sum + length, 0)
}

/** Where the bytes of a range lie when the segments are joined. A range past their end gives what there is. */
export function locateRange(segments: readonly Location[], { start, end }: Range): Location[] {
  const located: Location[] = []
  let before = 0
  for (const [pack, offset, length] of segments) {
    const from = Math.max(start, before)
    const to = Math.min(end, before + length)
    if (from < to) located.push([pack, offset + from - before, to - from])
    before += length
  }
  return located
}
