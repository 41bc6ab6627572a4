import { PACK_BYTES } from '#core/limits.ts'
import { createDirectoryWriter, type DirectoryEntry } from './pack-directory.ts'

/** A pack that is being filled: gzip members and pieces of the search section, then the directory of its records. */
export class OpenPack {
  readonly #directory = createDirectoryWriter()
  #members: Uint8Array[] = []
  #memberBytes = 0

  /** Bytes that still fit, with the directory after them. */
  get freeBytes(): number {
    return PACK_BYTES - this.#memberBytes - this.#directory.maxBytes()
  }

  /** Appends the bytes of a member and returns their offset. */
  append(member: Uint8Array): number {
    const offset = this.#memberBytes
    this.#members.push(member)
    this.#memberBytes += member.length
    return offset
  }

  addToDirectory(entry: DirectoryEntry): void {
    this.#directory.add(entry)
  }

  /** Returns all bytes, the directory last, and empties the pack; `null` when it holds nothing. */
  seal(): { bytes: Uint8Array; directoryBytes: number } | null {
    const directory = this.#directory.finish()
    const bytes = Buffer.concat([...this.#members, directory], this.#memberBytes + directory.length)
    this.#members = []
    this.#memberBytes = 0
    return bytes.length === 0 ? null : { bytes, directoryBytes: directory.length }
  }
}
