import { randomUUID } from 'node:crypto'
import { open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Bytes that are too many to hold: written from the front, read anywhere. */
export interface Scratch {
  /** Writes behind what was written before, and returns where. */
  append(bytes: Uint8Array): Promise<number>
  read(position: number, length: number): Promise<Uint8Array>
  /** Gives the bytes up. */
  close(): Promise<void>
}

/** A file that only this process knows of. Where the platform has it, the file is gone from its folder as soon as it is open. */
export async function openScratchFile(): Promise<Scratch> {
  const path = join(tmpdir(), `mountglass-${randomUUID()}`)
  const file = await open(path, 'wx+', 0o600)
  // A process that dies leaves nothing behind. Where an open file cannot be removed, it goes when it is closed.
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
        if (bytesRead === 0) throw new RangeError('the scratch file is shorter than what was written')
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
