import { join } from 'node:path'
import { writeSnapshot } from '#indexer/pipeline/write-snapshot.ts'
import { createSearchBuilder } from '#indexer/search/builder.ts'
import { createSnapshotWriter } from '#indexer/snapshot/snapshot-writer.ts'
import { openDiskBlobStore } from '#infra/disk/blob-store.ts'
import { createMemoryBlobStore } from '#infra/memory-stores.ts'
import { systemClock } from '#infra/system/system.ts'
import { openLocalFind } from '#test/support/local-find.ts'
import { slowed } from '#test/support/slow-store.ts'
import { PLACES } from '../metrics.ts'
import { type Engine, timed } from './engine.ts'

/** The engine of this project. Its bundle is the search section of the snapshot, which is indexed whole beforehand. */
export const mountglass: Engine = {
  async build({ source: { host, repository, commit }, items }, folder) {
    const { seconds } = await timed(async () => {
      const builder = createSearchBuilder(createSnapshotWriter(createMemoryBlobStore(systemClock), repository, commit))
      for (const item of items) await builder.add(item)
      await builder.finish()
      await builder.close()
    })
    const blobs = await openDiskBlobStore(join(folder, 'store'))
    const written = await writeSnapshot({ blobs, hosts: [host] }, { repository, commit }, new AbortController().signal)
    await blobs.close()
    const segments = written?.header.search?.segments ?? []
    return { seconds, objects: segments.length, bytes: segments.reduce((sum, [, , length]) => sum + length, 0) }
  },
  async open({ source }, folder, store) {
    const blobs = await openDiskBlobStore(join(folder, 'store'))
    const { find } = await openLocalFind(slowed(blobs, store), source)
    return {
      find: async query => {
        const items = await find(query, PLACES)
        return items.map(item => ({
          path: item.path,
          files: item.kind === 'skill' ? item.files.map(({ path }) => path) : [],
        }))
      },
      close: () => blobs.close(),
    }
  },
}
