import { promisify } from 'node:util'
import { gzip, gzipSync } from 'node:zlib'

const gzipOnThread = promisify(gzip)
const GZIP = { level: 6 }
/** Handing a smaller member to the thread pool costs more than compressing it here. */
const THREAD_BYTES = 32 * 1024

export async function gzipMember(bytes: Uint8Array): Promise<Uint8Array> {
  // zlib returns a view of a larger buffer: the copy frees that buffer.
  return Uint8Array.from(bytes.length < THREAD_BYTES ? gzipSync(bytes, GZIP) : await gzipOnThread(bytes, GZIP))
}
