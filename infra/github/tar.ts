import { isUtf8 } from 'node:buffer'

/** A file or link in an archive. */
export interface TarEntry {
  /** Includes the top folder of the archive; `null` when it is not UTF-8. */
  path: string | null
  kind: 'file' | 'link'
  sizeBytes: number
  /** The target of a link. */
  target: string
  /** The bytes of a file. Unread bytes are skipped. */
  bytes(): AsyncGenerator<Uint8Array>
}

const BLOCK_BYTES = 512
const HEADER_BYTES = 64 * 1024

/** The archive is damaged, or is not a tar archive. */
export class TarError extends Error {}

/**
 * The files and links of a tar archive as git writes it: ustar with pax headers. Skips all other entries.
 *
 * @throws TarError
 */
export async function* readTar(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry> {
  const source = createSource(chunks)
  let pax: Readonly<Record<string, Buffer>> = {}
  for (;;) {
    const header = await source.take(BLOCK_BYTES)
    if (header === null || header.every(byte => byte === 0)) return
    requireChecksum(header)
    const type = String.fromCharCode(header[156] as number)
    const sizeBytes = pax.size ? Number(pax.size.toString()) : readNumber(header.subarray(124, 136))
    const padding = (BLOCK_BYTES - (sizeBytes % BLOCK_BYTES)) % BLOCK_BYTES
    if (type === 'x' || type === 'g') {
      if (sizeBytes > HEADER_BYTES)
        throw new TarError(`the archive has a header of ${sizeBytes} bytes: the limit is ${HEADER_BYTES}`)
      const lines = await source.take(sizeBytes)
      if (lines === null) throw new TarError('the archive ends early')
      // Global headers hold only the commit id.
      if (type === 'x') pax = readPax(lines)
      await source.skip(padding)
      continue
    }
    let left = sizeBytes
    const name = pax.path ?? joinName(textField(header, 345, 155), textField(header, 0, 100))
    const target = (pax.linkpath ?? textField(header, 157, 100)).toString()
    pax = {}
    if (type === '0' || type === '\0' || type === '2') {
      yield {
        path: isUtf8(name) ? name.toString() : null,
        kind: type === '2' ? 'link' : 'file',
        sizeBytes,
        target,
        async *bytes() {
          while (left > 0) {
            const piece = await source.some(left)
            if (piece === null) throw new TarError('the archive ends early')
            left -= piece.length
            yield piece
          }
        },
      }
    }
    await source.skip(left + padding)
  }
}

function createSource(chunks: AsyncIterable<Uint8Array>) {
  const iterator = chunks[Symbol.asyncIterator]()
  let chunk: Uint8Array = new Uint8Array()

  async function some(most: number): Promise<Uint8Array | null> {
    while (chunk.length === 0) {
      const next = await iterator.next()
      if (next.done) return null
      chunk = next.value
    }
    const piece = chunk.subarray(0, most)
    chunk = chunk.subarray(piece.length)
    return piece
  }

  return {
    some,
    /** Exactly `count` bytes; `null` when the archive ends before. */
    async take(count: number): Promise<Buffer | null> {
      const taken = Buffer.alloc(count)
      for (let filled = 0; filled < count; ) {
        const piece = await some(count - filled)
        if (piece === null) return null
        taken.set(piece, filled)
        filled += piece.length
      }
      return taken
    },
    async skip(count: number): Promise<void> {
      for (let left = count; left > 0; ) {
        const piece = await some(left)
        if (piece === null) throw new TarError('the archive ends early')
        left -= piece.length
      }
    },
  }
}

function requireChecksum(header: Buffer): void {
  let sum = 0
  for (let index = 0; index < BLOCK_BYTES; index++) sum += index >= 148 && index < 156 ? 0x20 : (header[index] as number)
  if (sum !== readNumber(header.subarray(148, 156))) throw new TarError('the archive is damaged, or is not a tar archive')
}

/** A number in octal digits, padded with blanks. */
function readNumber(field: Uint8Array): number {
  const text = Buffer.from(field).toString('latin1').replace(/\0.*$/s, '').trim()
  if (!/^[0-7]*$/.test(text)) throw new TarError('the archive is damaged: a number has other characters than octal digits')
  return Number.parseInt(text || '0', 8)
}

function textField(header: Buffer, start: number, length: number): Buffer {
  const field = header.subarray(start, start + length)
  const end = field.indexOf(0)
  return end < 0 ? field : field.subarray(0, end)
}

function joinName(prefix: Buffer, name: Buffer): Buffer {
  return prefix.length === 0 ? name : Buffer.concat([prefix, Buffer.from('/'), name])
}

/** Parses a pax header: lines of `<length> <key>=<value>\n`, where the length is that of the whole line. */
function readPax(lines: Buffer): Record<string, Buffer> {
  const found: Record<string, Buffer> = {}
  for (let start = 0; start < lines.length; ) {
    const space = lines.indexOf(0x20, start)
    const length = Number(lines.toString('latin1', start, space))
    const equals = lines.indexOf(0x3d, space)
    if (space < 0 || equals < 0 || !Number.isInteger(length) || length <= equals - start || start + length > lines.length)
      throw new TarError('the archive has a damaged pax header')
    found[lines.toString('latin1', space + 1, equals)] = lines.subarray(equals + 1, start + length - 1)
    start += length
  }
  return found
}
