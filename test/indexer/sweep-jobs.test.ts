import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSearch } from '#api/search/section-reader.ts'
import { createSnapshotReader } from '#api/snapshot/snapshot-reader.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { IndexJob } from '#core/ports/job-queue.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { TABLES, type TableName } from '#core/snapshot/format.ts'
import { packKey } from '#core/snapshot/store-keys.ts'
import { writeSnapshot } from '#indexer/pipeline/write-snapshot.ts'
import type { Stores } from '#indexer/sweep/repositories.ts'
import { sweepStore } from '#indexer/sweep/sweep.ts'
import { type LocalHost, openLocalHost } from '#infra/local/host.ts'
import { createMemoryBlobStore, createMemoryStateStore } from '#infra/memory-stores.ts'
import { answered } from '#test/support/answered.ts'
import { createRepositories, type TestRepositories } from '#test/support/repository.ts'
import { stepped } from '#test/support/stepped-stores.ts'
import { handClock } from '#test/support/store-values.ts'

const DAY = 86_400
const clock = handClock()

let repositories: TestRepositories
let host: LocalHost
let first: IndexJob
let second: IndexJob

beforeAll(async () => {
  repositories = await createRepositories()
  const tools = await repositories.create('acme', 'tools')
  const skill = (name: string) => `---\nname: ${name}\ndescription: Does ${name}.\n---\nDo it.\n`
  const commit = await tools.commit({ LICENSE: 'MIT License\n', 'a/SKILL.md': skill('a'), 'docs/b.md': '# B\n' })
  const next = await tools.commit({ 'c/SKILL.md': skill('c') })
  host = await openLocalHost({ root: repositories.root, baseUrl: 'http://127.0.0.1' })
  const repository = answered(await host.repository('acme', 'tools'))
  first = { repository, commit }
  second = { repository, commit: next }
})
afterAll(async () => {
  await host.close()
  await repositories.remove()
})

const index = (stores: Stores, job: IndexJob) => writeSnapshot({ ...stores, hosts: [host] }, job, new AbortController().signal)

const sweep = (stores: Stores) =>
  sweepStore(stores, clock, {
    days: 90,
    remove: true,
    signal: new AbortController().signal,
    onFailure(_, error) {
      throw error
    },
  })

/** Reads all of a snapshot: how many rows and records there are; `null` when there is none. */
async function readAll({ blobs }: Stores, { repository, commit }: IndexJob): Promise<number | null> {
  const snapshot = await createSnapshotReader(blobs).open(repository, commit)
  if (snapshot === null) return null
  const tables = await Promise.all(Object.keys(TABLES).map(name => snapshot.range(name as TableName)))
  const files = await snapshot.range('files')
  await Promise.all(files.map(async ([, { record }]) => record && (await snapshot.record(record))))
  expect(await openSearch(snapshot)).not.toBeNull()
  return tables.reduce((sum, rows) => sum + rows.length, files.length)
}

/** A store that a job finds: two commits were indexed, nobody opened them, and their packs are due. */
async function dueStores(): Promise<() => Promise<Stores>> {
  const stores = { blobs: createMemoryBlobStore(clock), states: createMemoryStateStore() }
  await index(stores, first)
  await index(stores, second)
  clock.advance(91 * DAY)
  await sweep(stores)
  expect(await stores.blobs.list('')).toHaveLength(2)
  clock.advance(DAY)
  return () => copyOf(stores)
}

async function copyOf({ blobs, states }: Stores): Promise<Stores> {
  const copy: { blobs: BlobStore; states: StateStore } = { blobs: createMemoryBlobStore(clock), states: createMemoryStateStore() }
  for (const key of await blobs.list('')) await copy.blobs.create(key, (await blobs.read(key))?.bytes ?? new Uint8Array())
  for (const key of await states.list('')) await copy.states.create(key, (await states.read(key))?.value ?? null)
  return copy
}

describe('an index job that finds packs that are due for removal', () => {
  /** What a visitor gets in the end: what is not there is indexed once more. */
  async function inTheEnd(stores: Stores, job: IndexJob): Promise<{ wasThere: boolean; rows: number | null }> {
    const rows = await readAll(stores, job)
    if (rows !== null) return { wasThere: true, rows }
    await index(stores, job)
    return { wasThere: false, rows: await readAll(stores, job) }
  }

  test('during a sweep leaves a whole snapshot, or none', async () => {
    const freshStores = await dueStores()
    const alone = await freshStores()
    await index(alone, first)
    const rows = await readAll(alone, first)
    const names = (await alone.blobs.list(packKey(first.repository, ''))).length
    expect(rows).toBeGreaterThan(5)
    // The packs that are due are those that the job wants to write.
    expect(names).toBe(2)

    const steps = { ofJob: 0, ofSweep: 0 }
    const seen = new Set<boolean>()
    for (let at = 0; at <= steps.ofJob; at++) {
      const stores = await freshStores()
      const watched = stepped(stores, async step => {
        if (step === at) await sweep(stores)
      })
      await index(watched.stores, first)
      steps.ofJob = watched.steps()
      const end = await inTheEnd(stores, first)
      seen.add(end.wasThere)
      expect(end.rows, `a sweep at step ${at} of the job`).toBe(rows)
    }
    for (let at = 0; at <= steps.ofSweep; at++) {
      const stores = await freshStores()
      const watched = stepped(stores, async step => {
        if (step === at) await index(stores, first)
      })
      await sweep(watched.stores)
      steps.ofSweep = watched.steps()
      const end = await inTheEnd(stores, first)
      seen.add(end.wasThere)
      expect(end.rows, `a job at step ${at} of the sweep`).toBe(rows)
    }
    expect(steps.ofJob).toBeGreaterThan(6)
    expect(steps.ofSweep).toBeGreaterThan(10)
    // Both came about: the sweep found it too late, and in time.
    expect(seen).toEqual(new Set([true, false]))
  })

  test('builds on an earlier commit whose header the sweep removes meanwhile, and keeps its packs', async () => {
    let steps = 1
    for (let at = 0; at < steps; at++) {
      const stores = { blobs: createMemoryBlobStore(clock), states: createMemoryStateStore() }
      await index(stores, first)
      clock.advance(91 * DAY)
      const watched = stepped(stores, async step => {
        if (step === at) await sweep(stores)
      })
      await index(watched.stores, second)
      steps = watched.steps()
      for (let day = 0; day < 3; day++) {
        clock.advance(DAY)
        await sweep(stores)
      }
      expect(await readAll(stores, first)).toBeNull()
      expect(await readAll(stores, second), `a sweep at step ${at}`).toBeGreaterThan(5)
    }
    expect(steps).toBeGreaterThan(6)
  })
})
