import { execFileSync } from 'node:child_process'
import { performance } from 'node:perf_hooks'
import { createSnapshotReader, type SnapshotReader } from '#api/snapshot/snapshot-reader.ts'
import { unifiedDifference } from '#core/changes/unified.ts'
import type { ChangesPage } from '#core/contract/changes.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import { createMemoryBlobStore } from '#infra/memory-stores.ts'
import { systemClock } from '#infra/system/system.ts'
import { countStore } from '#test/support/counted-store.ts'
import { testApp } from '#test/support/test-app.ts'
import { median, printTable } from './measure.ts'
import { type BenchRepository, generate } from './repositories.ts'

const ROUNDS = 30
const TARGET = { warmMs: 30, coldReads: 12, differenceMs: 50 }

/** Changes of a commit that edits one file in a hundred, of 15,000; and the difference of a long text, ordinary and hostile. */
export async function measureChanges(): Promise<void> {
  const counted = countStore(createMemoryBlobStore(systemClock))
  let reader = createSnapshotReader(counted.blobs)
  const snapshots: SnapshotReader = { ...reader, open: (of, commit) => reader.open(of, commit) }
  const app = await testApp({}, { blobs: counted.blobs as BlobStore, deps: deps => ({ ...deps, snapshots }) })
  try {
    const repository = generate(app.repositories.root, 'changes-15000', 15_000)
    editEveryHundredth(repository)
    const address = `/local/${repository.owner}/${repository.name}`
    await app.open(`${address}@before`)
    await app.open(address)
    const ask = () => app.get(`/api/v1/changes${address}?from=before`)
    const { json } = await ask()
    if (json.status !== 'ready') throw new Error(`the comparison is ${json.status}: ${json.errorCode ?? 'no error'}`)
    const cold = await timesOf(5, async () => {
      reader = createSnapshotReader(counted.blobs)
      counted.reset()
      await ask()
    })
    const reads = counted.counts.gets
    const warm = await timesOf(ROUNDS, ask)
    printTable('Changes of a commit over 15,000 files that edits 1 % (milliseconds)', [
      {
        items: itemsIn(json),
        'warm p50': median(warm),
        'cold p50': median(cold),
        'cold reads': reads,
        target: verdict([
          [median(warm), TARGET.warmMs],
          [reads, TARGET.coldReads],
        ]),
      },
    ])
  } finally {
    await app.close()
  }
  measureDifferences()
}

/** The difference of a long text, ordinary and hostile. */
function measureDifferences(): void {
  const rows = texts().map(([text, before, after]) => measureDifference(text, before, after))
  printTable('Differences of texts of about 1 MiB (milliseconds, median of 5)', rows)
}

function itemsIn({ counts: { skills, documents, manifests } }: Pick<ChangesPage, 'counts'>): number {
  return [skills, documents, manifests].flatMap(count => Object.values<number>(count)).reduce((sum, one) => sum + one, 0)
}

function verdict(measured: readonly [value: number, bound: number][]): string {
  const bounds = `<= ${measured.map(([, bound]) => bound).join(', ')}`
  return measured.some(([value, bound]) => value > bound) ? `${bounds}: MISSED` : bounds
}

/** Tags the commit as it was, and commits a line more in every hundredth Markdown file. */
function editEveryHundredth({ gitDir }: BenchRepository): void {
  const git = (args: string[], input = '') =>
    execFileSync('git', [`--git-dir=${gitDir}`, ...args], { input, maxBuffer: 256 * 1024 * 1024 }).toString()
  git(['tag', 'before', 'HEAD'])
  const branch = git(['symbolic-ref', 'HEAD']).trim()
  const paths = git(['ls-tree', '-r', '--name-only', 'HEAD'])
    .split('\n')
    .filter(path => path.endsWith('.md'))
  const commands = paths
    .filter((_path, index) => index % 100 === 50)
    .map(path => {
      const content = `${git(['show', `HEAD:${path}`])}One line more.\n`
      return `M 100644 inline ${path}\ndata ${Buffer.byteLength(content)}\n${content}\n`
    })
  const head = `commit ${branch}\ncommitter A <a@example.org> 1700000000 +0000\ndata 4\nedit\nfrom ${branch}^0\n`
  git(['fast-import', '--quiet', '--force'], head + commands.join(''))
}

function measureDifference(text: string, before: string, after: string): Record<string, string | number> {
  const times = Array.from({ length: 5 }, () => {
    const startedAt = performance.now()
    unifiedDifference(before, after)
    return performance.now() - startedAt
  })
  const ms = median(times)
  return { text, ms, longest: Math.max(...times), target: verdict([[ms, TARGET.differenceMs]]) }
}

function texts(): [text: string, before: string, after: string][] {
  let seed = 20
  const random = () => {
    seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff
    return seed / 0x7fffffff
  }
  const list = (count: number, line: (index: number) => string) => Array.from({ length: count }, (_, index) => `${line(index)}\n`)
  const prose = list(15_000, () => Array.from({ length: 8 }, () => Math.floor(random() * 1e8).toString(36)).join(' '))
  const coins = () => list(170_000, () => (random() < 0.5 ? 'heads' : 'tails')).join('')
  const everySecond = (sign: string) => list(150_000, index => (index % 2 === 0 ? `${index}` : `${sign}${index}`)).join('')
  const shuffled = list(120_000, () => Math.floor(random() * 1e9).toString(36))
  const everyFiftieth = (sign: string) => list(20_000, index => (index % 50 === 0 ? sign : 'a')).join('')
  const edited = (share: number) => prose.map(line => (random() < share ? `x${line}` : line)).join('')
  return [
    ['1 % of the lines', prose.join(''), edited(0.01)],
    ['30 % of the lines', prose.join(''), edited(0.3)],
    ['one line', 'a'.repeat(1_048_576), 'b'.repeat(1_048_576)],
    ['100,000 equal lines', 'same line\n'.repeat(100_000), `${'same line\n'.repeat(99_000)}x\n`],
    ['nothing in common', list(100_000, index => `a${index}`).join(''), list(100_000, index => `b${index}`).join('')],
    ['two lines by chance', coins(), coins()],
    ['the opposite order', list(150_000, index => `${index}`).join(''), list(150_000, index => `${150_000 - index}`).join('')],
    ['every second line', everySecond('a'), everySecond('b')],
    ['any order', shuffled.join(''), shuffled.toSorted().join('')],
    ['equal lines but for one in fifty', everyFiftieth('b'), everyFiftieth('c')],
    ['empty lines', '\n'.repeat(1_048_576), `${'\n'.repeat(524_288)}x`],
  ]
}

async function timesOf(count: number, run: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = []
  for (let turn = 0; turn < count; turn++) {
    const startedAt = performance.now()
    await run()
    times.push(performance.now() - startedAt)
  }
  return times
}
