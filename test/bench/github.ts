import { execFile, execFileSync } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { READABLE_FILE_BYTES, TREE_ENTRIES } from '#core/limits.ts'
import type { GitHost } from '#core/ports/git-host.ts'
import { heapArguments } from '#indexer/jobs/job-process.ts'
import { INDEXED_BLOBS } from '#indexer/pipeline/read-tree.ts'
import { openGitHubHost } from '#infra/github/host.ts'
import { answered } from '#test/support/answered.ts'
import { type FakeGitHub, startFakeGitHub } from '#test/support/fake-github/server.ts'
import { createRepositories } from '#test/support/repository.ts'
import { decimal, type GitHubFigures, marked, printGitHubFigures, type Requests } from './github-figures.ts'
import type { ReadOnce } from './github-once.ts'
import { median, printTable } from './measure.ts'
import type { BenchRepository } from './repositories.ts'

const RUNS = 3
const CHANGED_FILES = 25
/** As a process for jobs has it at the default setting. */
const HEAP_MEGABYTES = 1_024
/** Where the next commit of every repository is put. */
const NEXT = 'next'
const LIMITS = { treeEntries: TREE_ENTRIES, treeDepthSegments: 10_000, seconds: 60 }

const run = promisify(execFile)

/** Prints what reading from GitHub costs, beside its targets. @param root folder in which the repositories lie */
export async function measureGitHub(root: string, repositories: readonly BenchRepository[]): Promise<void> {
  const github = await startFakeGitHub({ root })
  github.limits.set('anonymous', 1e9)
  try {
    const figures: GitHubFigures[] = []
    for (const repository of repositories) figures.push(await measureRepository(github, root, repository))
    printGitHubFigures(figures)
    printTable('What a host may send instead, beside its targets', [...(await measureHostile()), ...(await measureRefusals())])
    printTable('The tests of the stand-in', [await measureSuite(root)])
    if (github.mistakes.length > 0) throw new Error(`the stand-in made mistakes: ${github.mistakes.join('; ')}`)
  } finally {
    await github.close()
  }
}

async function measureRepository(github: FakeGitHub, root: string, repository: BenchRepository): Promise<GitHubFigures> {
  const { owner, name, gitDir } = repository
  const changed = commitNext(gitDir)
  const remote = `${github.origins.web}/${owner}/${name}.git`
  const target = join(root, 'clone')
  const reads: ReadOnce[] = []
  const bare: number[] = []
  const full: number[] = []
  const nexts: ReadOnce[] = []
  let readBytes = 0
  let packBytes = 0
  let nextBytes = 0
  for (let turn = 0; turn < RUNS; turn++) {
    reads.push(await readOnce('read', github, repository, 'main'))
    readBytes = github.log.bytesOut()
    bare.push(await clone(github, ['--bare'], remote, target))
    packBytes = github.log.bytesOut()
    full.push(await clone(github, [], remote, target))
    nexts.push(await readOnce('next', github, repository, NEXT))
    nextBytes = bytesOfLastReading(github)
  }
  const watched = await readOnce('watch', github, repository, 'main')
  return {
    repository: name,
    files: reads[0]?.files ?? 0,
    blobBytes: sizeOfBlobs(gitDir),
    textBytes: reads[0]?.textBytes ?? 0,
    readSeconds: median(reads.map(({ seconds }) => seconds)),
    cloneBareSeconds: median(bare),
    cloneSeconds: median(full),
    readBytes,
    packBytes,
    next: { changed, seconds: median(nexts.map(({ seconds }) => seconds)), bytes: nextBytes },
    peakMegabytes: Math.max(watched.startedMegabytes, ...reads.map(({ ownMegabytes }) => ownMegabytes)),
    ...(await countRequests(github, repository)),
  }
}

/** Puts a line in front of some texts of the branch `main`. @returns how many */
function commitNext(gitDir: string): number {
  const git = (args: string[], input?: string | Buffer) =>
    execFileSync('git', [`--git-dir=${gitDir}`, ...args], { maxBuffer: 2 ** 30, ...(input === undefined ? {} : { input }) })
  const listed = git(['ls-tree', '-r', '-z', 'refs/heads/main']).toString().split('\0')
  const files: [oid: string, path: string][] = []
  for (const line of listed) {
    const [, oid, path] = /^100644 blob ([0-9a-f]{40})\t([^"\n]+\.md)$/.exec(line) ?? []
    if (oid !== undefined && path !== undefined) files.push([oid, path])
  }
  const step = Math.max(1, Math.floor(files.length / CHANGED_FILES))
  const chosen = files.filter((_, index) => index % step === 0).slice(0, CHANGED_FILES)
  const head = `commit refs/heads/${NEXT}\ncommitter Bench <bench@example.org> 1767225601 +0000\ndata 0\nfrom refs/heads/main^0\n`
  const parts = [Buffer.from(head)]
  for (const [oid, path] of chosen) {
    const bytes = Buffer.concat([Buffer.from('Changed.\n'), git(['cat-file', 'blob', oid])])
    parts.push(Buffer.from(`M 100644 inline ${path}\ndata ${bytes.length}\n`), bytes, Buffer.from('\n'))
  }
  git(['fast-import', '--quiet', '--force'], Buffer.concat(parts))
  return chosen.length
}

function sizeOfBlobs(gitDir: string): number {
  const listed = execFileSync('git', [`--git-dir=${gitDir}`, 'ls-tree', '-r', '-l', 'refs/heads/main'], { maxBuffer: 2 ** 30 })
  return [...listed.toString().matchAll(/ blob [0-9a-f]{40} +(\d+)\t/g)].reduce((sum, [, size]) => sum + Number(size), 0)
}

async function readOnce(
  mode: 'read' | 'next' | 'watch',
  github: FakeGitHub,
  { owner, name }: BenchRepository,
  ref: string,
): Promise<ReadOnce> {
  github.log.clear()
  const program = join(import.meta.dirname, 'github-once.ts')
  const { web, api } = github.origins
  const { stdout } = await run(process.execPath, [...heapArguments(HEAP_MEGABYTES), program, mode, web, api, owner, name, ref])
  return JSON.parse(stdout) as ReadOnce
}

/** What came after the trees of the commit before were listed. */
function bytesOfLastReading({ log }: FakeGitHub): number {
  const listing = log.git.findIndex(({ git }) => git?.command === 'fetch')
  const first = log.git[listing]
  const start = first ? log.all.indexOf(first) + 1 : 0
  return log.all.slice(start).reduce((sum, { bytesOut }) => sum + bytesOut, 0)
}

async function clone(github: FakeGitHub, args: readonly string[], remote: string, target: string): Promise<number> {
  github.log.clear()
  const startedAt = performance.now()
  await run('git', ['-c', 'gc.auto=0', 'clone', '--quiet', '--depth', '1', '--branch', 'main', ...args, remote, target])
  const seconds = (performance.now() - startedAt) / 1000
  await rm(target, { recursive: true, force: true })
  return seconds
}

/** In the order in which the service and its indexer ask. */
async function countRequests(
  github: FakeGitHub,
  { owner, name }: BenchRepository,
): Promise<Pick<GitHubFigures, 'cold' | 'warm' | 'recheck'>> {
  const host = await openHost(github)
  const resolve = async () => {
    const repository = answered(await host.repository(owner, name))
    return { repository, commit: answered(await host.resolve(repository, null)) }
  }
  const counted = (): Requests => ({ rest: github.log.rest.length, git: github.log.git.length })
  try {
    github.log.clear()
    const { repository, commit } = await resolve()
    const reader = await host.open(repository, commit, LIMITS, INDEXED_BLOBS)
    for await (const _ of reader.entries());
    await reader.close()
    const cold = counted()
    github.log.clear()
    await resolve()
    const warm = counted()
    github.clock.advance(61)
    await resolve()
    const unchanged = github.log.rest.filter(({ status }) => status === 304).length
    return { cold, warm, recheck: { ...counted(), unchanged } }
  } finally {
    await host.close()
  }
}

function openHost(github: FakeGitHub): Promise<GitHost> {
  const { web: url, api: apiUrl } = github.origins
  const clock = { now: () => new Date(github.clock.now()) }
  return openGitHubHost({ url, apiUrl, token: null, webhookSecret: null, clock, onWarning: () => {} })
}

interface Row extends Record<string, string> {
  what: string
  target: string
  figure: string
}

/** Repositories that are made to take long. */
async function measureHostile(): Promise<Row[]> {
  const repositories = await createRepositories()
  const github = await startFakeGitHub({ root: repositories.root })
  const host = await openHost(github)
  try {
    const bomb = await repositories.create('hostile', 'bomb')
    await bomb.commit({ 'a.md': '' })
    const file = { mode: '100644', oid: await bomb.oidAt((await bomb.git('rev-parse', 'main')) as never, 'a.md') }
    let tree = await bomb.rawTree(Array.from({ length: 10 }, (_, index) => ({ ...file, name: String(index) })))
    for (let depth = 1; depth < 10; depth++) {
      const oid = tree
      tree = await bomb.rawTree(Array.from({ length: 10 }, (_, index) => ({ mode: '40000', oid, name: String(index) })))
    }
    await bomb.git('update-ref', 'refs/heads/main', await bomb.git('commit-tree', '-m', 'bomb', tree))
    const large = await repositories.create('hostile', 'large')
    await large.commit({ 'small.md': 'small', 'large.md': new Uint8Array(64 * 1024 * 1024) })

    const rows: Row[] = []
    for (const name of ['bomb', 'large']) {
      const repository = answered(await host.repository('hostile', name))
      const commit = answered(await host.resolve(repository, null))
      const startedAt = performance.now()
      const reader = await host.open(repository, commit, LIMITS, INDEXED_BLOBS)
      const oids: string[] = []
      for await (const { oid, sizeBytes } of reader.entries()) if ((sizeBytes ?? 0) <= READABLE_FILE_BYTES) oids.push(oid)
      const { cut } = reader
      if (!cut) for await (const _ of reader.read(oids, READABLE_FILE_BYTES));
      await reader.close()
      const seconds = (performance.now() - startedAt) / 1000
      const what = cut ? 'a tree of 10^10 files is cut, s' : 'a text of 64 MiB is passed over, s'
      rows.push({ what, target: '<= 1', figure: marked(decimal(seconds), seconds <= 1) })
    }
    return rows
  } finally {
    await host.close()
    await github.close()
    await repositories.remove()
  }
}

/** Answers of the host that say no. Each is asked for once, of a driver that knows nothing. */
async function measureRefusals(): Promise<Row[]> {
  const repositories = await createRepositories()
  const github = await startFakeGitHub({ root: repositories.root })
  try {
    const tools = await repositories.create('acme', 'tools')
    await tools.commit({ 'a.md': '' })
    await repositories.create('acme', 'empty')
    const shown = await github.shown('acme', 'tools')
    const createdAt = '2026-01-01T00:00:00Z'
    const cases: [what: string, name: string, questions: number, prepare: () => void][] = [
      ['an empty repository (409)', 'empty', 2, () => {}],
      ['no such repository (404)', 'none', 1, () => {}],
      ['blocked by law (451)', 'tools', 1, () => Object.assign(shown, { blocked: { reason: 'dmca', createdAt } })],
      ['blocked by terms (403)', 'tools', 1, () => Object.assign(shown, { blocked: { reason: 'tos', createdAt } })],
      ['over the limit (403)', 'tools', 1, () => github.limits.exhaust(null, { status: 403 })],
      ['over the limit (429)', 'tools', 1, () => github.limits.exhaust(null, { status: 429 })],
      ['over the secondary limit (403)', 'tools', 1, () => github.limits.secondary({ status: 403, retryAfterSeconds: 60 })],
    ]
    const rows: Row[] = []
    for (const [what, name, questions, prepare] of cases) {
      github.reset()
      Object.assign(shown, { blocked: null })
      prepare()
      const host = await openHost(github)
      const startedAt = performance.now()
      const answer = await host.repository('acme', name)
      if (answer.status === 'ok') await host.resolve(answer.value, null)
      const milliseconds = performance.now() - startedAt
      await host.close()
      const asked = github.log.rest.length
      // Of two names of a ref, each is asked for once.
      const figure = marked(`${decimal(milliseconds)}, ${asked} asked`, milliseconds <= 100 && asked === questions)
      rows.push({ what: `${what}, ms`, target: `<= 100, ${questions} asked`, figure })
    }
    return rows
  } finally {
    await github.close()
    await repositories.remove()
  }
}

async function measureSuite(folder: string): Promise<Row> {
  const root = join(import.meta.dirname, '..', '..')
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const report = join(folder, 'suite.json')
  await run(process.execPath, [vitest, 'run', '--reporter=json', `--outputFile=${report}`, 'test/contract/fake-github'], {
    cwd: root,
    maxBuffer: 2 ** 28,
  })
  const { testResults } = JSON.parse(await readFile(report, 'utf8')) as { testResults: { startTime: number; endTime: number }[] }
  const start = Math.min(...testResults.map(({ startTime }) => startTime))
  const end = Math.max(...testResults.map(({ endTime }) => endTime))
  const seconds = (end - start) / 1000
  return { what: `${testResults.length} files side by side, s`, target: '<= 3', figure: marked(decimal(seconds), seconds <= 3) }
}
