import { execFile, execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { CommitSha } from '#core/commit-sha.ts'
import { heapArguments } from '#indexer/jobs/job-process.ts'
import { marked } from './github-figures.ts'
import type { JobCost } from './job-once.ts'
import { median, printTable } from './measure.ts'
import { type BenchRepository, commitFiles, otherWords } from './repositories.ts'

const RUNS = 3
/** As a process for jobs has it at the default setting. */
const HEAP_MEGABYTES = 1_024
/** The target of the next commit is that of repositories with this many files; what a job costs in any case is much of a small one. */
const TARGET_FILES = 10_000
const TARGET_SHARE = 0.2

const run = promisify(execFile)

/** Prints what the next commit costs beside the first one. */
export async function measureJobs(root: string, repositories: readonly BenchRepository[]): Promise<void> {
  const rows: Record<string, string | number>[] = []
  for (const repository of repositories) rows.push(await measureNext(root, repository))
  printTable('A commit that changes every hundredth text, after the first one (processor time with git; median of 3)', rows)
}

async function measureNext(root: string, repository: BenchRepository) {
  const { owner, name, gitDir } = repository
  const git = (...args: string[]) =>
    execFileSync('git', [`--git-dir=${gitDir}`, ...args], { encoding: 'utf8', maxBuffer: 2 ** 28 })
  const first = git('rev-parse', 'HEAD').trim() as CommitSha
  const files = git('ls-tree', '-r', '-z', '--name-only', 'HEAD').split('\0')
  const texts = files.filter(path => path.endsWith('.md'))
  const changed = texts.filter((_, index) => index % 100 === Math.min(50, texts.length - 1))
  const next = commitFiles(gitDir, changed, otherWords)
  const runs: { first: JobCost; next: JobCost }[] = []
  for (let turn = 0; turn < RUNS; turn++) {
    const store = join(root, `jobs-${name}-${turn}`)
    runs.push({ first: await jobOnce(root, repository, first, store), next: await jobOnce(root, repository, next, store) })
  }
  const share = median(runs.map(run => run.next.processorSeconds / run.first.processorSeconds))
  return {
    repository: `${owner}/${name}`,
    files: files.length - 1,
    changed: changed.length,
    'first, CPU s': median(runs.map(run => run.first.processorSeconds)),
    'next, CPU s': median(runs.map(run => run.next.processorSeconds)),
    share: marked(`${Math.round(share * 100)} %`, files.length < TARGET_FILES ? undefined : share <= TARGET_SHARE),
    target: files.length < TARGET_FILES ? '' : `<= ${TARGET_SHARE * 100} %`,
    'first, kB': median(runs.map(run => run.first.bytes)) / 1000,
    'next, kB': median(runs.map(run => run.next.bytes)) / 1000,
    'first, peak MB': Math.max(...runs.map(run => run.first.peakMegabytes)),
    'next, peak MB': Math.max(...runs.map(run => run.next.peakMegabytes)),
  }
}

async function jobOnce(root: string, { owner, name }: BenchRepository, commit: CommitSha, store: string): Promise<JobCost> {
  const program = join(import.meta.dirname, 'job-once.ts')
  const { stdout } = await run(process.execPath, [...heapArguments(HEAP_MEGABYTES), program, root, owner, name, commit, store])
  return JSON.parse(stdout) as JobCost
}
