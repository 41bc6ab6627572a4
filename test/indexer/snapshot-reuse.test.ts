import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSnapshotReader } from '#api/snapshot/snapshot-reader.ts'
import type { CommitSha } from '#core/commit-sha.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import type { Location, SnapshotHeader } from '#core/snapshot/format.ts'
import { headerKey, packKey } from '#core/snapshot/store-keys.ts'
import { writeSnapshot } from '#indexer/pipeline/write-snapshot.ts'
import { type LocalHost, openLocalHost } from '#infra/local/host.ts'
import { createMemoryBlobStore } from '#infra/memory/blob-store.ts'
import { createMemoryStateStore } from '#infra/memory/state-store.ts'
import { systemClock } from '#infra/system/clock.ts'
import { answered } from '#test/support/answered.ts'
import { countStore } from '#test/support/counted-store.ts'
import { createRepositories, type TestFile, type TestRepositories, type TestRepository } from '#test/support/repository.ts'
import { meaningOf, storedHeader } from '#test/support/snapshot-meaning.ts'

let repositories: TestRepositories
let host: LocalHost
let made = 0

beforeAll(async () => {
  repositories = await createRepositories()
  host = await openLocalHost({ root: repositories.root, baseUrl: 'http://127.0.0.1' })
})
afterAll(async () => {
  await host.close()
  await repositories.remove()
})

interface Subject {
  described: HostRepository
  repository: TestRepository
}

async function newRepository(): Promise<Subject> {
  const repository = await repositories.create('acme', `reuse-${made++}`)
  await repository.commit({ 'package.json': '{"license":"MIT"}\n' })
  const described = answered(await host.repository(repository.owner, repository.name))
  return { described, repository }
}

interface Stores {
  blobs: BlobStore
  states?: StateStore
}

const newStores = () => ({ blobs: createMemoryBlobStore(systemClock), states: createMemoryStateStore() })

const index = ({ blobs, states }: Stores, { described }: Subject, commit: CommitSha) =>
  writeSnapshot(
    { blobs, hosts: [host], ...(states ? { states } : {}) },
    { repository: described, commit },
    new AbortController().signal,
  )

/** What the commit says when nothing is known of another. */
async function meaningAlone(subject: Subject, commit: CommitSha): Promise<unknown> {
  const { blobs } = newStores()
  await index({ blobs }, subject, commit)
  return await meaningOf(blobs, subject.described, commit)
}

const skill = (name: string) => `---\nname: ${name}\ndescription: Does ${name} and more of it.\n---\nDo ${name}.\n`
/** Common words are in most pages and rare ones in few; most bytes are not searched, as is so of real pages. */
const page = (number: number, turn = 0) => {
  let state = 1 + number * 7_919 + turn * 104_729
  const random = (below: number) => {
    state = (state * 48_271) % 0x7fffffff
    return state % below
  }
  const words = Array.from({ length: 60 }, () => `word${random(1 + random(1 + random(1_000)))}`)
  const data = Array.from({ length: 600 }, () => random(2 ** 30).toString(36)).join('')
  return `# Page ${number}\n\nIn turn ${turn}.\n\n${words.join(' ')}\n\n${data}\n`
}
const pages = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`docs/${at % 9}/page-${at}.md`, page(at)]))

/** Bytes of the packs of a header, and how many of them it refers to. */
async function sharesOf(blobs: BlobStore, { described }: Subject, { tables, search, packs, commit }: SnapshotHeader) {
  const snapshot = await createSnapshotReader(blobs).open(described, commit as CommitSha)
  const rows = (await snapshot?.range('files')) ?? []
  const locations: Location[] = [
    ...Object.values(tables).flatMap(({ shards }) => shards.map(([, , location]) => location)),
    ...rows.flatMap(([, { record }]) => (record ? [record] : [])),
    ...(search?.segments ?? []),
  ]
  const used = new Map(locations.map(([pack, offset, length]) => [`${pack} ${offset}`, length]))
  return {
    packed: packs.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    used: [...used.values()].reduce((sum, length) => sum + length, 0),
  }
}

describe('the next commit', () => {
  test('is a pack of what is new, and a header; the packs before it stay as they are', async () => {
    const subject = await newRepository()
    const first = await subject.repository.commit({ ...pages(400), 'a/SKILL.md': skill('a') })
    const second = await subject.repository.commit({ 'docs/1/page-1.md': page(1, 1), 'docs/5/new.md': page(9_999) })
    const { blobs: stored, states } = newStores()
    const { blobs, counts, reset } = countStore(stored)
    await index({ blobs, states }, subject, first)
    const full = counts.putBytes
    reset()
    const written = await index({ blobs, states }, subject, second)
    expect(counts.puts).toBe(2)
    expect(counts.putBytes).toBeLessThan(full / 10)
    const [before, after] = [await storedHeader(blobs, subject.described, first), written?.header as SnapshotHeader]
    expect(after.packs.slice(0, -1)).toEqual(before.packs)
    expect(await meaningOf(blobs, subject.described, second)).toEqual(await meaningAlone(subject, second))
    expect(await meaningOf(blobs, subject.described, first)).toEqual(await meaningAlone(subject, first))
  })

  test('of the same tree stores little more than its header', async () => {
    const subject = await newRepository()
    const first = await subject.repository.commit(pages(300))
    const second = await subject.repository.commit({})
    const { blobs: stored, states } = newStores()
    const { blobs, counts, reset } = countStore(stored)
    await index({ blobs, states }, subject, first)
    reset()
    await index({ blobs, states }, subject, second)
    expect(counts.puts).toBeLessThanOrEqual(2)
    expect(counts.putBytes).toBeLessThan(10_000)
    expect(await meaningOf(blobs, subject.described, second)).toEqual(await meaningAlone(subject, second))
  })

  test('knows what was renamed', async () => {
    const subject = await newRepository()
    const first = await subject.repository.commit(pages(300))
    const moved = Object.fromEntries(Object.entries(pages(300)).map(([path, text]) => [path.replace('docs/', 'guide/'), text]))
    const second = await subject.repository.commit({ 'package.json': '{"license":"MIT"}\n', ...moved }, { replace: true })
    const { blobs, states } = newStores()
    await index({ blobs, states }, subject, first)
    const written = await index({ blobs, states }, subject, second)
    const fresh = (await storedHeader(blobs, subject.described, second)).packs.at(-1)
    const records = (await storedHeader(blobs, subject.described, first)).packs[0]
    expect(written?.header.packs[0]).toEqual(records)
    expect(fresh?.sizeBytes).toBeLessThan((records?.sizeBytes ?? 0) / 2)
    expect(await meaningOf(blobs, subject.described, second)).toEqual(await meaningAlone(subject, second))
  })
})

test('a long history: every snapshot says what it says alone, in at most 64 packs, of which it refers to half or more', async () => {
  const subject = await newRepository()
  const { blobs, states } = newStores()
  let commit = await subject.repository.commit({ ...pages(60), 'a/SKILL.md': skill('a') })
  await index({ blobs, states }, subject, commit)
  const packCounts: number[] = []
  for (let turn = 1; turn <= 90; turn++) {
    const changes: Record<string, TestFile> = { [`docs/${turn % 9}/page-${turn % 60}.md`]: page(turn % 60, turn) }
    if (turn % 10 === 3) changes[`docs/new-${turn}.md`] = page(1_000 + turn)
    if (turn % 10 === 7) changes[`docs/new-${turn - 4}.md`] = null
    commit = await subject.repository.commit(changes)
    await index({ blobs, states }, subject, commit)
    const header = await storedHeader(blobs, subject.described, commit)
    packCounts.push(header.packs.length)
    const { packed, used } = await sharesOf(blobs, subject, header)
    expect({ turn, used: header.usedBytes, isHalf: used >= packed / 2 }).toEqual({ turn, used, isHalf: true })
    if (turn % 15 === 0) expect(await meaningOf(blobs, subject.described, commit)).toEqual(await meaningAlone(subject, commit))
  }
  expect(Math.max(...packCounts)).toBeLessThanOrEqual(64)
  // It went on from packs, and it began anew.
  expect(Math.max(...packCounts)).toBeGreaterThan(3)
  expect(packCounts.filter((count, at) => at > 0 && count < (packCounts[at - 1] ?? 0)).length).toBeGreaterThan(0)
}, 120_000)

test('when most of a tree goes, what is left is written anew', async () => {
  const subject = await newRepository()
  const { blobs, states } = newStores()
  const first = await subject.repository.commit(pages(300))
  const gone = Object.fromEntries(
    Object.keys(pages(300))
      .slice(0, 250)
      .map(path => [path, null]),
  )
  const second = await subject.repository.commit(gone)
  await index({ blobs, states }, subject, first)
  await index({ blobs, states }, subject, second)
  const [before, after] = await Promise.all([first, second].map(commit => storedHeader(blobs, subject.described, commit)))
  expect(after?.packs.some(({ name }) => before?.packs.some(pack => pack.name === name))).toBe(false)
  expect(await meaningOf(blobs, subject.described, second)).toEqual(await meaningAlone(subject, second))
})

test('whatever the history, a snapshot says what it says alone', async () => {
  const change = fc.record({
    edits: fc.array(fc.tuple(fc.nat(39), fc.nat(5)), { maxLength: 6 }),
    removed: fc.array(fc.nat(39), { maxLength: 3 }),
    license: fc.constantFrom('MIT', 'UNLICENSED'),
    excludes: fc.constantFrom('', 'docs/3/', 'docs/*/page-1*.md'),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 2, maxLength: 4 }), fc.boolean(), async (changes, backwards) => {
      const subject = await newRepository()
      const shas: CommitSha[] = []
      for (const { edits, removed, license, excludes } of changes) {
        const files: Record<string, TestFile> = {
          ...pages(40),
          'package.json': `{"license":"${license}"}\n`,
          'SKILLSET.md': `---\nname: Kept\n${excludes && `exclude: ["${excludes}"]\n`}---\nRules.\n`,
          'a/SKILL.md': skill('a'),
        }
        for (const [at, turn] of edits) files[`docs/${at % 9}/page-${at}.md`] = page(at, turn)
        for (const at of removed) delete files[`docs/${at % 9}/page-${at}.md`]
        shas.push(await subject.repository.commit(files, { replace: true }))
      }
      const stores = newStores()
      for (const commit of backwards ? shas.toReversed() : shas) await index(stores, subject, commit)
      for (const commit of shas) {
        expect(await meaningOf(stores.blobs, subject.described, commit)).toEqual(await meaningAlone(subject, commit))
      }
    }),
    { numRuns: 12 },
  )
}, 120_000)

describe('packs that go while they are gone on from', () => {
  async function twoCommits() {
    const subject = await newRepository()
    const first = await subject.repository.commit(pages(50))
    const second = await subject.repository.commit({ 'docs/1/page-1.md': page(1, 1) })
    const stores = newStores()
    await index(stores, subject, first)
    return { subject, first, second, ...stores }
  }

  /** The store, in which something happens when the header of the commit is about to be written. */
  function onPublish(blobs: BlobStore, key: string, happens: () => Promise<unknown>): BlobStore {
    return {
      ...blobs,
      async create(created, bytes) {
        if (created === key) await happens()
        return blobs.create(created, bytes)
      },
    }
  }

  test('the snapshot is built from scratch when one was removed before its header stood', async () => {
    const { subject, first, second, blobs, states } = await twoCommits()
    const [pack] = (await storedHeader(blobs, subject.described, first)).packs
    let turns = 0
    const watched = onPublish(blobs, headerKey(subject.described, second), async () => {
      if (turns++ === 0) await blobs.remove(packKey(subject.described, pack?.name ?? ''))
    })
    await index({ blobs: watched, states }, subject, second)
    expect(turns).toBe(2)
    const header = await storedHeader(blobs, subject.described, second)
    expect(header.packs.map(({ name }) => name)).not.toContain(pack?.name)
    expect(await meaningOf(blobs, subject.described, second)).toEqual(await meaningAlone(subject, second))
  })

  test('no header is left without its packs when they go again and again', async () => {
    const { subject, second, blobs, states } = await twoCommits()
    const removeAll = async () => {
      for (const key of await blobs.list('')) if (key.includes('/p/')) await blobs.remove(key)
    }
    const watched = onPublish(blobs, headerKey(subject.described, second), removeAll)
    await expect(index({ blobs: watched, states }, subject, second)).rejects.toThrow('a sweep removed packs')
    expect(await blobs.read(headerKey(subject.described, second))).toBeNull()
    await index({ blobs, states }, subject, second)
    expect(await meaningOf(blobs, subject.described, second)).toEqual(await meaningAlone(subject, second))
  })

  test('the header of another worker, who was sooner, stays', async () => {
    const { subject, second, blobs, states } = await twoCommits()
    const key = headerKey(subject.described, second)
    let isOther = true
    const watched = onPublish(blobs, key, async () => {
      if (!isOther) return
      isOther = false
      await index({ blobs }, subject, second)
    })
    const written = await index({ blobs: watched, states }, subject, second)
    expect(written?.isFirst).toBe(false)
    expect(await meaningOf(blobs, subject.described, second)).toEqual(await meaningAlone(subject, second))
  })
})
