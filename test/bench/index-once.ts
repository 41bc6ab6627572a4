import { READABLE_FILE_BYTES, TREE_ENTRIES } from '#core/limits.ts'
import { writeSnapshot } from '#indexer/pipeline/write-snapshot.ts'
import { openDiskBlobStore } from '#infra/disk/blob-store.ts'
import { openLocalHost } from '#infra/local/host.ts'
import { createMemoryBlobStore } from '#infra/memory-stores.ts'
import { systemClock } from '#infra/system/system.ts'
import { jobAt } from '#test/support/answered.ts'
import { holdRepository } from './held-reader.ts'

/**
 * One measured run in a process of its own: `index-once.ts read|index|build <root> <owner> <name> <store>` prints figures as JSON.
 * `build` is indexing without git and without a disk: the repository is in memory before, the snapshot goes there.
 */
const [mode, root, owner, name, store] = process.argv.slice(2) as [string, string, string, string, string]
const host = await openLocalHost({ root, baseUrl: 'http://127.0.0.1' })
const { repository, commit } = await jobAt(host, owner, name)

const startedAt = performance.now()
const cpuBefore = process.cpuUsage()
const figures: Record<string, number> = {}
if (mode === 'read') {
  const reader = await host.open(repository, commit, {
    treeEntries: TREE_ENTRIES,
    treeDepthSegments: 10_000,
    seconds: 600,
  })
  const oids: string[] = []
  for await (const entry of reader.entries())
    if (entry.sizeBytes !== null && entry.sizeBytes <= READABLE_FILE_BYTES) oids.push(entry.oid)
  let bytes = 0
  for await (const blob of reader.read(oids, READABLE_FILE_BYTES)) bytes += blob.bytes?.length ?? 0
  await reader.close()
  Object.assign(figures, { files: oids.length, bytes })
} else if (mode === 'build') {
  Object.assign(figures, await measureStages())
} else {
  const blobs = await openDiskBlobStore(store)
  const written = await writeSnapshot({ blobs, hosts: [host] }, { repository, commit }, new AbortController().signal)
  Object.assign(figures, { objects: written?.objects ?? 0, bytes: written?.bytes ?? 0, ...written?.header.root.folder.counts })
}
const cpu = process.cpuUsage(cpuBefore)
figures.seconds = (performance.now() - startedAt) / 1000
figures.cpuSeconds = (cpu.user + cpu.system) / 1e6
figures.peakMegabytes = process.resourceUsage().maxRSS / 1000
await host.close()
process.stdout.write(JSON.stringify(figures))

/** Seconds of each stage of the indexer. */
async function measureStages(): Promise<Record<string, number>> {
  const held = await holdRepository({ host, repository, commit })
  const seconds: Record<string, number> = {}
  let stage = 'tree'
  let since = performance.now()
  const enter = (next: string) => {
    seconds[stage] = (seconds[stage] ?? 0) + (performance.now() - since) / 1000
    since = performance.now()
    stage = next
  }
  await writeSnapshot(
    { blobs: createMemoryBlobStore(systemClock), hosts: [{ ...host, open: async () => held }] },
    { repository, commit },
    new AbortController().signal,
    progress => enter(progress.stage),
  )
  enter('done')
  return seconds
}
