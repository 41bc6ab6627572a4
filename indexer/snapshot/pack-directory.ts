import { gunzipSync, gzipSync } from 'node:zlib'
import { ByteReader, ByteWriter, varintBytes } from '#core/search/bytes.ts'

/**
 * The directory at the end of a pack: the blobs with a record in the pack, and other blobs of known size. Only the indexing of the next commit
 * reads it. It is a gzip member of entries: a blob id of 20 bytes and varints for the size of the blob, the length of its record or 0, and the
 * distance of the record from the end of the previous one.
 */
export interface DirectoryEntry {
  /** The id that git gives the blob. */
  oid: string
  sizeBytes: number
  /** The location of the record in the pack; `null` when only the size is known. */
  record: { offset: number; length: number } | null
}

export interface DirectoryWriter {
  /** Records come in the order of their offsets. */
  add(entry: DirectoryEntry): void
  /** Maximum length of `finish` after one more entry. */
  maxBytes(): number
  /** The compressed directory; empty when there are no entries. Clears the writer. */
  finish(): Uint8Array
}

const OID_BYTES = 20
/** Maximum length of an entry. */
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
    // Incompressible bytes grow by less than 0.1 %.
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

/** Header and trailer of a gzip member, and one block. */
const GZIP_BYTES = 32
const NO_BYTES = new Uint8Array(0)
/** Maximum size of an unpacked directory. */
const DIRECTORY_BYTES = 16 * 1024 * 1024

/** @throws Error when the bytes are not a directory */
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
