import { mkdir, readFile } from 'node:fs/promises'
import { spread } from '#test/bench/measure.ts'
import { createSlowStore, type Engine } from './engines/engine.ts'
import { fts5 } from './engines/fts5.ts'
import { minisearch } from './engines/minisearch.ts'
import { mountglass } from './engines/mountglass.ts'
import { pagefind } from './engines/pagefind.ts'
import { collectItems, openSource } from './items.ts'
import type { EngineName, EngineRun } from './peers.ts'

/**
 * One engine over one repository in a process of its own, so that nothing of another one is in memory or warm:
 * `node --expose-gc run-engine.ts <engine> <root> <owner> <name> <language> <queries.json> <folder>` prints an `EngineRun`.
 */
const ENGINES: Readonly<Record<EngineName, Engine>> = { mountglass, minisearch, fts5, pagefind }
/** How many queries are asked cold, each with a reader of its own. */
const COLD_QUERIES = 15

const [name, root, owner, repository, language, queriesFile, folder] = process.argv.slice(2) as [
  EngineName,
  string,
  string,
  string,
  string,
  string,
  string,
]
const engine = ENGINES[name]
const queries = JSON.parse(await readFile(queriesFile, 'utf8')) as string[]
const source = await openSource(root, owner, repository)
const subject = { source, items: await collectItems(source), language }
await mkdir(folder, { recursive: true })

const { seconds, objects, bytes } = await engine.build(subject, folder)

const before = liveMegabytes()
const warm = await engine.open(subject, folder, createSlowStore(false))
await warm.find('warm')
const atOpen = liveMegabytes() - before
const ranked = []
for (const query of queries) ranked.push(await warm.find(query))
const afterQueries = liveMegabytes() - before
const warmTimes: number[] = []
for (const query of queries) {
  const startedAt = performance.now()
  await warm.find(query)
  warmTimes.push(performance.now() - startedAt)
}
await warm.close()

const coldTimes: number[] = []
const reads: number[] = []
const readBytes: number[] = []
const step = Math.max(1, Math.floor(queries.length / COLD_QUERIES))
for (const query of queries.filter((_, index) => index % step === 0).slice(0, COLD_QUERIES)) {
  const store = createSlowStore(true)
  const startedAt = performance.now()
  const cold = await engine.open(subject, folder, store)
  await cold.find(query)
  coldTimes.push(performance.now() - startedAt)
  reads.push(store.reads)
  readBytes.push(store.bytes)
  await cold.close()
}
await source.host.close()

const run: EngineRun = {
  items: subject.items.length,
  buildSeconds: seconds,
  objects,
  bundleBytes: bytes,
  liveMegabytes: { atOpen, afterQueries },
  warmMilliseconds: spread(warmTimes),
  coldMilliseconds: spread(coldTimes),
  coldReads: spread(reads).p50,
  coldBytes: spread(readBytes).p50,
  ranked,
}
process.stdout.write(JSON.stringify(run))

/** Heap and what is bound to it outside, after a collection. Not what SQLite or WebAssembly allocate for themselves. */
function liveMegabytes(): number {
  globalThis.gc?.()
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 1e6
}
