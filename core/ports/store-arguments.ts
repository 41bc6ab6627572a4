/** Argument checks of every store driver, so that no driver accepts a key that another one cannot store. */

/** A bucket allows keys of 1,024 bytes, including the operator's prefix of up to 127 bytes and a slash. */
export const KEY_BYTES = 896
// File names have at most 255 bytes, and the disk driver appends one character.
const SEGMENT_BYTES = 254

/**
 * Requires segments of `[a-z0-9._-]`, separated by `/`.
 *
 * @throws RangeError for any other text: keys come from code, never from a visitor
 */
export function requireKey(key: string): void {
  const holds = key.length <= KEY_BYTES && key.split('/').every(isSegment)
  if (!holds) throw new RangeError(`not a key of the store: ${JSON.stringify(key.slice(0, 200))}`)
}

/** Requires a prefix of a key: whole segments, then a part of one. Empty stands for all keys. @throws RangeError */
export function requirePrefix(prefix: string): void {
  const folderEnd = prefix.lastIndexOf('/')
  if (folderEnd >= 0) requireKey(prefix.slice(0, folderEnd))
  const rest = prefix.slice(folderEnd + 1)
  if (!/^[a-z0-9._-]*$/.test(rest)) throw new RangeError(`not a prefix of keys: ${JSON.stringify(prefix.slice(0, 200))}`)
}

/** Requires a whole number from 0 on. @throws RangeError */
export function requireCount(name: string, value: number): void {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${name} must be a whole number from 0 on, not ${value}`)
}

function isSegment(segment: string): boolean {
  return segment.length <= SEGMENT_BYTES && /^[a-z0-9._-]+$/.test(segment) && segment !== '.' && segment !== '..'
}
