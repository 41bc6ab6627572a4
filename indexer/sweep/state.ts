import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { z } from 'zod'
import { mapFew } from '#core/concurrency/map-few.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { isDamage, parseStoredJson } from '#core/snapshot/damage.ts'
import { HEADER_BYTES, SnapshotHeader } from '#core/snapshot/format.ts'
import { HiddenRepository } from '#core/snapshot/hidden-repository.ts'
import { JobEntry } from '#core/snapshot/index-state.ts'
import { keysAt, type SnapshotName, VERSIONS } from '#core/snapshot/store-keys.ts'
import type { StoredRepository, Stores } from './repositories.ts'
import {
  type HeaderEntry,
  isLaterVersion,
  nameOf,
  type Pack,
  type RepositoryState,
  type StoredHeader,
  type StoredJob,
  type UnusedPacks,
} from './sweep-plan.ts'

const unpack = promisify(gunzip)
const NOTHING_UNUSED = { packs: new Map(), etag: null }

/** Reads the state that `planRepository` decides on. A listing may be stale: before something counts as missing, it is read again. */
export async function readState(
  stores: Stores,
  { place, found }: StoredRepository,
): Promise<RepositoryState & { unusedEtag: string | null }> {
  const { blobs, states } = stores
  const at = keysAt(place)
  const keysOf = (kind: string) => found.filter(({ part }) => part.kind === kind).map(({ key }) => key)
  const hidden = keysOf('hidden').length > 0 ? await readHidden(states, at.hidden) : null

  const named = found.flatMap(({ part }) => (part.kind === 'header' ? [part.snapshot] : []))
  const headers = (await mapFew(named, name => readStoredHeader(blobs, place, name))).filter(header => header !== null)
  const packs = new Set(found.flatMap(({ part }) => (part.kind === 'pack' ? [part.name] : [])))
  const unused = keysOf('unusedPacks').length > 0 ? await readUnusedPacks(states, at.unusedPacks) : NOTHING_UNUSED
  return {
    headers,
    headerEntries: await readHeaderEntries(stores, place, found, new Set(headers.map(({ name }) => nameOf(name)))),
    jobs: await readJobs(states, place, found),
    packs,
    missingPacks: await findMissing(blobs, place, headers, packs),
    unusedPacks: unused.packs,
    unusedEtag: unused.etag,
    hidden,
  }
}

/** Reads a header: its packs, or why they are unknown; `null` when it is gone. */
export async function readStoredHeader(blobs: BlobStore, place: string, name: SnapshotName): Promise<StoredHeader | null> {
  const key = keysAt(place).header(name)
  const read = async () => {
    const object = await blobs.read(key)
    if (object === null) return null
    const content = await contentOf(object.bytes, place, name)
    return { key, name, createdAt: object.createdAt, sizeBytes: object.bytes.length, content }
  }
  const header = await read()
  // Read again: the bytes may have been damaged on the way.
  return typeof header?.content === 'string' ? await read() : header
}

const AnyHeader = z.object({ packs: z.array(z.object({ name: z.string(), sizeBytes: z.int().min(0) })) })

async function contentOf(bytes: Uint8Array, place: string, { commit, versions }: SnapshotName): Promise<StoredHeader['content']> {
  const isOurs = versions === VERSIONS
  try {
    const value = parseStoredJson((await unpack(bytes, { maxOutputLength: HEADER_BYTES })).toString('utf8'))
    if (!isOurs) return AnyHeader.parse(value).packs
    const header = SnapshotHeader.parse(value)
    const isRight = header.commit === commit && header.repositoryId === place.slice(place.lastIndexOf('/') + 1)
    return isRight ? header.packs : 'damaged'
  } catch (error) {
    // A sweep removes what is damaged, so a fault of this program must not count as damage.
    if (!isDamage(error)) throw error
    return isOurs ? 'damaged' : 'foreign'
  }
}

async function readHidden(states: StateStore, key: string): Promise<RepositoryState['hidden']> {
  const stored = await states.read(key)
  if (stored === null) return null
  const hidden = HiddenRepository.safeParse(stored.value).data
  return { key, since: hidden === undefined ? null : new Date(hidden.since) }
}

const LastCommit = z.object({ commit: z.string().regex(/^[0-9a-f]{40}$/) })

/** The damage reports and last commits, without those whose header was written meanwhile. */
async function readHeaderEntries(
  { blobs, states }: Stores,
  place: string,
  found: StoredRepository['found'],
  headers: ReadonlySet<string>,
): Promise<HeaderEntry[]> {
  const entries = await mapFew(found, async ({ key, part }): Promise<HeaderEntry | null> => {
    if (part.kind === 'damage') return { key, snapshot: part.snapshot }
    if (part.kind !== 'last') return null
    const last = LastCommit.safeParse((await states.read(key))?.value).data
    if (last === undefined && isLaterVersion(part.versions)) return null
    return { key, snapshot: last ? { commit: last.commit, versions: part.versions } : null }
  })
  const hasNewHeader = async ({ snapshot }: HeaderEntry): Promise<boolean> => {
    // The header may have been written after the headers were listed.
    return snapshot !== null && !headers.has(nameOf(snapshot)) && (await exists(blobs, keysAt(place).header(snapshot)))
  }
  const known = entries.filter(entry => entry !== null)
  const isNew = await mapFew(known, hasNewHeader)
  return known.filter((_, index) => !isNew[index])
}

async function readJobs(states: StateStore, place: string, found: StoredRepository['found']): Promise<StoredJob[]> {
  const jobs = await mapFew(found, async ({ key, part }): Promise<StoredJob | null> => {
    if (part.kind !== 'job') return null
    const entry = JobEntry.safeParse((await states.read(key))?.value).data ?? null
    if (entry === null && isLaterVersion(part.snapshot.versions)) return null
    return { key, entry, isQueued: (await states.read(keysAt(place).queueMarker(part.snapshot))) !== null }
  })
  return jobs.filter(job => job !== null)
}

/** The packs that headers list and that do not exist. */
async function findMissing(
  blobs: BlobStore,
  place: string,
  headers: readonly Pick<StoredHeader, 'content'>[],
  listed: ReadonlySet<string>,
): Promise<Set<string>> {
  const named = new Set(
    headers.flatMap(({ content }): readonly Pack[] => (typeof content === 'string' ? [] : content)).map(({ name }) => name),
  )
  const unlisted = [...named].filter(name => !listed.has(name))
  const found = await mapFew(unlisted, name => exists(blobs, keysAt(place).pack(name)))
  return new Set(unlisted.filter((_, index) => !found[index]))
}

export async function exists(blobs: BlobStore, key: string): Promise<boolean> {
  return (await blobs.readRange(key, 0, 1)) !== null
}

/** The state store entry with the unused packs of a repository. */
const UnusedPacksEntry = z.object({
  packs: z.record(z.string(), z.object({ since: z.iso.datetime(), sizeBytes: z.int().min(0).nullable() })),
})
type UnusedPacksEntry = z.infer<typeof UnusedPacksEntry>

/** The noted packs; none when the entry is damaged: the sweep notes them again. */
async function readUnusedPacks(states: StateStore, key: string): Promise<{ packs: UnusedPacks; etag: string | null }> {
  const stored = await states.read(key)
  const { packs } = UnusedPacksEntry.safeParse(stored?.value).data ?? { packs: {} }
  return {
    packs: new Map(
      Object.entries(packs).map(([name, { since, sizeBytes }]) => [name, { since: new Date(since), sizeBytes }] as const),
    ),
    etag: stored?.etag ?? null,
  }
}

/** Writes the unused packs; does nothing if another sweep wrote the entry meanwhile. */
export async function writeUnusedPacks(states: StateStore, key: string, packs: UnusedPacks, etag: string | null): Promise<void> {
  if (packs.size === 0) return etag === null ? undefined : states.remove(key)
  const value: UnusedPacksEntry = {
    packs: Object.fromEntries(
      [...packs].map(([name, { since, sizeBytes }]) => [name, { since: since.toISOString(), sizeBytes }]),
    ),
  }
  await (etag === null ? states.create(key, value) : states.replace(key, value, etag))
}
