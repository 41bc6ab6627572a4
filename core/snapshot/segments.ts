import type { Location } from './format.ts'

/** Bytes that lie in many places are addressed as if they were joined. */

export function sizeOfSegments(segments: readonly Location[]): number {
  return segments.reduce((sum, [, , length]) => sum + length, 0)
}

/** Where the bytes of a range lie when the segments are joined. A range past their end gives what there is. */
export function locateRange(segments: readonly Location[], { start, end }: { start: number; end: number }): Location[] {
  const located: Location[] = []
  let before = 0
  for (const [pack, offset, length] of segments) {
    if (before >= end) break
    const from = Math.max(start, before)
    const to = Math.min(end, before + length)
    if (from < to) located.push([pack, offset + from - before, to - from])
    before += length
  }
  return located
}

/** Adds a segment behind others; where it goes on from the last one, that one becomes longer. */
export function appendSegment(segments: Location[], [pack, offset, length]: Location): void {
  const last = segments.at(-1)
  if (last && last[0] === pack && last[1] + last[2] === offset) segments[segments.length - 1] = [pack, last[1], last[2] + length]
  else segments.push([pack, offset, length])
}
