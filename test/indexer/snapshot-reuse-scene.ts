import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect } from 'vitest'
import { createSnapshotReader } from '#api/snapshot/snapshot-reader.ts'
import type { CommitSha } from '#core/commit-sha.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { canonicalJson } from '#core/snapshot/canonical-json.ts'
import { encodeHeader, type Location, type SnapshotHeader } from '#core/snapshot/format.ts'
import { headerKey, packKey } from '#core/snapshot/store-keys.ts'
import { writeSnapshot } from '#indexer/pipeline/write-snapshot.ts'
import { packNameOf } from '#indexer/snapshot/pack-series.ts'
import { type LocalHost, openLocalHost } from '#infra/local/host.ts'
import { createMemoryBlobStore, createMemoryStateStore } from '#infra/memory-stores.ts'
import { systemClock } from '#infra/system/system.ts'
import { answered } from '#test/support/answered.ts'
import { createRepositories, type TestRepositories, type TestRepository } from '#test/support/repository.ts'
import { meaningOf, storedHeader } from '#test/support/snapshot-meaning.ts'

export let repositories: TestRepositories
export let host: LocalHost
let made = 0

/** Hooks of a test file that uses this: a root of repositories and a host of its own. */
export function useReuseScene(): void {
  beforeAll(async () => {
    repositories = await createRepositories()
    host = await openLocalHost({ root: repositories.root, baseUrl: 'http://127.0.0.1' })
  })
  afterAll(async () => {
    await host.close()
    await repositories.remove()
  })
}

export interface Subject {
  described: HostRepository
  repository: TestRepository
}

export async function newRepository(): Promise<Subject> {
  const repository = await repositories.create('acme', `reuse-${made++}`)
  await repository.commit({ 'package.json': '{"license":"MIT"}\n' })
  const described = answered(await host.repository(repository.owner, repository.name))
  return { described, repository }
}

export interface Stores {
  blobs: BlobStore
  states?: StateStore
}

export const newStores = () => ({ blobs: createMemoryBlobStore(systemClock), states: createMemoryStateStore() })

export const index = ({ blobs, states }: Stores, { described }: Subject, commit: CommitSha) =>
  writeSnapshot(
    { blobs, hosts: [host], ...(states ? { states } : {}) },
    { repository: described, commit },
    new AbortController().signal,
  )

/** What the commit says when nothing is known of another. */
export async function meaningAlone(subject: Subject, commit: CommitSha): Promise<unknown> {
  const { blobs } = newStores()
  await index({ blobs }, subject, commit)
  return await meaningOf(blobs, subject.described, commit)
}

export const skill = (name: string) => `---\nname: ${name}\ndescription: Does ${name} and more of it.\n---\nDo ${name}.\n`
/** Common words are in most pages and rare ones in few; most bytes are not searched, as is so of real pages. */
export const page = (number: number, turn = 0) => {
  let state = 1 + number * 7_919 + turn * 104_729
  const random = (below: number) => {
    state = (state * 48_271) % 0x7fffffff
    return state % below
  }
  const words = Array.from({ length: 60 }, () => `word${random(1 + random(1 + random(1_000)))}`)
  const data = Array.from({ length: 600 }, () => random(2 ** 30).toString(36)).join('')
  return `# Page ${number}\n\nIn turn ${turn}.\n\n${words.join(' ')}\n\n${data}\n`
}
export const pages = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`docs/${at % 9}/page-${at}.md`, page(at)]))

/** The bytes of a gzip member, unpacked. */
export async function memberAt(blobs: BlobStore, { described }: Subject, commit: CommitSha, [pack, offset, length]: Location) {
  const { packs } = await storedHeader(blobs, described, commit)
  const stored = await blobs.read(packKey(described, packs[pack]?.name ?? ''))
  return gunzipSync(stored?.bytes.subarray(offset, offset + length) ?? new Uint8Array())
}

/** Puts other readings into a snapshot that has one member of them, in a pack that is whole. */
export async function replaceReadings(
  blobs: BlobStore,
  subject: Subject,
  commit: CommitSha,
  change: (member: Buffer) => Uint8Array,
): Promise<void> {
  const { described } = subject
  const header = await storedHeader(blobs, described, commit)
  expect(header.readings).toHaveLength(1)
  const before = await memberAt(blobs, subject, commit, header.readings?.[0] as Location)
  const after = Buffer.from(change(Buffer.from(before)))
  expect(after).not.toEqual(before)
  const bytes = gzipSync(after)
  const name = packNameOf(bytes)
  await blobs.create(packKey(described, name), bytes)
  const packs = [...header.packs, { name, sizeBytes: bytes.length, directoryBytes: 0 }]
  const changed = { ...header, packs, readings: [[packs.length - 1, 0, bytes.length]] as Location[] }
  await blobs.remove(headerKey(described, commit))
  await blobs.create(headerKey(described, commit), gzipSync(canonicalJson(encodeHeader(changed))))
}

/** Bytes of the packs of a header, and how many of them it refers to. */
export async function sharesOf(blobs: BlobStore, { described }: Subject, header: SnapshotHeader) {
  const { tables, search, packs, commit, readings } = header
  const snapshot = await createSnapshotReader(blobs).open(described, commit as CommitSha)
  const rows = (await snapshot?.range('files')) ?? []
  const locations: Location[] = [
    ...Object.values(tables).flatMap(({ shards }) => shards.map(([, , location]) => location)),
    ...rows.flatMap(([, { record }]) => (record ? [record] : [])),
    ...(search?.segments ?? []),
    ...(readings ?? []),
  ]
  const used = new Map(locations.map(([pack, offset, length]) => [`${pack} ${offset}`, length]))
  return {
    packed: packs.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    used: [...used.values()].reduce((sum, length) => sum + length, 0),
  }
}
