import { gunzipSync, gzipSync } from 'node:zlib'
import { ByteReader, ByteWriter, varintBytes } from '#core/search/bytes.ts'

/**
 * The directory at the end of a pack: which blobs have their records in it, and of which other blobs the size was learnt meanwhile.
 * It is of use to whoever indexes the next commit, and to nobody else: a gzip member of entries of an id of 20 bytes and three varints,
 * which are the size of the blob, the length of its record or 0, and the distance of the record from the end of the one before.
 */
export interface DirectoryEntry {
  /** The id that git gives the blob. */
  oid: string
  sizeBytes: number
  /** Where the record lies in the pack; `null`: there is none. */
  record: { offset: number; length: number } | null
}

export interface DirectoryWriter {
  /** Records come in the order in which they lie in the pack. */
  add(entry: DirectoryEntry): void
  /** What `finish` gives at most, with one more entry. */
  maxBytes(): number
  /** No bytes when there are no entries. The writer is empty again. */
  finish(): Uint8Array
}

const OID_BYTES = 20
/** What an entry takes at most. */
const ENTRY_BYTES = OID_BYTES + 3 * varintBytes(0xffff_ffff)

export function createDirectoryWriter(): DirectoryWriter {
  const entries = new ByteWriter()
  let end = 0
  return {
    add({ oid, sizeBytes, record }) {
      entries.bytes(Buffer.from(oid, 'hex'))
      entries.varint(sizeBytes)
      entries.varint(record?.length ?? 0)
      if (record === null) return
      entries.varint(record.offset - end)
      end = record.offset + record.length
    },
    // Bytes that do not compress grow by less than a thousandth.
    maxBytes: () => Math.ceil((entries.length + ENTRY_BYTES) * 1.001) + GZIP_BYTES,
    finish() {
      if (entries.length === 0) return NO_BYTES
      const directory = gzipSync(entries.finish())
      entries.cut(0)
      end = 0
      return directory
    },
  }
}

/** Head and tail of a gzip member, and one block. */
const GZIP_BYTES = 32
const NO_BYTES = new Uint8Array(0)
/** What a directory may unpack to: it was shorter than its pack. */
const DIRECTORY_BYTES = 16 * 1024 * 1024

/** @throws Error when the bytes are no directory */
export function readDirectory(bytes: Uint8Array): DirectoryEntry[] {
  if (bytes.length === 0) return []
  const reader = new ByteReader(gunzipSync(bytes, { maxOutputLength: DIRECTORY_BYTES }))
  const entries: DirectoryEntry[] = []
  let end = 0
  while (!reader.atEnd) {
    const oid = Buffer.from(reader.bytes(OID_BYTES)).toString('hex')
    const sizeBytes = reader.varint()
    const length = reader.varint()
    const record = length === 0 ? null : { offset: end + reader.varint(), length }
    if (record) end = record.offset + record.length
    entries.push({ oid, sizeBytes, record })
  }
  return entries
}
