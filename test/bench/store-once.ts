import type { CommitSha } from '#core/commit-sha.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import { indexRepository } from '#indexer/pipeline/index-repository.ts'
import { readTree } from '#indexer/pipeline/read-tree.ts'
import { writeSnapshot } from '#indexer/pipeline/write-snapshot.ts'
import { createSnapshotWriter, type SnapshotWriter, type WrittenSnapshot } from '#indexer/snapshot/snapshot-writer.ts'
import { parseSharedInfraSettings } from '#infra/infra-settings.ts'
import { createMemoryBlobStore } from '#infra/memory-stores.ts'
import { openStores } from '#infra/stores.ts'
import { systemClock } from '#infra/system/system.ts'
import { openSource } from '#test/eval/items.ts'
import { countStore } from '#test/support/counted-store.ts'
import { holdRepository } from './held-reader.ts'

/**
 * One commit written into the store of the settings, by a process of its own: `store-once.ts commit|pack <root> <owner> <name> <commit>`
 * prints figures as JSON. `commit` is a whole job. `pack` packs and uploads what a snapshot has
 * without its search section, once all of it is known.
 */
const [mode, root, owner, name, commit] = process.argv.slice(2) as ['commit' | 'pack', string, string, string, CommitSha]
const source = { ...(await openSource(root, owner, name)), commit }
const stores = await openStores(parseSharedInfraSettings(process.env))
const counted = countStore(stores.blobs)
const uploads = timeUploads(counted.blobs)

const RECORDS_UNDER_WAY = 16

let startedAt = performance.now()
let usedBytes: number
if (mode === 'commit') {
  const deps = { blobs: uploads.blobs, states: stores.states, hosts: [source.host] }
  const written = await writeSnapshot(deps, source, new AbortController().signal)
  if (written === null) throw new Error('the commit is there already')
  usedBytes = written.header.usedBytes
} else {
  const replay = await recordWriting()
  startedAt = performance.now()
  usedBytes = (await replay(createSnapshotWriter(uploads.blobs, source.repository, commit))).header.usedBytes
}
const seconds = (performance.now() - startedAt) / 1000
process.stdout.write(JSON.stringify({ ...counted.counts, usedBytes, seconds, uploadSeconds: uploads.seconds() }))
await stores.close()
await source.host.close()

/** Indexes in memory, and gives what writes the same once more. */
async function recordWriting(): Promise<(writer: SnapshotWriter) => Promise<WrittenSnapshot>> {
  const first = createSnapshotWriter(createMemoryBlobStore(systemClock), source.repository, commit)
  const parts: ((writer: SnapshotWriter) => Promise<unknown>)[] = []
  const recorder: SnapshotWriter<(writer: SnapshotWriter) => Promise<WrittenSnapshot>> = {
    addRecord(oid, bytes) {
      parts.push(writer => writer.addRecord(oid, bytes))
      return first.addRecord(oid, bytes)
    },
    keepRecord: first.keepRecord,
    addTable(name, rows) {
      const all = [...rows]
      parts.push(writer => writer.addTable(name, all))
      return first.addTable(name, all)
    },
    async finish(rest) {
      await first.finish(rest)
      return async writer => {
        // As indexing does, which does not wait for one record after another.
        const underWay: Promise<unknown>[] = []
        for (const [index, part] of parts.entries()) {
          underWay.push(part(writer))
          await underWay[index - RECORDS_UNDER_WAY]
        }
        await Promise.all(underWay)
        return await writer.finish(rest)
      }
    },
  }
  return await indexRepository(recorder, await readTree(await holdRepository(source)), source.repository)
}

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
