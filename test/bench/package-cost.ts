import { listFiles, listPackages } from '#api/packages/packages.ts'
import { createSnapshotReader } from '#api/snapshot/snapshot-reader.ts'
import { ROOT } from '#core/repo-path.ts'
import { decodeText } from '#core/text.ts'
import { openDiskBlobStore } from '#infra/disk/blob-store.ts'
import { openLocalHost } from '#infra/local/host.ts'
import { jobAt } from '#test/support/answered.ts'
import type { Service } from '#test/support/service.ts'
import { printTable } from './measure.ts'
import type { BenchRepository } from './repositories.ts'

/** Prints what snapshots hold for programs that install skills: binary files, which nothing else needs, beside the snapshot without them. */
export async function measurePackageCost(
  service: Service,
  root: string,
  store: string,
  repositories: readonly BenchRepository[],
): Promise<void> {
  const host = await openLocalHost({ root, baseUrl: service.baseUrl })
  const blobs = await openDiskBlobStore(store)
  const snapshots = createSnapshotReader(blobs)
  const rows: Record<string, string | number>[] = []
  for (const { owner, name } of repositories) {
    await service.get('mounts', `/local/${owner}/${name}`)
    const { repository, commit } = await jobAt(host, owner, name)
    const snapshot = await snapshots.open(repository, commit)
    if (snapshot === null) throw new Error(`${owner}/${name} is not in the store`)
    const packages = await listPackages(snapshot, ROOT)
    const binaries = new Map<string, number>()
    for (const one of packages) {
      for (const { record } of await listFiles(snapshot, one)) {
        if (decodeText(await snapshot.record(record)) === null) binaries.set(record.join(' '), record[2])
      }
    }
    const kilobytes = [...binaries.values()].reduce((sum, bytes) => sum + bytes, 0) / 1000
    const all = snapshot.header.usedBytes / 1000
    rows.push({
      repository: `${owner}/${name}`,
      'skills to install': packages.length,
      'binary files': binaries.size,
      'snapshot, kB': all,
      'without them, kB': all - kilobytes,
      more: `${Math.round((100 * kilobytes) / (all - kilobytes))} %`,
    })
  }
  await Promise.all([host.close(), blobs.close()])
  printTable('What snapshots hold so that skills can be installed', rows)
}
