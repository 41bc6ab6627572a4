import { z } from 'zod'

/**
 * Location of a byte range in a pack: index into `SnapshotHeader.packs`, byte offset, byte length. The range is a gzip member (a record,
 * which is the bytes of one file, or a shard of a table), or a segment of the search section.
 */
export const Location = z.tuple([z.int().min(0), z.int().min(0), z.int().min(1)])
export type Location = z.infer<typeof Location>

/**
 * Locations as one list of numbers, three for each: index of the pack, distance from the end of the previous location in that pack,
 * and length. Such numbers are small and compress well. There may be thousands: a schema for each would dominate the parsing of a header.
 */
export const Locations = z.codec(z.custom<number[]>(isListOfIntegers), z.custom<Location[]>(isListOfLocations), {
  decode(numbers) {
    const ends = new Map<number, number>()
    const locations: Location[] = []
    for (let at = 0; at < numbers.length; at += 3) {
      const [pack = -1, distance = 0, length = 0] = [numbers[at], numbers[at + 1], numbers[at + 2]]
      const offset = (ends.get(pack) ?? 0) + distance
      ends.set(pack, offset + length)
      locations.push([pack, offset, length])
    }
    return locations
  },
  encode(locations) {
    const ends = new Map<number, number>()
    return locations.flatMap(([pack, offset, length]) => {
      const distance = offset - (ends.get(pack) ?? 0)
      ends.set(pack, offset + length)
      return [pack, distance, length]
    })
  },
})

function isListOfIntegers(value: unknown): boolean {
  return Array.isArray(value) && value.every(Number.isSafeInteger)
}

function isListOfLocations(value: unknown): boolean {
  return Array.isArray(value) && value.every(([pack, offset, length]) => pack >= 0 && offset >= 0 && length >= 1)
}
