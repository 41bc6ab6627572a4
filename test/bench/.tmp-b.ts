import { createHash } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { createSearchBuilder } from '#indexer/search/builder.ts'
import { openPreviousSection } from '#indexer/search/previous.ts'
import { createSnapshotWriter } from '#indexer/snapshot-writer.ts'
import { createMemoryBlobStore } from '#infra/memory/blob-store.ts'
import { systemClock } from '#infra/system/clock.ts'
import { collectItems, openSource } from '#test/eval/items.ts'
import { readSection } from '#test/support/search-section.ts'

const [owner, name] = process.argv.slice(2) as [string, string]
const source = await openSource('/tmp/corpus', owner, name)
const items = await collectItems(source)
await source.host.close()
let chars = 0,
  bytes = 0
for (const { title, summary, fields } of items) {
  const t = `${fields.name ?? ''}${title}${fields.description ?? summary}${fields.keywords ?? ''}${(fields.body ?? '').slice(0, 262144)}`
  chars += t.length
  bytes += Buffer.byteLength(t)
}
console.log(owner, name, items.length, 'items', (chars / 1e6).toFixed(2), 'Mchar', (bytes / 1e6).toFixed(2), 'MB')
const root = {
  folder: { counts: { skills: 0, documents: 0 }, license: { kind: 'none', name: null, source: null } as const },
  skills: [],
  documents: [],
  diagnostics: [],
}
async function once(list: typeof items, previous: any) {
  const blobs = createMemoryBlobStore(systemClock)
  const cpu = () => {
    const c = process.cpuUsage()
    return (c.user + c.system) / 1000
  }
  const t0 = cpu()
  const writer = createSnapshotWriter(blobs, source.repository, source.commit)
  const prev = previous ? await openPreviousSection(previous, source.repository, source.commit) : null
  const t1 = cpu()
  const builder = createSearchBuilder(writer, { previous: prev })
  for (const item of list) await builder.add(item)
  const t2 = cpu()
  const search = await builder.finish()
  const t3 = cpu()
  await builder.close()
  const { header } = await writer.finish({ truncated: false, searchOwners: null, search, root } as any)
  return { blobs, header, search: search!, ms: [t1 - t0, t2 - t1, t3 - t2, t3 - t0].map(Math.round) }
}
let base = await once(items, null)
const times = []
for (let i = 0; i < 3; i++) {
  base = await once(items, null)
  times.push(base.ms)
}
const full = times.map(t => t[3]!).sort((a, b) => a - b)[1]!
const sec = await readSection(base.blobs, source.repository, base.header, base.search)
const h = sec.head
console.log(
  'full',
  JSON.stringify(times),
  (chars / full / 1000).toFixed(2),
  'Mchar/s',
  'section',
  sec.bytes.length,
  `${((100 * sec.bytes.length) / bytes).toFixed(1)} %`,
)
const [p, t, i, w] = [h.postings.at(-1)!, h.terms.starts.at(-1)!, h.items.starts.at(-1)!, h.words.starts.at(-1)!]
console.log(
  'postings',
  p,
  'terms',
  t - p,
  'items',
  i - t,
  'words',
  w - i,
  'fingerprints',
  items.length * 12,
  'head',
  base.search.headBytes,
  'checksums',
  h.checksums.length * 4,
  'terms#',
  sec.terms.size,
  'words#',
  sec.words.length,
)
const changed = items.map((item, n) =>
  n % 100 === 50 ? { ...item, fields: { ...item.fields, body: (item.fields.body ?? '') + '\nAnd one more sentence.\n' } } : item,
)
const inc = []
let got
for (let k = 0; k < 5; k++) {
  got = await once(changed, base.blobs)
  inc.push(got.ms)
}
const m = inc.map(t => t[3]!).sort((a, b) => a - b)[1]!
const scratch = await once(changed, null)
const hash = async (x: any) =>
  createHash('sha256')
    .update((await readSection(x.blobs, source.repository, x.header, x.search)).bytes)
    .digest('hex')
    .slice(0, 8)
console.log(
  '1 %',
  JSON.stringify(inc),
  `${((100 * m) / full).toFixed(1)} %`,
  (await hash(got)) === (await hash(scratch)) ? 'equal' : 'DIFFERENT',
)
if (process.argv[4]) {
  const blocks = (x: any) =>
    [...x.starts.subarray(1)].map((e: number, b: number) => inflateRawSync(sec.bytes.subarray(x.starts[b], e)))
  for (const opt of [
    { level: 6 },
    { level: 6, windowBits: 13 },
    { level: 6, windowBits: 14 },
    { level: 6, windowBits: 13, memLevel: 6 },
    { level: 6, windowBits: 13, memLevel: 7 },
    { level: 4, windowBits: 13, memLevel: 7 },
    { level: 9, windowBits: 14, memLevel: 9 },
  ])
    for (const [n, x] of [
      ['terms', h.terms],
      ['items', h.items],
    ] as const) {
      const bl = blocks(x)
      const s = performance.now()
      let sum = 0
      for (const q of bl) sum += deflateRawSync(q, opt).length
      console.log(JSON.stringify(opt), n, sum, Math.round(performance.now() - s), 'ms')
    }
}
{
  const { iterate, mergeTerms } = await import('#indexer/search/merge.ts')
  const { createSectionWriter } = await import('#indexer/search/section-writer.ts')
  const prev = (await openPreviousSection(base.blobs, source.repository, source.commit))!
  const numbers = Int32Array.from({ length: prev.items }, (_, i) => i)
  const cpu = () => {
    const c = process.cpuUsage()
    return (c.user + c.system) / 1000
  }
  for (let k = 0; k < 8; k++) {
    let a = cpu()
    let n = 0
    for (const t of prev.terms(numbers)) n += t.items
    let b = cpu()
    process.stdout.write(`terms ${(b - a).toFixed(0)} `)
    a = cpu()
    const m = mergeTerms([iterate([]), iterate(prev.terms(numbers))])
    for (;;) {
      const w = m.next()
      if (w) await w
      if (!m.current) break
    }
    b = cpu()
    process.stdout.write(`merge ${(b - a).toFixed(0)} `)
    const all = [...prev.terms(numbers)]
    const sw = createSectionWriter({ addBytes: async x => [[0, 0, x.length]] })
    a = cpu()
    for (const t of all) {
      const w = sw.addTerm(t)
      if (w) await w
    }
    b = cpu()
    process.stdout.write(`addTerm ${(b - a).toFixed(0)} `)
    a = cpu()
    await sw.finish(
      { kinds: new Uint8Array(prev.items), owners: new Int32Array(prev.items), titleLengths: new Uint8Array(prev.items) },
      new Uint8Array(12 * prev.items),
    )
    b = cpu()
    process.stdout.write(`finish ${(b - a).toFixed(0)}\n`)
  }
}
