import { createHash } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import { createSnapshotReader } from '#api/snapshot/snapshot-reader.ts'
import type { CommitSha } from '#core/commit-sha.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import { canonicalJson } from '#core/snapshot/canonical-json.ts'
import { encodeHeader, type FileRow, type Location, SnapshotHeader } from '#core/snapshot/format.ts'
import { headerKey, packKey } from '#core/snapshot/store-keys.ts'
import { createSnapshotWriter } from '#indexer/snapshot/snapshot-writer.ts'
import { createMemoryBlobStore } from '#infra/memory-stores.ts'
import { systemClock } from '#infra/system/system.ts'

/** A snapshot of a few texts, in the steps in which a job writes one. */
export interface SmallSnapshot {
  repository: HostRepository
  commit: CommitSha
  header: SnapshotHeader
  /** Its packs by name, those of an earlier snapshot among them. */
  packs: Map<string, Uint8Array>
  /** Sorted. */
  texts: string[]
  /** The packs, as far as they are not there. */
  writePacks(blobs: BlobStore): Promise<void>
  /** The header and what stands beside it. */
  publish(blobs: BlobStore): Promise<void>
  /** What a job does after it has published: when packs are gone since, it takes the header back and writes all of it again. */
  lookAgain(blobs: BlobStore): Promise<void>
}

/** @param earlier a snapshot of the repository whose packs are gone on from: its texts are in the new one, too */
export async function makeSnapshot(
  repository: HostRepository,
  commit: CommitSha,
  ownTexts: readonly string[],
  earlier?: SmallSnapshot,
): Promise<SmallSnapshot> {
  const alone = await writeAlone(repository, commit, ownTexts, earlier?.texts ?? [], earlier)
  const packs = new Map([...(earlier?.packs ?? []), ...alone.packs])
  const create = (blobs: BlobStore, names: Iterable<string>) =>
    Promise.all([...names].map(name => blobs.create(packKey(repository, name), packs.get(name) as Uint8Array)))
  const header = gzipSync(canonicalJson(encodeHeader(alone.header)))
  const publish = async (blobs: BlobStore) => {
    await blobs.create(headerKey(repository, commit), header)
  }
  return {
    repository,
    commit,
    header: alone.header,
    packs,
    texts: [...(earlier?.texts ?? []), ...ownTexts].sort(),
    async writePacks(blobs) {
      // Packs of an earlier snapshot are there as far as the job knows.
      await create(blobs, alone.packs.keys())
    },
    publish,
    async lookAgain(blobs) {
      const stored = await Promise.all([...packs.keys()].map(name => blobs.readRange(packKey(repository, name), 0, 1)))
      if (!stored.includes(null)) return
      await blobs.remove(headerKey(repository, commit))
      await create(blobs, packs.keys())
      await publish(blobs)
    },
  }
}

export async function writeWhole(blobs: BlobStore, snapshot: SmallSnapshot): Promise<void> {
  await snapshot.writePacks(blobs)
  await snapshot.lookAgain(blobs)
  await snapshot.publish(blobs)
}

/** The texts of a snapshot as a reader sees them, sorted; `null` when there is no snapshot. @throws when any of it cannot be read */
export async function readTexts(blobs: BlobStore, repository: HostRepository, commit: CommitSha): Promise<string[] | null> {
  // A reader of its own: another one may remember what is gone.
  const snapshot = await createSnapshotReader(blobs).open(repository, commit)
  if (snapshot === null) return null
  const rows = await snapshot.range('files')
  const texts = rows.map(async ([, row]) => (row.record ? Buffer.from(await snapshot.record(row.record)).toString() : ''))
  return (await Promise.all(texts)).sort()
}

/** Writes with the real writer into a store of its own, and then has the header refer to the earlier packs as well. */
async function writeAlone(
  repository: HostRepository,
  commit: CommitSha,
  ownTexts: readonly string[],
  earlierTexts: readonly string[],
  earlier: SmallSnapshot | undefined,
): Promise<{ header: SnapshotHeader; packs: Map<string, Uint8Array> }> {
  const blobs = createMemoryBlobStore(systemClock)
  const writer = createSnapshotWriter(blobs, repository, commit)
  const shift = (location: Location, by: number): Location => [location[0] + by, location[1], location[2]]
  const kept = earlier ? await rowsOf(earlier) : new Map<string, FileRow>()
  const ownPacksBefore = earlier?.header.packs.length ?? 0
  const rows: [string, FileRow][] = []
  for (const text of earlierTexts) rows.push([pathOf(text), kept.get(pathOf(text)) as FileRow])
  for (const text of ownTexts) {
    const record = shift(await writer.addRecord(oidOf(text), Buffer.from(text)), ownPacksBefore)
    rows.push([pathOf(text), { sizeBytes: text.length, record }])
  }
  await writer.addTable(
    'files',
    rows.toSorted(([left], [right]) => (left < right ? -1 : 1)),
  )
  const { header } = await writer.finish({ truncated: false, search: null, root: ROOT })
  const { files } = header.tables
  const shards = files.shards.map(([key, number, location]) => [key, number, shift(location, ownPacksBefore)] as const)
  const joined = {
    ...header,
    packs: [...(earlier?.header.packs ?? []), ...header.packs],
    tables: { ...header.tables, files: { ...files, shards } },
  }
  const packs = header.packs.map(async ({ name }) => {
    return [name, (await blobs.read(packKey(repository, name)))?.bytes ?? new Uint8Array()] as const
  })
  return { header: SnapshotHeader.parse(encodeHeader(joined as SnapshotHeader)), packs: new Map(await Promise.all(packs)) }
}

async function rowsOf({ header, packs }: SmallSnapshot): Promise<Map<string, FileRow>> {
  const shards = header.tables.files.shards.map(([, , [pack, offset, length]]) => {
    const bytes = packs.get(header.packs[pack]?.name ?? '')?.subarray(offset, offset + length)
    return JSON.parse(gunzipSync(bytes ?? new Uint8Array()).toString()) as [string, FileRow][]
  })
  return new Map(shards.flat())
}

function pathOf(text: string): string {
  return `${oidOf(text)}.md`
}

function oidOf(text: string): string {
  return createHash('sha1').update(text).digest('hex')
}

const ROOT = {
  folder: { counts: { skills: 0, documents: 1 }, license: { kind: 'open', name: 'MIT', source: 'LICENSE' } as const },
  skills: [],
  documents: [],
  diagnostics: [],
}
