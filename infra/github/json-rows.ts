/**
 * Reads a JSON object that holds a long list of objects, without ever holding the list: each of its rows is parsed by itself, and handed on.
 *
 * @returns the object, with nothing in its lists
 * @throws SyntaxError when it is no such JSON
 */
export async function readRows(body: AsyncIterable<Uint8Array>, onRow: (row: unknown) => void): Promise<unknown> {
  const scanner = createScanner(onRow)
  for await (const chunk of body) scanner.take(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))
  return JSON.parse(scanner.outside())
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]
/** How deep a row lies: in a list of the object. */
const ROW_DEPTH = 3

// What tells where a row begins and ends is ASCII, and no byte of another character looks like it.
function createScanner(onRow: (row: unknown) => void): { take(chunk: Buffer): void; outside(): string } {
  const outside: Buffer[] = []
  let begun: Buffer[] = []
  let depth = 0
  let isInList = false
  let isInText = false
  let isEscaped = false

  const isOutside = () => depth < ROW_DEPTH - 1 || !isInList

  return {
    take(chunk) {
      /** Where what is being gathered begins. */
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
            onRow(JSON.parse(textOf(begun, chunk.subarray(start, at + 1))))
            begun = []
          } else if (depth === ROW_DEPTH - 2 && isInList) {
            isInList = false
            start = at
          }
        }
      }
      if (isOutside()) outside.push(Buffer.from(chunk.subarray(start)))
      else if (depth >= ROW_DEPTH) begun.push(Buffer.from(chunk.subarray(start)))
    },
    outside: () => Buffer.concat(outside).toString(),
  }
}

function textOf(begun: readonly Buffer[], rest: Buffer): string {
  return begun.length === 0 ? rest.toString() : Buffer.concat([...begun, rest]).toString()
}
