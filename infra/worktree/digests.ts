import { createHash } from 'node:crypto'
import { openReal } from '../git/contained.ts'

/** Digests of a file, in hexadecimal digits. */
export interface FileDigests {
  /** The id that git gives these bytes. */
  blob: string
  sha256: string
}

const CHUNK_BYTES = 256 * 1024

/**
 * Reads a file of any size in pieces. `null` when no regular file of this size lies there any more, or when a component of the path is a link.
 *
 * @param path as `realpath` returns it
 * @param onPiece called after each piece; may throw
 */
export async function digestFile(path: string, sizeBytes: number, onPiece: () => void): Promise<FileDigests | null> {
  const file = await openReal(path)
  if (file === null) return null
  try {
    const stats = await file.stat()
    if (!stats.isFile() || stats.size !== sizeBytes) return null
    const hashes = { blob: createHash('sha1').update(`blob ${sizeBytes}\0`), sha256: createHash('sha256') }
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
    let read = 0
    for (;;) {
      const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, read)
      if (bytesRead === 0) break
      read += bytesRead
      // It grows while it is read.
      if (read > sizeBytes) return null
      hashes.blob.update(chunk.subarray(0, bytesRead))
      hashes.sha256.update(chunk.subarray(0, bytesRead))
      onPiece()
    }
    return read === sizeBytes ? { blob: hashes.blob.digest('hex'), sha256: hashes.sha256.digest('hex') } : null
  } finally {
    await file.close()
  }
}
