/** Estimates of memory in bytes, for caches that are bounded by it. They rather exceed what the engine takes. */

/** Of a text: its units, two bytes each, and its header. */
export function memoryOfText(text: string): number {
  return TEXT_BYTES + 2 * text.length
}

/** Of plain data: texts, numbers, lists, maps, objects and what they hold. What occurs twice counts twice. */
export function memoryOf(value: unknown): number {
  if (typeof value === 'string') return memoryOfText(value)
  if (typeof value === 'bigint') return TEXT_BYTES
  if (value === null || typeof value !== 'object') return SLOT_BYTES
  if (value instanceof Map)
    return [...value].reduce((sum, [key, one]) => sum + MAP_ENTRY_BYTES + memoryOf(key) + memoryOf(one), OBJECT_BYTES)
  return Object.values(value).reduce((sum: number, one) => sum + SLOT_BYTES + memoryOf(one), OBJECT_BYTES)
}

/** Of an entry of a cache with plain data: its key, its value, and what the cache takes for it. */
export function memoryOfEntry(value: unknown, key: string): number {
  return ENTRY_BYTES + memoryOfText(key) + memoryOf(value)
}

/** Bound of a cache by the number of its entries. With `max` it would reserve their places when it is made, which takes some milliseconds for thousands. */
export function entriesAtMost(max: number): { maxSize: number; sizeCalculation: () => number } {
  return { maxSize: max, sizeCalculation: () => 1 }
}

const ENTRY_BYTES = 150
const TEXT_BYTES = 24
const SLOT_BYTES = 8
const OBJECT_BYTES = 32
/** Of an entry of a map, besides its key and its value. */
export const MAP_ENTRY_BYTES = 40
