import type { BlobStore } from '#core/ports/blob-store.ts'
import type { CommitSha } from '#core/snapshot/format.ts'
import { indexRepository } from '#indexer/index-repository.ts'
import { createSnapshotWriter } from '#indexer/snapshot-writer.ts'
import { writeSnapshot } from '#indexer/write-snapshot.ts'
import { parseSharedInfraSettings } from '#infra/config.ts'
import { openStores } from '#infra/stores.ts'
import { openSource } from '#test/eval/items.ts'
import { countStore } from '#test/support/counted-store.ts'
import { holdRepository } from './held-reader.ts'

/**
 * One commit written into the store of the settings, by a process of its own: `store-once.ts commit|pack <root> <owner> <name> <commit>`
 * prints figures as JSON. `commit` is a whole job. `pack` packs and uploads a repository that is in memory already, and leaves out the search.
 */
const [mode, root, owner, name, commit] = process.argv.slice(2) as ['commit' | 'pack', string, string, string, CommitSha]
const source = { ...(await openSource(root, owner, name)), commit }
const stores = await openStores(parseSharedInfraSettings(process.env))
const counted = countStore(stores.blobs)
const uploads = timeUploads(counted.blobs)

let startedAt = performance.now()
let usedBytes: number
if (mode === 'commit') {
  const deps = { blobs: uploads.blobs, docs: stores.docs, hosts: [source.host] }
  const written = await writeSnapshot(deps, source, new AbortController().signal)
  if (written === null) throw new Error('the commit is there already')
  usedBytes = written.header.usedBytes
} else {
  const reader = await holdRepository(source)
  startedAt = performance.now()
  const writer = createSnapshotWriter(uploads.blobs, source.repository, commit)
  usedBytes = (await indexRepository(writer, reader, source.repository)).header.usedBytes
}
const seconds = (performance.now() - startedAt) / 1000
process.stdout.write(JSON.stringify({ ...counted.counts, usedBytes, seconds, uploadSeconds: uploads.seconds() }))
await stores.close()
await source.host.close()

/** Counts the time in which at least one object is on its way. */
function timeUploads(blobs: BlobStore): { blobs: BlobStore; seconds(): number } {
  let underWay = 0
  let since = 0
  let milliseconds = 0
  return {
    blobs: {
      ...blobs,
      async create(key, bytes) {
        if (underWay++ === 0) since = performance.now()
        try {
          return await blobs.create(key, bytes)
        } finally {
          if (--underWay === 0) milliseconds += performance.now() - since
        }
      },
    },
    seconds: () => milliseconds / 1000,
  }
}
