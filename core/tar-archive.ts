import { encodeText, utf8Length } from './text.ts'

/** A file of an archive. */
export interface ArchiveFile {
  /** Path below the archive's root. */
  name: string
  sizeBytes: number
  isExecutable: boolean
}

/** Continues a CRC-32 with more bytes. */
export type Checksum = (bytes: Uint8Array, before: number) => number

const BLOCK_BYTES = 512
const NAME_BYTES = 100
const PREFIX_BYTES = 155
/** 1980-01-01: some programs warn of files from 1970. */
const MODIFIED_SECONDS = 315_532_800
/** Of a block that deflate stores as it is. */
const STORED_BYTES = 65_535
/** gzip, deflate, no name, no time, an unknown system. */
const GZIP_HEADER = new Uint8Array([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff])
/** An empty last block. */
const LAST_BLOCK = new Uint8Array([1, 0, 0, 0xff, 0xff])

/**
 * Writes a `.tar.gz` (POSIX ustar) reproducibly: the same names, modes and contents give the same bytes on every machine and with every version
 * of zlib, since deflate stores the contents uncompressed. A server compresses the archive on its way.
 */
export class ArchiveWriter {
  readonly #crc32: Checksum
  readonly #write: (bytes: Uint8Array) => void
  #checksum = 0
  #tarBytes = 0

  constructor(crc32: Checksum, write: (bytes: Uint8Array) => void) {
    this.#crc32 = crc32
    this.#write = write
    write(GZIP_HEADER)
  }

  /** @param file of a name for which `splitTarName` is not `null`. @param bytes exactly `file.sizeBytes` */
  add(file: ArchiveFile, bytes: Uint8Array): void {
    if (bytes.length !== file.sizeBytes) throw new RangeError(`${file.name} has ${bytes.length} bytes, not ${file.sizeBytes}`)
    this.#store(tarHeader(file))
    this.#store(bytes)
    this.#store(new Uint8Array(paddingBytes(bytes.length)))
  }

  end(): void {
    this.#store(new Uint8Array(2 * BLOCK_BYTES))
    this.#write(LAST_BLOCK)
    const trailer = new DataView(new ArrayBuffer(8))
    trailer.setUint32(0, this.#checksum, true)
    trailer.setUint32(4, this.#tarBytes % 2 ** 32, true)
    this.#write(new Uint8Array(trailer.buffer))
  }

  #store(bytes: Uint8Array): void {
    this.#checksum = this.#crc32(bytes, this.#checksum)
    this.#tarBytes += bytes.length
    for (let at = 0; at < bytes.length; at += STORED_BYTES) {
      const part = bytes.subarray(at, at + STORED_BYTES)
      const { length } = part
      this.#write(new Uint8Array([0, length & 0xff, length >> 8, ~length & 0xff, (~length >> 8) & 0xff]))
      this.#write(part)
    }
  }
}

/** Splits a path into the two fields that a ustar header has for it; `null` when it is too long for them. */
export function splitTarName(path: string): { name: string; prefix: string } | null {
  if (utf8Length(path) <= NAME_BYTES) return { name: path, prefix: '' }
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)]
    if (utf8Length(name) <= NAME_BYTES) return name !== '' && utf8Length(prefix) <= PREFIX_BYTES ? { name, prefix } : null
  }
  return null
}

function tarHeader({ name: path, sizeBytes, isExecutable }: ArchiveFile): Uint8Array {
  const split = splitTarName(path)
  if (split === null) throw new RangeError(`${path} is too long for an archive`)
  const header = new Uint8Array(BLOCK_BYTES)
  const text = (offset: number, value: string) => header.set(encodeText(value), offset)
  const octal = (offset: number, width: number, value: number) => text(offset, value.toString(8).padStart(width - 1, '0'))
  text(0, split.name)
  octal(100, 8, isExecutable ? 0o755 : 0o644)
  octal(108, 8, 0) // owner
  octal(116, 8, 0) // group
  octal(124, 12, sizeBytes)
  octal(136, 12, MODIFIED_SECONDS)
  text(148, ' '.repeat(8)) // the checksum counts as spaces
  text(156, '0') // a regular file
  text(257, 'ustar\0' + '00')
  octal(329, 8, 0) // device numbers
  octal(337, 8, 0)
  text(345, split.prefix)
  const sum = header.reduce((total, byte) => total + byte, 0)
  text(148, `${sum.toString(8).padStart(6, '0')}\0 `)
  return header
}

function paddingBytes(sizeBytes: number): number {
  return (BLOCK_BYTES - (sizeBytes % BLOCK_BYTES)) % BLOCK_BYTES
}
