/**
 * Parses a JSON object with long lists of objects as a stream: calls `onRow` with every element of a list, one at a time.
 *
 * @returns the object, with its lists empty
 * @throws SyntaxError when the body is not JSON of this shape
 */
export async function readRows(body: AsyncIterable<Uint8Array>, onRow: (row: unknown) => void): Promise<unknown> {
  const scanner = createScanner(onRow)
  for await (const chunk of body) scanner.take(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))
  return JSON.parse(scanner.outside())
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]
/** Nesting depth of a row: object, list, row. */
const ROW_DEPTH = 3

// Works on bytes: in UTF-8, no byte of another character equals a bracket, a brace, a quote or a backslash.
function createScanner(onRow: (row: unknown) => void): { take(chunk: Buffer): void; outside(): string } {
  const outside: Buffer[] = []
  let rowParts: Buffer[] = []
  let depth = 0
  let isInList = false
  let isInText = false
  let isEscaped = false

  const isOutside = () => depth < ROW_DEPTH - 1 || !isInList

  return {
    take(chunk) {
      /** Start of the bytes that are collected now. */
      let start = 0
      for (let at = 0; at < chunk.length; at++) {
        const byte = chunk[at]
        if (isInText) {
          if (isEscaped) isEscaped = false
          else if (byte === BACKSLASH) isEscaped = true
          else if (byte === QUOTE) isInText = false
        } else if (byte === QUOTE) isInText = true
        else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
          depth++
          if (depth === ROW_DEPTH - 1 && byte === OPEN_LIST) {
            outside.push(Buffer.from(chunk.subarray(start, at + 1)))
            isInList = true
          } else if (depth === ROW_DEPTH && isInList) start = at
        } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
          depth--
          if (depth === ROW_DEPTH - 1 && isInList) {
            onRow(JSON.parse(textOf(rowParts, chunk.subarray(start, at + 1))))
            rowParts = []
          } else if (depth === ROW_DEPTH - 2 && isInList) {
            isInList = false
            start = at
          }
        }
      }
      if (isOutside()) outside.push(Buffer.from(chunk.subarray(start)))
      else if (depth >= ROW_DEPTH) rowParts.push(Buffer.from(chunk.subarray(start)))
    },
    outside: () => Buffer.concat(outside).toString(),
  }
}

function textOf(parts: readonly Buffer[], rest: Buffer): string {
  return parts.length === 0 ? rest.toString() : Buffer.concat([...parts, rest]).toString()
}
