import { isUtf8 } from 'node:buffer'

/** A file or link in an archive. */
export interface TarEntry {
  /** With the folder that everything lies in; `null` when it is not UTF-8. */
  path: string | null
  kind: 'file' | 'link'
  sizeBytes: number
  /** The target of a link. */
  target: string
  /** The bytes of a file, in pieces; they are passed over when nobody reads them. */
  bytes(): AsyncGenerator<Uint8Array>
}

const BLOCK_BYTES = 512
const HEADER_BYTES = 64 * 1024

/** The archive is damaged, or no tar. */
export class TarError extends Error {}

/**
 * The files and links of a tar as git makes it: ustar with pax headers. Folders and everything else are passed over.
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
      if (sizeBytes > HEADER_BYTES) throw new TarError('a header of the archive is too long')
      const records = await source.take(sizeBytes)
      if (records === null) throw new TarError('the archive ends early')
      // Global ones name the commit alone.
      if (type === 'x') pax = readPax(records)
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
    /** Exactly so many; `null` when the archive ends before. */
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
  if (sum !== readNumber(header.subarray(148, 156))) throw new TarError('the archive is damaged, or no tar')
}

/** Octal digits between blanks. */
function readNumber(field: Uint8Array): number {
  const text = Buffer.from(field).toString('latin1').replace(/\0.*$/s, '').trim()
  if (!/^[0-7]*$/.test(text)) throw new TarError('a number of the archive is none')
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

/** `<length> <key>=<value>\n`, the length of the whole record. */
function readPax(records: Buffer): Record<string, Buffer> {
  const found: Record<string, Buffer> = {}
  for (let start = 0; start < records.length; ) {
    const space = records.indexOf(0x20, start)
    const length = Number(records.toString('latin1', start, space))
    const equals = records.indexOf(0x3d, space)
    if (space < 0 || equals < 0 || !Number.isInteger(length) || length <= equals - start || start + length > records.length)
      throw new TarError('a header of the archive is damaged')
    found[records.toString('latin1', space + 1, equals)] = records.subarray(equals + 1, start + length - 1)
    start += length
  }
  return found
}
