import type { BlobStore } from '#core/ports/blob-store.ts'

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
