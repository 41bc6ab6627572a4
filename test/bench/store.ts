import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EndpointName } from '#core/contract/endpoints.ts'
import { PACK_BYTES } from '#core/limits.ts'
import { openDiskBlobStore } from '#infra/disk/blob-store.ts'
import { openSource } from '#test/eval/items.ts'
import type { StoreCounts } from '#test/support/counted-store.ts'
import { startFakeGitHub } from '#test/support/fake-github/server.ts'
import { type Service, startService } from '#test/support/service.ts'
import { SERVERS } from '../../scripts/servers/servers.mjs'
import { isInstalled, supervise } from '../../scripts/servers/supervise.mjs'
import { choosePaths, type Paths } from './calls.ts'
import { cpuSecondsOf, errorText, runLoad } from './load.ts'
import { median, printTable, type Spread, spread, spreadOf } from './measure.ts'
import { type BenchRepository, commitFiles, generate, otherWords } from './repositories.ts'

const RUNS = 3
type Env = Readonly<Record<string, string>>
type Row = Record<string, string | number>

/** What commits and calls cost in a bucket, over the gateway on this machine: requests, bytes and time, beside their targets. */
export async function measureStore(root: string, repositories: readonly BenchRepository[]): Promise<void> {
  const named = (name: string) => repositories.filter(repository => repository.name === name)
  printTable('Objects on this disk', [await measureCreates(join(root, 'creates'))])
  if (!isInstalled(SERVERS.s3)) {
    process.stdout.write(`\nleft out: a bucket, which needs the packages ${SERVERS.s3.packages.join(' ')}\n`)
    return
  }
  const startedAt = performance.now()
  const server = await supervise(SERVERS.s3, await mkdtemp(join(tmpdir(), 'mountglass-bench-s3-')))
  try {
    printTable('The gateway', [{ 'starts in, s': (performance.now() - startedAt) / 1000, target: '<= 10' }])
    const small = generate(root, 'files-500', 500)
    await measureCommits(server.env, root, [small, ...named('files-15000'), ...named('agents'), ...named('tldr')])
    await measurePacking(server.env, root, [small, ...named('files-15000')])
    await measureCalls(server.env, root, [...named('files-15000'), ...named('agents')])
  } finally {
    await server.stop()
  }
  await measureMounts(root, ['superpowers', 'agents'].flatMap(named))
}

/** The settings of a place in the bucket that nobody has used. */
function newPlace(env: Env, root: string): Env {
  const prefix = randomBytes(6).toString('hex')
  return {
    ...env,
    MOUNTGLASS_STORE: `${env.MOUNTGLASS_STORE}/${prefix}`,
    MOUNTGLASS_LOCAL_REPOSITORIES: root,
    MOUNTGLASS_GITHUB: 'off',
    MOUNTGLASS_LOG: 'warn',
  }
}

type Written = StoreCounts & { usedBytes: number; seconds: number; uploadSeconds: number }

function writeOnce(mode: 'commit' | 'pack', env: Env, root: string, { owner, name }: BenchRepository, commit: string): Written {
  const script = join(import.meta.dirname, 'store-once.ts')
  const output = execFileSync(process.execPath, [script, mode, root, owner, name, commit], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, ...env },
  })
  return JSON.parse(output) as Written
}

async function measureCommits(env: Env, root: string, repositories: readonly BenchRepository[]): Promise<void> {
  const rows: Row[] = []
  for (const repository of repositories) {
    const { commit } = await openSource(root, repository.owner, repository.name)
    const place = newPlace(env, root)
    const first = writeOnce('commit', place, root, repository, commit)
    rows.push({ repository: repository.name, commit: 'first', ...costsOf(first, null) })
    const next = writeOnce('commit', place, root, repository, changeOneInHundred(repository))
    rows.push({ repository: repository.name, commit: '1 % changed', ...costsOf(next, first) })
  }
  printTable('What a commit stores in a bucket, its search section included', rows)
}

/** @param before what the commit before has stored; `null`: there was none. Of a small repository a header is much */
function costsOf({ puts, putBytes, gets, getBytes, seconds }: Written, before: Written | null): Row {
  const isLarge = before !== null && before.putBytes > PACK_BYTES
  const mostPuts = Math.ceil(putBytes / PACK_BYTES) + 1
  const share = before && (putBytes / before.putBytes) * 100
  return {
    PUTs: puts,
    'at most': `${mostPuts}${puts > mostPuts ? ' MISSED' : ''}`,
    MB: putBytes / 1e6,
    'of the first, %': share ?? '',
    target: share !== null && isLarge ? `<= 5${share > 5 ? ' MISSED' : ''}` : '',
    GETs: gets,
    'MB read': getBytes / 1e6,
    'job, s': seconds,
  }
}

/** Other words in every hundredth Markdown file. */
function changeOneInHundred({ gitDir }: BenchRepository): string {
  const paths = execFileSync('git', [`--git-dir=${gitDir}`, 'ls-tree', '-r', '-z', '--name-only', 'HEAD'], {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })
    .split('\0')
    .filter(path => path.endsWith('.md'))
  return commitFiles(
    gitDir,
    paths.filter((_, index) => index % 100 === 50),
    otherWords,
  )
}

async function measurePacking(env: Env, root: string, repositories: readonly BenchRepository[]): Promise<void> {
  const rows: Row[] = []
  for (const repository of repositories) {
    const { commit } = await openSource(root, repository.owner, repository.name)
    const runs = Array.from({ length: RUNS }, () => writeOnce('pack', newPlace(env, root), root, repository, commit))
    const isLarge = repository.name === 'files-15000'
    rows.push({
      repository: repository.name,
      MB: (runs[0]?.putBytes ?? 0) / 1e6,
      'an object under way, s': median(runs.map(run => run.uploadSeconds)),
      'pack and upload, s': median(runs.map(run => run.seconds)),
      target: isLarge ? '<= 6' : '<= .3',
    })
  }
  printTable('Publishing what is known, without a search section (median of 3)', rows)
}

/** Reads that a first call takes at most. Those of find are mostly the search section's, which may take 16 in its five rounds. */
const READS = { mounts: 2, browse: 3, find: 18, skills: 3, files: 4 } as const

async function measureCalls(env: Env, root: string, repositories: readonly BenchRepository[]): Promise<void> {
  const bucket = newPlace(env, root)
  const disk = { ...bucket, MOUNTGLASS_STORE: `disk:${join(root, 'calls')}` }
  const calls: Row[] = []
  const files: Row[] = []
  for (const [store, place] of Object.entries({ bucket, disk })) {
    for (const { owner, name } of repositories) {
      const address = `/local/${owner}/${name}`
      let service = await startService(place)
      const paths = await choosePaths(service, address)
      for (const endpoint of Object.keys(READS) as (keyof typeof READS)[]) {
        const cold: { reads: number; milliseconds: number }[] = []
        for (let run = 0; run < RUNS; run++) {
          await service.stop()
          service = await startService(place)
          const before = await readsOf(service)
          const { p50 } = await spreadOf(1, () => call(service, endpoint, address, paths))
          cold.push({ reads: (await readsOf(service)) - before, milliseconds: p50 })
        }
        await spreadOf(50, () => call(service, endpoint, address, paths))
        const before = await readsOf(service)
        const warm = await spreadOf(500, () => call(service, endpoint, address, paths))
        calls.push({
          store,
          repository: name,
          endpoint,
          'cold GETs': median(cold.map(({ reads }) => reads)),
          target: `<= ${READS[endpoint]}`,
          'cold ms': median(cold.map(({ milliseconds }) => milliseconds)),
          'warm GETs': ((await readsOf(service)) - before) / 500,
          'warm p50 ms': warm.p50,
          'p99 ms': warm.p99,
          'p50, p99': '<= 3, <= 15',
        })
      }
      files.push({ store, repository: name, ...ofFiles(await readNewFiles(service, address), store) })
      await service.stop()
    }
  }
  printTable('Calls over HTTP, one after another; cold: the first of a process', calls)
  printTable('Files that are read for the first time, one after another', files)
}

function call(service: Service, endpoint: keyof typeof READS, address: string, { skill, file }: Paths): Promise<unknown> {
  const queries: Partial<Record<EndpointName, Record<string, string>>> = {
    find: { query: 'writing tests for an agent' },
    skills: { path: skill ?? '' },
    files: { path: file ?? '' },
  }
  return service.get(endpoint, address, queries[endpoint])
}

/** Reads of objects since the process began. */
async function readsOf(service: Service): Promise<number> {
  const text = await (await fetch(`${service.baseUrl}/metrics`)).text()
  const lines = text.matchAll(
    /^mountglass_store_requests_total\{store="blobs",operation="read(?:Range)?",outcome="\w+"\} (\d+)$/gm,
  )
  return [...lines].reduce((sum, [, count]) => sum + Number(count), 0)
}

const FILES = 200

async function readNewFiles(service: Service, address: string): Promise<Spread> {
  const { items } = await readyFind(service, address)
  const times: number[] = []
  for (const path of items) times.push((await spreadOf(1, () => service.get('files', address, { path }))).p50)
  return spread(times)
}

/** Documents all over the repository. */
async function readyFind(service: Service, address: string): Promise<{ items: string[] }> {
  const mount = await service.get('mounts', address)
  if (mount.index.status !== 'ready') throw new Error(`${address} is ${mount.index.status}`)
  return { items: mount.index.documents.slice(1, FILES).map(({ path }) => path) }
}

function ofFiles({ p50, p99 }: Spread, store: string): Row {
  return { 'p50 ms': p50, 'p99 ms': p99, target: store === 'disk' ? '<= 2, <= 30' : '<= 10, <= 50' }
}

const LOAD_SECONDS = 10

/** Of repositories on a host whose answers are kept for a while, as GitHub's are. */
async function measureMounts(root: string, repositories: readonly BenchRepository[]): Promise<void> {
  const github = await startFakeGitHub({ root })
  const service = await startService({
    MOUNTGLASS_GITHUB_URL: github.origins.web,
    MOUNTGLASS_GITHUB_API_URL: github.origins.api,
    MOUNTGLASS_LOG: 'warn',
  })
  try {
    const pid = service.process.pid ?? 0
    const rows: Row[] = []
    for (const { owner, name } of repositories) {
      const address = `/gh/${owner}/${name}`
      await choosePaths(service, address)
      const paths = [`/api/v1/mounts${address}`]
      await runLoad(service.baseUrl, paths, null, LOAD_SECONDS)
      const cpuBefore = await cpuSecondsOf(pid)
      const { requests, errors } = await runLoad(service.baseUrl, paths, null, LOAD_SECONDS)
      rows.push({
        repository: name,
        'a second': requests / LOAD_SECONDS,
        'a second of its CPU': requests / ((await cpuSecondsOf(pid)) - cpuBefore),
        target: '>= 10000',
        errors: errorText(errors),
      })
    }
    printTable('Mounts, as many as there can be', rows)
  } finally {
    await service.stop()
    await github.close()
  }
}

const CREATES = { count: 5_000, callers: 16, bytes: 2_000 }

async function measureCreates(folder: string): Promise<Row> {
  const blobs = await openDiskBlobStore(folder)
  const bytes = randomBytes(CREATES.bytes)
  let next = 0
  const startedAt = performance.now()
  await Promise.all(
    Array.from({ length: CREATES.callers }, async () => {
      while (next < CREATES.count) await blobs.create(`creates/${next++}`, bytes)
    }),
  )
  const seconds = (performance.now() - startedAt) / 1000
  await blobs.close()
  return { 'creates of 2 kB a second, durable': CREATES.count / seconds, target: '>= 1500' }
}
