import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { CORPUS } from '#test/support/corpus.ts'
import { keepCompiledSources } from '../../scripts/setup/runtime.mjs'
import { measureAgents } from './agents.ts'
import { measureChanges } from './changes.ts'
import { measureDatabase } from './database.ts'
import { measureFairness } from './fairness.ts'
import { measureFelt } from './felt.ts'
import { measureGitHub } from './github.ts'
import { measureHostile } from './hostile.ts'
import { measureJobs } from './jobs.ts'
import { measureLighthouse } from './lighthouse.ts'
import { measureLoad } from './load.ts'
import { median, printTable } from './measure.ts'
import { measureMounts } from './mounts.ts'
import { measureOAuth } from './oauth.ts'
import { measurePages } from './pages.ts'
import { measureParsing } from './parsing.ts'
import { measurePictures } from './pictures.ts'
import { measurePrivate } from './private.ts'
import { measureQuota } from './quota.ts'
import { measureReady } from './ready.ts'
import { type BenchRepository, makeRepositories } from './repositories.ts'
import { measureSearch } from './search.ts'
import { measureStore } from './store.ts'

/**
 * Prints what indexing, searching and reading cost on this machine. Not a test: nothing is asserted, ratios against git say more than
 * seconds. `--only <part>` for one part, again for another; `--million` builds a search over a million items, too, which takes minutes;
 * `--attack <name>` is one attack of the fairness part instead of all, such as `--attack "made-up names"`; `--repository <name>` is one
 * repository of the part `ready` instead of all, such as `--repository superpowers`.
 */
const RUNS = 3
const { values: options } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    attack: { type: 'string', multiple: true },
    repository: { type: 'string', multiple: true },
    million: { type: 'boolean', default: false },
  },
})
// As the command does it for every process of the product.
keepCompiledSources(dirname(dirname(import.meta.dirname)))
const root = await mkdtemp(join(tmpdir(), 'mountglass-bench-'))
let made: Promise<BenchRepository[]> | null = null

const PARTS: Readonly<Record<string, () => Promise<void>>> = {
  async read() {
    const repositories = await madeRepositories()
    printTable('Reading a repository, beside git doing the same (median of 3; seconds)', repositories.map(measureRead))
  },
  async index() {
    const repositories = await madeRepositories()
    printTable('Indexing into a disk store (median of 3)', repositories.map(measureIndex))
    printTable('What indexing the largest repository spends where, without git and disk (median of 3; seconds)', [
      measureBuild(repositories),
    ])
  },
  async parse() {
    await madeRepositories()
    printTable('Markdown and front matter (best of 3)', measureParsing(CORPUS === null ? null : root))
    printTable('Hostile inputs, the slowest first', measureHostile())
  },
  jobs: async () => measureJobs(root, await madeRepositories()),
  ready: async () => measureReady(root, await makeRepositories(root, options.repository)),
  github: async () => measureGitHub(root, await madeRepositories()),
  search: () => measureSearch(join(root, 'search')),
  felt: async () => measureFelt(root, await madeRepositories()),
  database: measureDatabase,
  store: async () => measureStore(root, await madeRepositories()),
  mounts: () => measureMounts(join(root, 'mounts')),
  changes: measureChanges,
  pages: async () => measurePages(root, await madeRepositories()),
  lighthouse: async () => measureLighthouse(root, await madeRepositories()),
  pictures: async () => measurePictures(root, await madeRepositories()),
  quota: () => measureQuota(root),
  agents: async () => measureAgents(root, await madeRepositories()),
  private: async () => measurePrivate(root, await madeRepositories()),
  oauth: async () => measureOAuth(root, await madeRepositories()),
  load: async () => measureLoad(root, await madeRepositories()),
  fairness: () => measureFairness(join(root, 'fairness'), options.attack),
}

try {
  const parts = options.only ?? Object.keys(PARTS)
  const unknown = parts.filter(part => !Object.hasOwn(PARTS, part))
  if (unknown.length > 0) throw new Error(`no part ${unknown.join(', ')}: there are ${Object.keys(PARTS).join(', ')}`)
  for (const part of parts) await PARTS[part]?.()
  if (options.million) printTable('The search section of a million items', [measureMillion()])
} finally {
  await rm(root, { recursive: true, force: true })
}

function measureMillion(): Record<string, number> {
  const script = join(import.meta.dirname, 'search-million.ts')
  return JSON.parse(execFileSync(process.execPath, [script], { encoding: 'utf8' })) as Record<string, number>
}

function madeRepositories(): Promise<BenchRepository[]> {
  made ??= makeRepositories(root)
  return made
}

function measureRead(repository: BenchRepository) {
  const { gitDir, owner, name } = repository
  const bare = join(root, 'clone.git')
  const runs = Array.from({ length: RUNS }, () => {
    const read = runOnce('read', repository)
    const clone = seconds(`rm -rf ${bare}; git clone --quiet --bare --depth 1 file://${gitDir} ${bare}`)
    const plain = seconds(
      `git --git-dir=${gitDir} ls-tree -r HEAD | awk '$2 == "blob" { print $3 }' | git --git-dir=${gitDir} cat-file --batch --buffer > /dev/null`,
    )
    return { read, clone, plain }
  })
  const ours = median(runs.map(run => run.read.seconds))
  const clone = median(runs.map(run => run.clone))
  const plain = median(runs.map(run => run.plain))
  return {
    repository: `${owner}/${name}`,
    files: runs[0]?.read.files ?? 0,
    MB: (runs[0]?.read.bytes ?? 0) / 1e6,
    read: ours,
    'clone --bare': clone,
    'ls-tree+cat-file': plain,
    'read/clone': ours / clone,
    'read/plain': ours / plain,
  }
}

function measureIndex(repository: BenchRepository) {
  const runs = Array.from({ length: RUNS }, () => runOnce('index', repository))
  const of = (figure: string) => median(runs.map(run => run[figure] ?? Number.NaN))
  return {
    repository: `${repository.owner}/${repository.name}`,
    skills: of('skills'),
    documents: of('documents'),
    'wall s': of('seconds'),
    'CPU s': of('cpuSeconds'),
    'peak MB': of('peakMegabytes'),
    objects: of('objects'),
    kB: of('bytes') / 1000,
  }
}

/** The repository with the most bytes, real ones before generated ones. */
function measureBuild(repositories: readonly BenchRepository[]): Record<string, string | number> {
  const real = repositories.filter(({ owner }) => owner !== 'generated')
  const sized = (real.length > 0 ? real : repositories).map(repository => {
    const { files = 0, bytes = 0 } = runOnce('read', repository)
    return { repository, files, bytes }
  })
  const { repository, files, bytes } = sized.reduce((largest, other) => (other.bytes > largest.bytes ? other : largest))
  const runs = Array.from({ length: RUNS }, () => runOnce('build', repository))
  const of = (figure: string) => median(runs.map(run => run[figure] ?? 0))
  return {
    repository: `${repository.owner}/${repository.name}`,
    files,
    MB: bytes / 1e6,
    tree: of('tree'),
    'rules and licenses': of('policy'),
    content: of('content'),
    'tables and search': of('write'),
    'peak MB': of('peakMegabytes'),
  }
}

function runOnce(
  mode: 'read' | 'index' | 'build',
  { owner, name }: BenchRepository,
): Record<string, number> & { seconds: number } {
  const store = join(root, `store-${Math.random()}`)
  const script = join(import.meta.dirname, 'index-once.ts')
  return JSON.parse(execFileSync(process.execPath, [script, mode, root, owner, name, store], { encoding: 'utf8' }))
}

function seconds(script: string): number {
  const startedAt = performance.now()
  execFileSync('sh', ['-c', script], { stdio: 'ignore' })
  return (performance.now() - startedAt) / 1000
}
