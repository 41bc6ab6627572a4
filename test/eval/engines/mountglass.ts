import { join } from 'node:path'
import { findInMount } from '#api/reading/find.ts'
import { createSnapshotReader } from '#api/reading/snapshot-reader.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import { ROOT } from '#core/repo-path.ts'
import { formatOwners } from '#core/search/owners.ts'
import { createSearchBuilder } from '#indexer/build/search.ts'
import { writeSnapshot } from '#indexer/run-index-job.ts'
import { createSnapshotWriter } from '#indexer/snapshot-writer.ts'
import { openDiskBlobStore } from '#infra/disk/blob-store.ts'
import { createMemoryBlobStore } from '#infra/memory/blob-store.ts'
import { systemClock } from '#infra/system/clock.ts'
import { PLACES } from '../metrics.ts'
import { type Engine, type SlowStore, timed } from './engine.ts'

/** The engine of this project. Its bundle is a part of the snapshot, which is indexed whole beforehand. */
export const mountglass: Engine = {
  async build({ source: { host, repository, commit }, items }, folder) {
    const { value: written, seconds } = await timed(async () => {
      const writer = createSnapshotWriter(createMemoryBlobStore(systemClock), repository, commit)
      const builder = createSearchBuilder()
      for (const item of items) builder.add(item)
      const tables = builder.finish()
      await writer.addTable('searchItems', tables.items)
      await writer.addTable('searchTerms', tables.terms)
      await writer.addTable('searchSpelling', tables.spelling)
      const license = { kind: 'none', name: null, source: null } as const
      const root = { folder: { counts: { skills: 0, documents: 0 }, license }, skills: [], documents: [], diagnostics: [] }
      const searchOwners = items.length === 0 ? null : await writer.addRecord(formatOwners(tables.owners))
      return writer.finish({ truncated: false, searchOwners, search: null, root })
    })
    const blobs = await openDiskBlobStore(join(folder, 'store'))
    await writeSnapshot({ blobs, hosts: [host] }, { repository, commit }, new AbortController().signal)
    await blobs.close()
    return { seconds, objects: written.objects, bytes: written.bytes }
  },
  async open({ source: { host, repository, commit } }, folder, store) {
    const blobs = await openDiskBlobStore(join(folder, 'store'))
    const snapshot = await createSnapshotReader(slowed(blobs, store)).open(repository, commit)
    if (snapshot === null) throw new Error('no snapshot')
    const address = { host: 'local', owner: repository.owner, repository: repository.name, ref: null, path: ROOT }
    const rootFolder = snapshot.header.root.folder
    const mount = { status: 'ready', address, host, repository, commit, pinned: false, snapshot, folder: rootFolder } as const
    return {
      find: async query => {
        const { items } = await findInMount({ cursorKeys: [KEY] }, mount, { query, limit: PLACES })
        return items.map(item => ({
          path: item.path,
          files: item.kind === 'skill' ? item.files.map(({ path }) => path) : [],
        }))
      },
      close: () => blobs.close(),
    }
  },
}

const KEY = new Uint8Array(32)

function slowed(blobs: BlobStore, store: SlowStore): BlobStore {
  return {
    ...blobs,
    async read(key) {
      const blob = await blobs.read(key)
      return store.delay(blob, blob?.bytes.length ?? 0)
    },
    async readRange(key, offset, length) {
      const bytes = await blobs.readRange(key, offset, length)
      return store.delay(bytes, bytes?.length ?? 0)
    },
  }
}
