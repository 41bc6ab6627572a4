import { gunzipSync } from 'node:zlib'
import type { CommitSha } from '#core/commit-sha.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import { encodeHeader, type Location, type RowOf, SnapshotHeader, TABLES, type TableName } from '#core/snapshot/format.ts'
import { packKey } from '#core/snapshot/store-keys.ts'
import { type SnapshotDeps, writeSnapshot } from '#indexer/pipeline/write-snapshot.ts'
import { openLocalHost } from '#infra/local/host.ts'
import { createMemoryBlobStore } from '#infra/memory-stores.ts'
import { systemClock } from '#infra/system/system.ts'
import { answered } from './answered.ts'
import type { TestRepository } from './repository.ts'
import { type ReadSection, readSection } from './search-section.ts'

/** A snapshot with everything of it at hand. Every row was checked against its schema. */
export interface Indexed {
  header: SnapshotHeader
  blobs: BlobStore
  rows<Name extends TableName>(name: Name): Map<string, RowOf<Name>>
  text(location: Location): string
  /** What find searches; `null` when nothing can be searched. */
  section: ReadSection | null
  /** Everything in the packs but the section, which `section` has. */
  stored(): string
  /** Every object of the store by key, as hex. */
  objects(): Promise<Record<string, string>>
}

/**
 * Indexes a commit of a test repository into a store of its own. `change` alters what the host says of the repository; `beside` has the threads and
 * the time of the job: without them, this thread does everything.
 */
export async function index(
  repository: TestRepository,
  commit: CommitSha,
  root: string,
  change: Partial<HostRepository> = {},
  beside: Pick<SnapshotDeps, 'searchThreads' | 'startUsedTime'> = {},
): Promise<Indexed> {
  const host = await openLocalHost({ root, baseUrl: 'http://127.0.0.1' })
  const blobs = createMemoryBlobStore(systemClock)
  try {
    const described = answered(await host.repository(repository.owner, repository.name))
    const job = { repository: { ...described, ...change }, commit }
    const written = await writeSnapshot({ blobs, hosts: [host], ...beside }, job, new AbortController().signal)
    if (written === null) throw new Error('nothing written')
    const packs = await Promise.all(
      written.header.packs.map(async pack => (await blobs.read(packKey(job.repository, pack.name)))?.bytes),
    )
    const member = ([pack, offset, length]: Location) =>
      gunzipSync((packs[pack] as Uint8Array).subarray(offset, offset + length)).toString('utf8')
    const { search } = written.header
    return {
      section: search === null ? null : await readSection(blobs, job.repository, written.header, search),
      stored: () =>
        packs.map((bytes, pack) => gunzipSync(membersOf(bytes as Uint8Array, pack, written.header)).toString()).join(''),
      header: SnapshotHeader.parse(JSON.parse(JSON.stringify(encodeHeader(written.header)))),
      blobs,
      text: member,
      rows(name) {
        const shards = written.header.tables[name].shards.flatMap(
          ([, , location]) => JSON.parse(member(location)) as [string, unknown][],
        )
        return new Map(shards.map(([key, row]) => [key, TABLES[name].row.parse(row) as never]))
      },
      async objects() {
        const keys = await blobs.list('')
        return Object.fromEntries(
          await Promise.all(keys.map(async key => [key, Buffer.from((await blobs.read(key))?.bytes ?? []).toString('hex')])),
        )
      },
    }
  } finally {
    await host.close()
  }
}

/** Without pieces of the section and the directory. */
function membersOf(bytes: Uint8Array, pack: number, { packs, search }: SnapshotHeader): Buffer {
  const rest: Uint8Array[] = []
  let at = 0
  for (const [inPack, offset, length] of search?.segments ?? []) {
    if (inPack !== pack) continue
    rest.push(bytes.subarray(at, offset))
    at = offset + length
  }
  return Buffer.concat([...rest, bytes.subarray(at, bytes.length - (packs[pack]?.directoryBytes ?? 0))])
}
