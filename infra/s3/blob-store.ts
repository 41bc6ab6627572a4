import type { BlobStore } from '#core/ports/blob-store.ts'
import { requireCount, requireKey } from '#core/ports/store-arguments.ts'
import { repeat } from './attempts.ts'
import { type Bucket, listKeys } from './bucket.ts'
import { newNonce, putConditionally } from './conditional-put.ts'

export interface S3BlobStoreOptions {
  /**
   * Whether the server supports `If-None-Match: *`. Without it, the store checks for the object before it writes, and several parallel
   * creates may answer `created`.
   */
  createsOnly: boolean
}

/**
 * Blobs as objects of a bucket, each written whole by one request, which may be repeated. Closing the store closes the bucket.
 * Throws StoreError for a permanent error at once, for a transient one after `ATTEMPTS` attempts.
 */
export function createS3BlobStore(bucket: Bucket, { createsOnly }: S3BlobStoreOptions): BlobStore {
  return {
    async create(key, bytes) {
      requireKey(key)
      const object = { key, bytes, type: 'application/octet-stream' } as const
      if (!createsOnly) {
        if ((await bucket.head(key)) !== null) return 'exists'
        await repeat(() => bucket.put(object))
        return 'created'
      }
      const nonce = newNonce()
      const outcome = await putConditionally({
        over: null,
        put: () => bucket.put({ ...object, condition: 'absent', nonce }),
        async current() {
          const found = await bucket.head(key)
          return found && { etag: found.etag, isOurs: found.nonce === nonce }
        },
      })
      return outcome.status === 'written' ? 'created' : 'exists'
    },

    async read(key) {
      requireKey(key)
      const found = await bucket.get(key)
      return found && { bytes: found.bytes, createdAt: found.writtenAt }
    },

    async readRange(key, offset, length) {
      requireKey(key)
      requireCount('offset', offset)
      requireCount('length', length)
      if (length > 0) return await bucket.getRange(key, offset, length)
      // HTTP has no empty ranges.
      return (await bucket.head(key)) && new Uint8Array()
    },

    list: (prefix, options) => listKeys(bucket, prefix, options),

    async remove(key) {
      requireKey(key)
      await bucket.remove(key)
    },

    async close() {
      bucket.close()
    },
  }
}
