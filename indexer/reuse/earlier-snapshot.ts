import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { CommitSha } from '#core/commit-sha.ts'
import { PACK_BYTES } from '#core/limits.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import type { Location, PackEntry, SnapshotHeader } from '#core/snapshot/format.ts'
import { sizeOfSegments } from '#core/snapshot/segments.ts'
import { packKey } from '#core/snapshot/store-keys.ts'
import { readDirectory } from '../snapshot/pack-directory.ts'
import { packNameOf } from '../snapshot/pack-name.ts'
import { readHeader } from '../snapshot/read-header.ts'

/** The snapshot of an earlier commit, for whoever indexes the next one. What it answers was checked, and may be missing. */
export interface EarlierSnapshot {
  readonly header: SnapshotHeader
  /** What the directories of its packs say of blobs, by id. */
  readonly blobs: ReadonlyMap<string, EarlierBlob>
  /** A member, unpacked; `null` when it cannot be read, or is longer than `maxBytes`. */
  member(location: Location, maxBytes: number): Promise<Uint8Array | null>
  /** The search section; `null` when there is none, it is too long, or it cannot be read. */
  section(): Promise<Uint8Array | null>
}

export interface EarlierBlob {
  sizeBytes: number
  /** `null`: no record was written. */
  record: Location | null
}

/** Packs held at once, in bytes: records lie in the order in which they are asked for, and tables behind them. */
const HELD_BYTES = 6 * PACK_BYTES
/** A longer section would have to be held whole. */
const SECTION_BYTES = 64 * 1024 * 1024

const unpack = promisify(gunzip)

/** `null`: the commit has no snapshot, or one that cannot be read. Then the next one is built from scratch. */
export async function openEarlierSnapshot(
  blobs: BlobStore,
  repository: HostRepository,
  commit: CommitSha,
): Promise<EarlierSnapshot | null> {
  try {
    const header = await readHeader(blobs, repository, commit)
    return header && (await openPacks(blobs, repository, header))
  } catch {
    return null
  }
}

async function openPacks(blobs: BlobStore, repository: HostRepository, header: SnapshotHeader): Promise<EarlierSnapshot> {
  const known = await readDirectories(blobs, repository, header.packs)
  const held = new Map<number, Promise<Uint8Array | null>>()

  function packAt(index: number): Promise<Uint8Array | null> {
    const entry = header.packs[index]
    const pack = held.get(index) ?? (entry ? readPack(blobs, repository, entry) : Promise.resolve(null))
    // The last used ones come last.
    held.delete(index)
    held.set(index, pack)
    let heldBytes = 0
    for (const each of [...held.keys()].reverse()) {
      heldBytes += header.packs[each]?.sizeBytes ?? 0
      if (heldBytes > HELD_BYTES && each !== index) held.delete(each)
    }
    return pack
  }

  async function stored([index, offset, length]: Location): Promise<Uint8Array | null> {
    const pack = await packAt(index)
    return pack && offset + length <= pack.length ? pack.subarray(offset, offset + length) : null
  }

  async function readSection(): Promise<Uint8Array | null> {
    const segments = header.search?.segments ?? []
    const sizeBytes = sizeOfSegments(segments)
    if (sizeBytes === 0 || sizeBytes > SECTION_BYTES) return null
    const section = new Uint8Array(sizeBytes)
    let at = 0
    for (const segment of segments) {
      const bytes = await stored(segment)
      if (bytes === null) return null
      section.set(bytes, at)
      at += bytes.length
    }
    return section
  }

  let section: Promise<Uint8Array | null> | null = null
  return {
    header,
    blobs: known,
    async member(location, maxBytes) {
      const bytes = await stored(location)
      return bytes && unpack(bytes, { maxOutputLength: Math.max(1, maxBytes) }).catch(() => null)
    },
    section() {
      section ??= readSection()
      return section
    },
  }
}

/** @throws Error when a pack is gone or its directory is damaged */
async function readDirectories(
  blobs: BlobStore,
  repository: HostRepository,
  packs: readonly PackEntry[],
): Promise<Map<string, EarlierBlob>> {
  const directories = await Promise.all(
    packs.map(async ({ name, sizeBytes, directoryBytes }) => {
      if (directoryBytes === 0) return []
      const bytes = await blobs.readRange(packKey(repository, name), sizeBytes - directoryBytes, directoryBytes)
      if (bytes?.length !== directoryBytes) throw new Error(`the pack ${name} is gone or cut short`)
      return readDirectory(bytes)
    }),
  )
  const known = new Map<string, EarlierBlob>()
  for (const [pack, entries] of directories.entries()) {
    for (const { oid, sizeBytes, record } of entries) {
      if (record) known.set(oid, { sizeBytes, record: [pack, record.offset, record.length] })
      else if (!known.has(oid)) known.set(oid, { sizeBytes, record: null })
    }
  }
  return known
}

/** `null` when it is gone, damaged, or cannot be read now. */
async function readPack(blobs: BlobStore, repository: HostRepository, { name }: PackEntry): Promise<Uint8Array | null> {
  try {
    const stored = await blobs.read(packKey(repository, name))
    return stored && packNameOf(stored.bytes) === name ? stored.bytes : null
  } catch {
    return null
  }
}
