import type { CommitSha } from '#core/commit-sha.ts'
import { PACK_BYTES } from '#core/limits.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import { type Fallbacks, NO_FALLBACKS } from '#core/ports/fallbacks.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { DamagedBytes } from '#core/snapshot/damage.ts'
import type { Location, PackEntry, SnapshotHeader } from '#core/snapshot/format.ts'
import { LastIndexed } from '#core/snapshot/index-state.ts'
import { sizeOfSegments } from '#core/snapshot/segments.ts'
import { lastIndexedKey, packKey } from '#core/snapshot/store-keys.ts'
import { crc32Of, gunzipMember } from './gzip-member.ts'
import { readDirectory } from './pack-directory.ts'
import { packNameOf } from './pack-series.ts'
import { readHeader } from './read-header.ts'

/** The snapshot of an earlier commit, which the next one reuses. Packs are verified by their names; a missing or damaged one gives `null`. */
export interface EarlierSnapshot {
  readonly header: SnapshotHeader
  /** The blobs that its pack directories list, by id. */
  readonly blobs: ReadonlyMap<string, EarlierBlob>
  /** An unpacked member; `null` when it cannot be read or is longer than `maxBytes`. */
  member(location: Location, maxBytes: number): Promise<Uint8Array | null>
  /** Whether the bytes of a member are those with this CRC-32, which is told without unpacking it. */
  holds(location: Location, crc32: number): Promise<boolean>
  /** The search section; `null` when there is none, or it is longer than `SECTION_BYTES` or unreadable. */
  section(): Promise<Uint8Array | null>
  /** Notes that a part of it could not be reused. */
  lost(cause: unknown): void
}

export interface EarlierBlob {
  sizeBytes: number
  /** `null` when only its size is known. */
  record: Location | null
}

/** No gzip member is shorter. */
const MEMBER_LEAST_BYTES = 18
/** Size of the pack cache. Records are read in the order in which they are stored, and tables after them. */
const CACHE_BYTES = 6 * PACK_BYTES
/** Maximum length of a section that is reused, since it is loaded whole. */
const SECTION_BYTES = 64 * 1024 * 1024

/**
 * Opens the snapshot of a commit; `null` when there is none or it cannot be read: then the next one is built from scratch.
 *
 * @param fallbacks is told once when it, or a part of it, cannot be read
 */
export async function openEarlierSnapshot(
  blobs: BlobStore,
  repository: HostRepository,
  commit: CommitSha,
  fallbacks: Fallbacks = NO_FALLBACKS,
): Promise<EarlierSnapshot | null> {
  const lost = onlyOnce((cause: unknown) => fallbacks.note('earlier_snapshot', cause))
  try {
    const header = await readHeader(blobs, repository, commit)
    return header && (await openPacks(blobs, repository, header, lost))
  } catch (error) {
    lost(error)
    return null
  }
}

/** One damaged pack is met by every read of it. */
function onlyOnce(note: (cause: unknown) => void): (cause: unknown) => void {
  let isNoted = false
  return cause => {
    if (!isNoted) note(cause)
    isNoted = true
  }
}

async function openPacks(
  blobs: BlobStore,
  repository: HostRepository,
  header: SnapshotHeader,
  lost: (cause: unknown) => void,
): Promise<EarlierSnapshot> {
  const known = await readDirectories(blobs, repository, header.packs)
  const orLost = (cause: unknown) => {
    lost(cause)
    return null
  }
  const packs = new PackCache(header.packs, pack => readPack(blobs, repository, pack).catch(orLost))
  let section: Promise<Uint8Array | null> | null = null
  return {
    header,
    blobs: known,
    lost,
    async member(location, maxBytes) {
      const bytes = await packs.read(location)
      try {
        return bytes && (await gunzipMember(bytes, Math.max(1, maxBytes)))
      } catch (error) {
        // A record or shard that became longer is another one, and no loss.
        return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? null : orLost(error)
      }
    },
    async holds(location, crc32) {
      const bytes = await packs.read(location)
      return bytes !== null && bytes.length > MEMBER_LEAST_BYTES && crc32Of(bytes) === crc32
    },
    section() {
      section ??= readSection(packs, header.search?.segments ?? [])
      return section
    },
  }
}

async function readSection(packs: PackCache, segments: readonly Location[]): Promise<Uint8Array | null> {
  const sizeBytes = sizeOfSegments(segments)
  if (sizeBytes === 0 || sizeBytes > SECTION_BYTES) return null
  const section = new Uint8Array(sizeBytes)
  let at = 0
  for (const segment of segments) {
    const bytes = await packs.read(segment)
    if (bytes === null) return null
    section.set(bytes, at)
    at += bytes.length
  }
  return section
}

/** The last used packs, at most `CACHE_BYTES`. */
class PackCache {
  readonly #entries: readonly PackEntry[]
  readonly #readPack: (entry: PackEntry) => Promise<Uint8Array | null>
  /** By index; the last used pack comes last. */
  readonly #packs = new Map<number, Promise<Uint8Array | null>>()
  #last = -1

  constructor(entries: readonly PackEntry[], readPack: (entry: PackEntry) => Promise<Uint8Array | null>) {
    this.#entries = entries
    this.#readPack = readPack
  }

  async read([index, offset, length]: Location): Promise<Uint8Array | null> {
    const pack = await this.#packAt(index)
    return pack && offset + length <= pack.length ? pack.subarray(offset, offset + length) : null
  }

  #packAt(index: number): Promise<Uint8Array | null> {
    const known = this.#packs.get(index)
    if (known !== undefined && index === this.#last) return known
    const pack = known ?? this.#load(index)
    this.#packs.delete(index)
    this.#packs.set(index, pack)
    this.#last = index
    this.#evict(index)
    return pack
  }

  async #load(index: number): Promise<Uint8Array | null> {
    const entry = this.#entries[index]
    return entry ? await this.#readPack(entry) : null
  }

  #evict(current: number): void {
    let bytes = 0
    for (const index of [...this.#packs.keys()].reverse()) {
      bytes += this.#entries[index]?.sizeBytes ?? 0
      if (bytes > CACHE_BYTES && index !== current) this.#packs.delete(index)
    }
  }
}

/** @throws Error when a pack is missing or its directory is damaged */
async function readDirectories(
  blobs: BlobStore,
  repository: HostRepository,
  packs: readonly PackEntry[],
): Promise<Map<string, EarlierBlob>> {
  const directories = await Promise.all(
    packs.map(async ({ name, sizeBytes, directoryBytes }) => {
      if (directoryBytes === 0) return []
      const bytes = await blobs.readRange(packKey(repository, name), sizeBytes - directoryBytes, directoryBytes)
      if (bytes?.length !== directoryBytes) throw new Error(`the pack ${name} is missing or truncated`)
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

/** @throws DamagedBytes when the pack is missing or damaged, or an error of the store */
async function readPack(blobs: BlobStore, repository: HostRepository, { name }: PackEntry): Promise<Uint8Array> {
  const stored = await blobs.read(packKey(repository, name))
  if (stored === null) throw new DamagedBytes(`the pack ${name} is missing`)
  if (packNameOf(stored.bytes) !== name) throw new DamagedBytes(`the pack ${name} is damaged`)
  return stored.bytes
}

/**
 * The commit of a repository that was indexed last. A hint: if it is outdated, wrong or missing, the next commit is built from scratch. So it
 * is written without a lease, the last writer wins, and store errors are fallbacks.
 */
export interface LastIndexedCommits {
  read(): Promise<CommitSha | null>
  forget(): Promise<void>
  write(commit: CommitSha): Promise<void>
}

/** The entry of one repository. */
export function lastIndexedOf(
  states: StateStore,
  repository: HostRepository,
  fallbacks: Fallbacks = NO_FALLBACKS,
): LastIndexedCommits {
  const key = lastIndexedKey(repository)
  const lost = (error: unknown) => {
    fallbacks.note('last_commit', error)
    return null
  }
  const write = async (commit: CommitSha) => {
    const stored = await states.read(key)
    await (stored === null ? states.create(key, { commit }) : states.replace(key, { commit }, stored.etag))
  }
  return {
    async read() {
      const stored = await states.read(key).catch(lost)
      if (stored === null) return null
      const parsed = LastIndexed.safeParse(stored.value)
      return parsed.success ? parsed.data.commit : lost(parsed.error)
    },
    async forget() {
      await states.remove(key).catch(lost)
    },
    async write(commit) {
      await write(commit).catch(lost)
    },
  }
}
