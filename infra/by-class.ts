import type { BlobStore, ListOptions } from '#core/ports/blob-store.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { isPrivateKey, privateShare } from '#core/snapshot/key-class.ts'

/** Combines two blob stores: keys of private repositories go to the second, all others to the first. Closing closes both. */
export function splitBlobs(publicStore: BlobStore, privateStore: BlobStore): BlobStore {
  const at = (key: string) => (isPrivateKey(key) ? privateStore : publicStore)
  return {
    create: async (key, bytes) => at(key).create(key, bytes),
    read: async key => at(key).read(key),
    readRange: async (key, offset, length) => at(key).readRange(key, offset, length),
    remove: async key => at(key).remove(key),
    ...splitListing(publicStore, privateStore),
  }
}

/** Combines two state stores in the same way. */
export function splitStates(publicStore: StateStore, privateStore: StateStore): StateStore {
  const at = (key: string) => (isPrivateKey(key) ? privateStore : publicStore)
  return {
    read: async key => at(key).read(key),
    create: async (key, value) => at(key).create(key, value),
    replace: async (key, value, etag) => at(key).replace(key, value, etag),
    remove: async key => at(key).remove(key),
    ...splitListing(publicStore, privateStore),
  }
}

type Listing = Pick<BlobStore, 'list' | 'close'>

function splitListing(publicStore: Listing, privateStore: Listing): Listing {
  return {
    async list(prefix: string, options: ListOptions = {}) {
      const share = privateShare(prefix)
      if (share !== 'some') return await (share === 'all' ? privateStore : publicStore).list(prefix, options)
      const lists = await Promise.all([publicStore.list(prefix, options), privateStore.list(prefix, options)])
      // Keys are ASCII, so code units compare as bytes do.
      return lists.flat().sort().slice(0, options.limit)
    },
    async close() {
      await Promise.all([publicStore.close(), privateStore.close()])
    },
  }
}
