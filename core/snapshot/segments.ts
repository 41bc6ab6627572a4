import type { Location } from './format.ts'

/** Addresses the bytes of several segments as if they were concatenated. */

/** Total size in bytes. */
export function sizeOfSegments(segments: readonly Location[]): number {
  return segments.reduce((sum, [, , length]) => sum + length, 0)
}

/** The locations of a range of the concatenated segments. A range beyond their end is truncated. */
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

/** Appends a segment, or extends the last one if the new one follows it in the same pack. */
export function appendSegment(segments: Location[], [pack, offset, length]: Location): void {
  const last = segments.at(-1)
  if (last && last[0] === pack && last[1] + last[2] === offset) segments[segments.length - 1] = [pack, last[1], last[2] + length]
  else segments.push([pack, offset, length])
}
