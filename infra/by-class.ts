import type { BlobStore, ListOptions } from '#core/ports/blob-store.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { isPrivateKey, privateShare } from '#core/snapshot/key-class.ts'

/** Two stores as one: what is of private repositories lies in the second, and nothing of it reaches the first. Closing closes both. */
export function splitBlobs(others: BlobStore, ofPrivate: BlobStore): BlobStore {
  const at = (key: string) => (isPrivateKey(key) ? ofPrivate : others)
  return {
    create: async (key, bytes) => at(key).create(key, bytes),
    read: async key => at(key).read(key),
    readRange: async (key, offset, length) => at(key).readRange(key, offset, length),
    remove: async key => at(key).remove(key),
    ...splitListing(others, ofPrivate),
  }
}

/** The same for documents. */
export function splitStates(others: StateStore, ofPrivate: StateStore): StateStore {
  const at = (key: string) => (isPrivateKey(key) ? ofPrivate : others)
  return {
    read: async key => at(key).read(key),
    create: async (key, value) => at(key).create(key, value),
    replace: async (key, value, etag) => at(key).replace(key, value, etag),
    remove: async key => at(key).remove(key),
    ...splitListing(others, ofPrivate),
  }
}

type Listing = Pick<BlobStore, 'list' | 'close'>

function splitListing(others: Listing, ofPrivate: Listing): Listing {
  return {
    async list(prefix: string, options: ListOptions = {}) {
      const share = privateShare(prefix)
      if (share !== 'some') return await (share === 'all' ? ofPrivate : others).list(prefix, options)
      const lists = await Promise.all([others.list(prefix, options), ofPrivate.list(prefix, options)])
      // Keys are ASCII, so code units compare as bytes do.
      return lists.flat().sort().slice(0, options.limit)
    },
    async close() {
      await Promise.all([others.close(), ofPrivate.close()])
    },
  }
}
