import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { finished } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { FIND_LIMIT, SEARCHED_FILE_BYTES, TREE_ENTRIES } from '#core/limits.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { SearchSection } from '#core/snapshot/format.ts'
import { packKey } from '#core/snapshot/keys.ts'
import { openEarlierSnapshot } from '#indexer/earlier-snapshot.ts'
import { indexRepository } from '#indexer/index-repository.ts'
import { createSearchBuilder, type SearchBuilder } from '#indexer/search/builder.ts'
import type { SearchInput } from '#indexer/search/input.ts'
import { openPreviousSection } from '#indexer/search/previous.ts'
import type { SectionPlace } from '#indexer/search/section-writer.ts'
import { createSnapshotWriter } from '#indexer/snapshot-writer.ts'
import { writeSnapshot } from '#indexer/write-snapshot.ts'
import { openDiskBlobStore } from '#infra/disk/blob-store.ts'
import { createMemoryDocStore } from '#infra/memory/doc-store.ts'
import { collectItems, openSource } from '#test/eval/items.ts'
import { openLocalFind, type Source } from '#test/support/local-find.ts'
import { createSlowReads, slowed } from '#test/support/slow-store.ts'
import { median, type Spread, spread } from './measure.ts'
import { commitFiles, gitFolderOf, otherWords } from './repositories.ts'
import { createRoundStore, type ReadRequest } from './round-store.ts'
import { type BenchQueries, queriesOf } from './search-queries.ts'

/**
 * One measurement in a process of its own: `node --expose-gc search-once.ts <mode> <root> <owner> <name> <store> <items> [queries]`
 * prints figures as JSON. `store` holds the snapshot of the repository; `items` is a file of what is searched, an item a line.
 */
const [mode, root, owner, name, store, itemsFile, queriesFile] = process.argv.slice(2) as [
  keyof typeof MODES,
  string,
  string,
  string,
  string,
  string,
  string,
]
const MODES = { index, collect, build, change, job, ask }

/** Writes the snapshot in whatever time it takes: for machines that are too slow for the limit of a job. */
async function index(): Promise<null> {
  const { host, repository, commit } = await openSource(root, owner, name)
  const blobs = await openDiskBlobStore(store)
  const reader = await host.open(repository, commit, { treeEntries: TREE_ENTRIES, treeDepthSegments: 10_000, seconds: 600 })
  const writer = createSnapshotWriter(blobs, repository, commit)
  const search = createSearchBuilder(writer)
  await indexRepository(writer, reader, repository, { search })
  await search.close()
  await reader.close()
  await blobs.close()
  await host.close()
  return null
}

export interface Collected {
  items: number
  characters: number
  /** UTF-8 bytes of what is searched. */
  textBytes: number
  queries: BenchQueries
}

/** Writes the items file. */
async function collect(): Promise<Collected> {
  const source = await openSource(root, owner, name)
  const items = await collectItems(source)
  await source.host.close()
  const file = createWriteStream(itemsFile)
  let characters = 0
  let textBytes = 0
  for (const item of items) {
    const text = searchedText(item)
    characters += text.length
    textBytes += Buffer.byteLength(text)
    if (!file.write(`${JSON.stringify(item)}\n`)) await once(file, 'drain')
  }
  file.end()
  await finished(file)
  return { items: items.length, characters, textBytes, queries: queriesOf(items) }
}

/** Headings stand in the body, and what a document or a page says of itself is its beginning. */
function searchedText({ kind, title, summary, fields }: SearchInput): string {
  const { name = '', description = '', keywords = '', body } = fields
  const said = kind === 'skill' ? description : body === undefined ? summary : ''
  return `${name}${title}${said}${keywords}${body?.slice(0, SEARCHED_FILE_BYTES) ?? ''}`
}

export interface Built {
  /** The most memory of the process, above what it had before. Items are read one by one. */
  peakMegabytes: number
}

async function build(): Promise<Built> {
  const source = await openSource(root, owner, name)
  const blobs = await openDiskBlobStore(`${store}-built`)
  globalThis.gc?.()
  const before = process.memoryUsage.rss()
  const builder = createSearchBuilder(createSnapshotWriter(blobs, source.repository, source.commit))
  for await (const line of createInterface({ input: createReadStream(itemsFile) })) {
    await builder.add(JSON.parse(line) as SearchInput)
  }
  await builder.finish()
  const peakMegabytes = (process.resourceUsage().maxRSS * 1024 - before) / 1e6
  await builder.close()
  await blobs.close()
  await source.host.close()
  return { peakMegabytes }
}

/** What some work takes: of the clock, and of all threads of the process. */
export interface Cost {
  seconds: number
  processorSeconds: number
}

export interface Changed {
  /** Building from scratch. */
  full: Cost
  /** Building with the section of the commit before, when every hundredth item lost some of its words and has another. */
  edited: Cost
  /** The same when one in two hundred is new, and as many are gone, so that most items have other numbers. */
  moved: Cost
  /** A build gives the same bytes whatever is known before. */
  isEqual: boolean
}

/** Below this, code is warmed up by builds that are not measured, as it is in a process that has indexed before. */
const WARM_UP_CHARACTERS = 20e6
const WARM_UP_TURNS = 2
const MEASURED_TURNS = 9

async function change(): Promise<Changed> {
  const items: SearchInput[] = []
  let characters = 0
  for await (const line of createInterface({ input: createReadStream(itemsFile) })) {
    items.push(JSON.parse(line) as SearchInput)
    characters += line.length
  }
  const editedItems = items.map((item, index) => (isChosen(index) ? withOtherWords(item) : item))
  const movedItems = items.flatMap((item, index) => {
    if (!isChosen(index) || item.kind === 'skill') return [item]
    return index % 200 === 50 ? [] : [item, { ...item, path: `${item.path}\u0001` }]
  })

  const source = await openSource(root, owner, name)
  const blobs = await openDiskBlobStore(store)
  const full = (all: readonly SearchInput[]) => buildSection(all, place => createSearchBuilder(place))
  const changed = async (all: readonly SearchInput[]) => {
    const previous = await openPreviousSection(await openEarlierSnapshot(blobs, source.repository, source.commit))
    return buildSection(all, place => createSearchBuilder(place, { previous }))
  }
  // A collection throws compiled code away, so what is small is measured behind one, several times, as a process at work would do it.
  const turns = characters < WARM_UP_CHARACTERS ? MEASURED_TURNS : 1
  if (turns > 1) for (let turn = 0; turn < WARM_UP_TURNS; turn++) await changed(editedItems)
  globalThis.gc?.()
  const fullRuns = await repeat(turns, () => full(editedItems))
  const editedRuns = await repeat(turns, () => changed(editedItems))
  const movedRuns = await repeat(turns, () => changed(movedItems))
  const movedFromScratch = await full(movedItems)
  await blobs.close()
  await source.host.close()
  return {
    full: costOf(fullRuns),
    edited: costOf(editedRuns),
    moved: costOf(movedRuns),
    isEqual:
      new Set([...fullRuns, ...editedRuns].map(({ value }) => value)).size === 1 &&
      movedRuns.every(({ value }) => value === movedFromScratch),
  }
}

/** One in a hundred. */
function isChosen(index: number): boolean {
  return index % 100 === 50
}

/** Its text lies in another place then. */
function withOtherWords({ fields, text, ...item }: SearchInput): SearchInput {
  const body = otherWords(fields.body ?? '')
  return { ...item, text: text && [1, 0, text[2]], fields: { ...fields, body, blob: `${fields.blob ?? ''} changed` } }
}

export interface Jobs {
  /** Indexing a commit in which every hundredth file changed: from scratch, and behind the commit before. */
  full: Cost
  changed: Cost
  /** What either stores. */
  fullBytes: number
  changedBytes: number
}

const JOB_TURNS = 5

/** The whole job: git, Markdown, packs and search. */
async function job(): Promise<Jobs> {
  const { host, repository, commit } = await openSource(root, owner, name)
  const paths = (await readFile(itemsFile, 'utf8'))
    .trimEnd()
    .split('\n')
    .filter((_, index) => isChosen(index))
  const next = commitFiles(
    gitFolderOf(root, owner, name),
    paths.map(line => (JSON.parse(line) as SearchInput).path),
    otherWords,
  )
  const signal = new AbortController().signal
  const bytes = { full: 0, changed: 0 }
  let behind = 0
  const full = async () => {
    const blobs = await openDiskBlobStore(`${store}-job-${behind++}`)
    const written = await writeSnapshot({ blobs, hosts: [host] }, { repository, commit: next }, signal)
    bytes.full = written?.bytes ?? 0
    await blobs.close()
  }
  const prepare = async () => {
    const deps = { blobs: await openDiskBlobStore(`${store}-job-${behind++}`), docs: createMemoryDocStore(), hosts: [host] }
    await writeSnapshot(deps, { repository, commit }, signal)
    return deps
  }
  const runs = { full: [] as Run<void>[], changed: [] as Run<void>[] }
  let deps = await prepare()
  const turns = paths.length > 100 ? 1 : JOB_TURNS
  for (let turn = 0; turn < turns; turn++) {
    runs.changed.push(
      await timed(async () => {
        bytes.changed = (await writeSnapshot(deps, { repository, commit: next }, signal))?.bytes ?? 0
      }),
    )
    await deps.blobs.close()
    runs.full.push(await timed(full))
    if (turn + 1 < turns) deps = await prepare()
  }
  await host.close()
  return { full: costOf(runs.full), changed: costOf(runs.changed), fullBytes: bytes.full, changedBytes: bytes.changed }
}

interface Run<Value> extends Cost {
  value: Value
}

/** Of one kind, one behind the other: what each leaves behind in memory, the next of its kind clears away. */
async function repeat<Value>(turns: number, work: () => Promise<Value>): Promise<Run<Value>[]> {
  const runs: Run<Value>[] = []
  for (let turn = 0; turn < turns; turn++) runs.push(await timed(work))
  return runs
}

function costOf(runs: readonly Cost[]): Cost {
  return {
    seconds: median(runs.map(({ seconds }) => seconds)),
    processorSeconds: median(runs.map(({ processorSeconds }) => processorSeconds)),
  }
}

/** @returns digest of the bytes */
async function buildSection(items: readonly SearchInput[], create: (place: SectionPlace) => SearchBuilder): Promise<string> {
  const digest = createHash('sha256')
  let length = 0
  const builder = create({
    async addBytes(bytes) {
      digest.update(bytes)
      length += bytes.length
      return [[0, length - bytes.length, bytes.length]]
    },
  })
  for (const item of items) {
    const waiting = builder.add(item)
    if (waiting) await waiting
  }
  await builder.finish()
  await builder.close()
  return digest.digest('hex')
}

async function timed<Value>(work: () => Promise<Value>): Promise<Run<Value>> {
  const startedAt = performance.now()
  const before = process.cpuUsage()
  const value = await work()
  const seconds = (performance.now() - startedAt) / 1000
  const { user, system } = process.cpuUsage(before)
  return { value, seconds, processorSeconds: (user + system) / 1e6 }
}

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

async function ask(): Promise<AskedOnce> {
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

process.stdout.write(JSON.stringify(await MODES[mode]()))
