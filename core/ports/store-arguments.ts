/** What every driver of the stores refuses, so that none accepts a key that another cannot hold. */

/** A key of a bucket has 1,024 bytes at most, and an operator may put a prefix of up to 127 and a slash before ours. */
export const KEY_BYTES = 896
// A file name of 255 bytes less one: the disk driver marks objects with a character behind the name.
const SEGMENT_BYTES = 254

/**
 * Segments of `[a-z0-9._-]` with `/` between them.
 *
 * @throws RangeError for any other text: a key is spelled by code, never by a visitor
 */
export function requireKey(key: string): void {
  const holds = key.length <= KEY_BYTES && key.split('/').every(isSegment)
  if (!holds) throw new RangeError(`not a key of the store: ${JSON.stringify(key.slice(0, 200))}`)
}

/** The beginning of a key: whole segments, then any part of one. Empty means all keys. @throws RangeError */
export function requirePrefix(prefix: string): void {
  const folderEnd = prefix.lastIndexOf('/')
  if (folderEnd >= 0) requireKey(prefix.slice(0, folderEnd))
  const rest = prefix.slice(folderEnd + 1)
  if (!/^[a-z0-9._-]*$/.test(rest)) throw new RangeError(`not a prefix of keys: ${JSON.stringify(prefix.slice(0, 200))}`)
}

/** A place or a count: a whole number from zero on. @throws RangeError */
export function requireCount(name: string, value: number): void {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${name} must be a whole number from zero on, not ${value}`)
}

function isSegment(segment: string): boolean {
  return segment.length <= SEGMENT_BYTES && /^[a-z0-9._-]+$/.test(segment) && segment !== '.' && segment !== '..'
}
