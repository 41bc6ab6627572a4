import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { FIND_LIMIT } from '#core/limits.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { SearchSection } from '#core/snapshot/format.ts'
import { packKey } from '#core/snapshot/store-keys.ts'
import { openDiskBlobStore } from '#infra/disk/blob-store.ts'
import { openSource } from '#test/eval/items.ts'
import { openLocalFind, type Source } from '#test/support/local-find.ts'
import { createSlowReads, slowed } from '#test/support/slow-store.ts'
import { timed } from './cost.ts'
import { median, type Spread, spread } from './measure.ts'
import { createRoundStore, type ReadRequest } from './round-store.ts'
import type { BenchQueries } from './search-queries.ts'
import type { Subject } from './search-subject.ts'

export interface AskedOnce {
  sectionBytes: number
  /** Of a new reader that has the header of the snapshot, and of one that has nothing. */
  coldMilliseconds: Spread & { withHeader: number }
  /** The most of any query. */
  rounds: { plain: number; misspelled: number }
  section: ReadFigures
  /** Everything else: rows, and texts for passages. */
  rest: ReadFigures
  warmMilliseconds: Spread
  /** With the header of the snapshot; above that with the first query answered, and with all. */
  liveMegabytes: { header: number; atOpen: number; afterQueries: number }
}

interface ReadFigures {
  reads: { p50: number; max: number }
  kilobytes: { p50: number; max: number }
}

const WARM_PASSES = 4

export async function ask({ root, owner, name, store, queriesFile }: Subject): Promise<AskedOnce> {
  const source = await openSource(root, owner, name)
  const blobs = await openDiskBlobStore(store)
  const { plain, misspelled } = JSON.parse(await readFile(queriesFile, 'utf8')) as BenchQueries
  const queries = [...plain, ...misspelled]

  const reads = await readsOf(blobs, source, queries)
  const cold = await coldTimes(blobs, source, queries)
  await findAll(blobs, source, queries)

  const before = await liveMegabytes()
  const { find, header } = await openLocalFind(blobs, source)
  const opened = await liveMegabytes()
  await find(queries[0] ?? '', LIMIT)
  const atOpen = (await liveMegabytes()) - opened
  for (const query of queries) await find(query, LIMIT)
  const afterQueries = (await liveMegabytes()) - opened
  const warm: number[] = []
  for (let pass = 0; pass < WARM_PASSES; pass++) {
    for (const query of queries) warm.push((await timed(() => find(query, LIMIT))).seconds * 1000)
  }
  await blobs.close()
  await source.host.close()
  return {
    sectionBytes: (header.search?.segments ?? []).reduce((sum, [, , length]) => sum + length, 0),
    coldMilliseconds: { ...spread(cold.map(({ found }) => found)), withHeader: median(cold.map(({ all }) => all)) },
    rounds: {
      plain: Math.max(...reads.slice(0, plain.length).map(({ rounds }) => rounds)),
      misspelled: Math.max(0, ...reads.slice(plain.length).map(({ rounds }) => rounds)),
    },
    section: figuresOf(reads.map(({ section }) => section)),
    rest: figuresOf(reads.map(({ rest }) => rest)),
    warmMilliseconds: spread(warm),
    liveMegabytes: { header: opened - before, atOpen, afterQueries },
  }
}

const LIMIT = FIND_LIMIT.default

async function findAll(blobs: BlobStore, source: Source, queries: readonly string[]): Promise<void> {
  const { find } = await openLocalFind(blobs, source)
  for (const query of queries) await find(query, LIMIT)
}

/** A new reader for every query; its header is not counted. */
async function readsOf(blobs: BlobStore, source: Source, queries: readonly string[]) {
  const found: { rounds: number; section: ReadRequest[]; rest: ReadRequest[] }[] = []
  for (const query of queries) {
    const counted = createRoundStore(blobs)
    const { find, header } = await openLocalFind(counted, source)
    counted.takeRounds()
    await find(query, LIMIT)
    const rounds = counted.takeRounds()
    const isOfSection = createSectionTest(source, header.packs, header.search)
    const { section = [], rest = [] } = Object.groupBy(rounds.flat(), read => (isOfSection(read) ? 'section' : 'rest'))
    found.push({ rounds: rounds.length, section, rest })
  }
  return found
}

function createSectionTest(
  { repository }: Source,
  packs: readonly { name: string }[],
  search: SearchSection | null,
): (read: ReadRequest) => boolean {
  const segments = (search?.segments ?? []).map(([pack, offset, length]) => {
    return { key: packKey(repository, packs[pack]?.name ?? ''), start: offset, end: offset + length }
  })
  return read => segments.some(({ key, start, end }) => key === read.key && start < read.end && read.start < end)
}

function figuresOf(reads: readonly (readonly ReadRequest[])[]): ReadFigures {
  const of = (values: readonly number[]) => ({ p50: median(values), max: Math.max(...values) })
  const bytesOf = (requests: readonly ReadRequest[]) => requests.reduce((sum, { start, end }) => sum + end - start, 0)
  return { reads: of(reads.map(({ length }) => length)), kilobytes: of(reads.map(requests => bytesOf(requests) / 1000)) }
}

async function coldTimes(blobs: BlobStore, source: Source, queries: readonly string[]) {
  const times: { found: number; all: number }[] = []
  for (const query of queries) {
    const startedAt = performance.now()
    const { find } = await openLocalFind(slowed(blobs, createSlowReads()), source)
    const openedAt = performance.now()
    await find(query, LIMIT)
    const endedAt = performance.now()
    times.push({ found: endedAt - openedAt, all: endedAt - startedAt })
  }
  return times
}

/** Heap and what is bound to it outside, after what is under way has ended and a collection. */
async function liveMegabytes(): Promise<number> {
  await sleep(100)
  globalThis.gc?.()
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 1e6
}
