/** Characters are Unicode code points; bytes are UTF-8. */

const encoder = new TextEncoder()
const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Decodes UTF-8 strictly, and keeps a byte order mark as U+FEFF. `null` when the bytes are malformed or contain NUL. */
export function decodeText(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null
  try {
    return strictDecoder.decode(bytes)
  } catch {
    return null
  }
}

/** Whether a text is a pointer of Git LFS, which keeps the file elsewhere. */
export function isLfsPointer(text: string): boolean {
  return text.length <= 200 && text.startsWith('version https://git-lfs.github.com/spec/')
}

export function encodeText(text: string): Uint8Array {
  return encoder.encode(text)
}

/** A copy that keeps nothing else in memory: a part of a longer text, also one that a regular expression captured, keeps that text. */
export function detached(text: string): string {
  return Buffer.from(text).toString()
}

export function utf8Length(text: string): number {
  return Buffer.byteLength(text, 'utf8')
}

/** The number of code points. */
export function countCharacters(text: string): number {
  let surrogatePairs = 0
  for (let index = 0; index < text.length; index++) {
    if (isLeadSurrogate(text.charCodeAt(index)) && isTrailSurrogate(text.charCodeAt(index + 1))) {
      surrogatePairs++
      index++
    }
  }
  return text.length - surrogatePairs
}

/** `length` code points of the text from code point `offset` on. */
export function sliceCharacters(text: string, offset: number, length: number): string {
  const start = indexOfCharacter(text, 0, offset)
  return text.slice(start, indexOfCharacter(text, start, length))
}

/** The text, cut to at most `limit` code points; a cut text ends with an ellipsis. */
export function truncateCharacters(text: string, limit: number): string {
  return countCharacters(text) <= limit ? text : `${sliceCharacters(text, 0, limit - 1)}…`
}

/** The text without the characters at its end that the expression matches. Takes linear time, which an expression with `+$` does not. */
export function withoutTrailing(text: string, character: RegExp): string {
  let end = text.length
  while (end > 0 && character.test(text.charAt(end - 1))) end--
  return text.slice(0, end)
}

/** The longest prefix of at most `limitBytes` bytes of UTF-8. Never splits a code point. */
export function cutAtBytes(text: string, limitBytes: number): string {
  // A UTF-16 unit takes at most three bytes.
  if (3 * text.length <= limitBytes) return text
  let bytes = 0
  let index = 0
  while (index < text.length) {
    const code = text.charCodeAt(index)
    const pair = isLeadSurrogate(code) && isTrailSurrogate(text.charCodeAt(index + 1))
    bytes += pair ? 4 : code < 0x80 ? 1 : code < 0x800 ? 2 : 3
    if (bytes > limitBytes) return text.slice(0, index)
    index += pair ? 2 : 1
  }
  return text
}

/** Orders strings by their UTF-8 bytes, which is the order of their code points. */
export function compareBytes(left: string, right: string): number {
  const length = Math.min(left.length, right.length)
  for (let index = 0; index < length; index++) {
    const a = left.charCodeAt(index)
    const b = right.charCodeAt(index)
    if (a !== b) return orderOfUnit(a) - orderOfUnit(b)
  }
  return left.length - right.length
}

// Surrogates encode code points above U+FFFF, so they sort after the units U+E000..U+FFFF.
function orderOfUnit(unit: number): number {
  if (unit >= 0xe000) return unit - 0x800
  return unit >= 0xd800 ? unit + 0x2000 : unit
}

function indexOfCharacter(text: string, from: number, characters: number): number {
  let index = from
  for (let left = characters; left > 0 && index < text.length; left--) {
    index += isLeadSurrogate(text.charCodeAt(index)) && isTrailSurrogate(text.charCodeAt(index + 1)) ? 2 : 1
  }
  return index
}

function isLeadSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

function isTrailSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}
