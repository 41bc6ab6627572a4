import { createHash } from 'node:crypto'
import { PACK_BYTES } from '#core/limits.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import type { Location, PackEntry } from '#core/snapshot/format.ts'
import { appendSegment } from '#core/snapshot/segments.ts'
import { packKey } from '#core/snapshot/store-keys.ts'
import { createDirectoryWriter, type DirectoryEntry } from './pack-directory.ts'

/** The packs of one snapshot: those reused from an earlier snapshot, then its own, each stored once it is full. Calls must not overlap. */
export class PackSeries {
  readonly #objects: CreatedObjects
  readonly #repository: HostRepository
  readonly #stored: PackEntry[]
  readonly #open = new OpenPack()
  #usedBytes = 0

  constructor(objects: CreatedObjects, repository: HostRepository, reused: readonly PackEntry[]) {
    this.#objects = objects
    this.#repository = repository
    this.#stored = [...reused]
  }

  /** The packs so far; the open one is not among them. */
  get packs(): PackEntry[] {
    return this.#stored
  }

  /** Bytes that the snapshot refers to, in all packs. */
  get usedBytes(): number {
    return this.#usedBytes
  }

  /** Counts a location in a reused pack as used. */
  use(location: Location): Location {
    this.#usedBytes += location[2]
    return location
  }

  async place(member: Uint8Array): Promise<Location> {
    if (member.length > this.#open.freeBytes) await this.seal()
    return this.use([this.#stored.length, this.#open.append(member), member.length])
  }

  async placeRecord(oid: string, sizeBytes: number, member: Uint8Array): Promise<Location> {
    const location = await this.place(member)
    this.#open.addToDirectory({ oid, sizeBytes, record: { offset: location[1], length: location[2] } })
    return location
  }

  /** Fills packs to their end with the bytes, and appends their locations to `segments`. */
  async placeBytes(bytes: Uint8Array, segments: Location[]): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      if (this.#open.freeBytes <= 0) await this.seal()
      const piece = bytes.subarray(at, at + this.#open.freeBytes)
      appendSegment(segments, await this.place(piece))
      at += piece.length
    }
  }

  /** Notes the size of a blob without a record in the directory of the open pack. */
  async noteSize(oid: string, sizeBytes: number): Promise<void> {
    if (this.#open.freeBytes <= 0) await this.seal()
    this.#open.addToDirectory({ oid, sizeBytes, record: null })
  }

  /** Stores the open pack, unless it is empty. */
  async seal(): Promise<void> {
    const sealed = this.#open.seal()
    if (sealed === null) return
    const { bytes, directoryBytes } = sealed
    const name = packNameOf(bytes)
    this.#stored.push({ name, sizeBytes: bytes.length, directoryBytes })
    await this.#objects.create(packKey(this.#repository, name), bytes)
  }
}

/** A pack that is being filled: gzip members and pieces of the search section, then the directory of its records. */
class OpenPack {
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

/** Creates objects and counts those that did not exist before. */
export class CreatedObjects {
  objects = 0
  bytes = 0
  readonly #blobs: Pick<BlobStore, 'create'>

  constructor(blobs: Pick<BlobStore, 'create'>) {
    this.#blobs = blobs
  }

  /** Returns `false` when the key exists already. */
  async create(key: string, bytes: Uint8Array): Promise<boolean> {
    if ((await this.#blobs.create(key, bytes)) === 'exists') return false
    this.objects++
    this.bytes += bytes.length
    return true
  }
}

/** The name of a pack: a hash of its bytes. */
export function packNameOf(pack: Uint8Array): string {
  return createHash('sha256').update(pack).digest('hex').slice(0, 40)
}
