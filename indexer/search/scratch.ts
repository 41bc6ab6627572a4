import { randomUUID } from 'node:crypto'
import { open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Storage for bytes that exceed memory: append only, read anywhere. */
export interface Scratch {
  /** Appends bytes and resolves with their position. */
  append(bytes: Uint8Array): Promise<number>
  read(position: number, length: number): Promise<Uint8Array>
  /** Deletes the bytes. */
  close(): Promise<void>
}

/** Opens a temporary file. Where the platform allows it, the file is unlinked as soon as it is open. */
export async function openScratchFile(): Promise<Scratch> {
  const path = join(tmpdir(), `mountglass-${randomUUID()}`)
  const file = await open(path, 'wx+', 0o600)
  // Unlinked now, so a crash leaves no file. Where an open file cannot be removed, `close` removes it.
  await rm(path).catch(() => {})
  let size = 0
  return {
    async append(bytes) {
      const position = size
      for (let written = 0; written < bytes.length; ) {
        written += (await file.write(bytes, written, bytes.length - written, position + written)).bytesWritten
      }
      size += bytes.length
      return position
    },
    async read(position, length) {
      const bytes = new Uint8Array(length)
      for (let read = 0; read < length; ) {
        const { bytesRead } = await file.read(bytes, read, length - read, position + read)
        if (bytesRead === 0) throw new RangeError('the scratch file is truncated')
        read += bytesRead
      }
      return bytes
    },
    async close() {
      await file.close()
      await rm(path, { force: true })
    },
  }
}
