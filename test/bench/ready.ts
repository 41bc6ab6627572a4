import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type FakeGitHub, startFakeGitHub } from '#test/support/fake-github/server.ts'
import { type Service, startService } from '#test/support/service.ts'
import { decimal, marked } from './github-figures.ts'
import { median, printTable } from './measure.ts'
import type { BenchRepository } from './repositories.ts'

const RUNS = 3
/** A client that asks more often takes the processors from the job that it waits for: every 10 ms, a third of one. */
const POLL_MILLISECONDS = 25
const LONGEST_SECONDS = 180
/** A repository of so many files is ready in the time of a clone and so many seconds more. */
const SMALL_FILES = 1_000
const SMALL_SECONDS = 1.5
const LISTED_BYTES = 64 * 1024 * 1024

const run = promisify(execFile)

/** Prints how long a cold address takes from its first request until it is ready, beside `git clone` of the same repository from the same host. */
export async function measureReady(root: string, repositories: readonly BenchRepository[]): Promise<void> {
  const github = await startFakeGitHub({ root })
  github.limits.set('anonymous', 1e9)
  try {
    const rows: Record<string, string | number>[] = []
    for (const repository of repositories) rows.push(await measureRepository(github, root, repository))
    printTable(
      'From the first request of a cold address until it is ready, beside git (a stand-in of GitHub; median of 3; seconds)',
      rows,
    )
  } finally {
    await github.close()
  }
}

async function measureRepository(github: FakeGitHub, root: string, { owner, name, gitDir }: BenchRepository) {
  const { stdout } = await run('git', ['--git-dir', gitDir, 'ls-tree', '-r', '--name-only', 'HEAD'], { maxBuffer: LISTED_BYTES })
  const files = stdout.split('\n').length - 1
  const runs: { clone: number; ready: number; megabytes: number }[] = []
  for (let turn = 0; turn < RUNS; turn++) {
    const clone = await secondsOfClone(`${github.origins.web}/${owner}/${name}.git`, join(root, 'clone'))
    runs.push({ clone, ...(await secondsUntilReady(github, `/gh/${owner}/${name}`)) })
  }
  const clone = median(runs.map(run => run.clone))
  const ready = median(runs.map(run => run.ready))
  const target = files <= SMALL_FILES ? clone + SMALL_SECONDS : null
  return {
    repository: `${owner}/${name}`,
    'clone --depth 1': clone,
    files,
    ready: marked(decimal(ready), target === null || ready <= target),
    target: target === null ? '' : `<= ${decimal(target)}`,
    'job process, peak MB': Math.max(...runs.map(run => run.megabytes)),
  }
}

async function secondsOfClone(remote: string, target: string): Promise<number> {
  const startedAt = performance.now()
  await run('git', ['-c', 'gc.auto=0', 'clone', '--quiet', '--depth', '1', remote, target])
  const seconds = (performance.now() - startedAt) / 1000
  await rm(target, { recursive: true, force: true })
  return seconds
}

/** With a service that was just started, so that its store and its job process have seen nothing. */
async function secondsUntilReady(github: FakeGitHub, address: string): Promise<{ ready: number; megabytes: number }> {
  const service = await startService({
    MOUNTGLASS_GITHUB_URL: github.origins.web,
    MOUNTGLASS_GITHUB_API_URL: github.origins.api,
    MOUNTGLASS_LOG: 'warn',
  })
  try {
    await untilIdleProcess(service)
    const startedAt = performance.now()
    let megabytes = 0
    while (!(await isReady(service, address))) {
      if (performance.now() - startedAt > LONGEST_SECONDS * 1000) throw new Error(`${address} is not ready:\n${service.output()}`)
      await sleep(POLL_MILLISECONDS)
    }
    const ready = (performance.now() - startedAt) / 1000
    megabytes = (await metric(service, 'mountglass_job_process_memory_bytes')) / 1e6
    return { ready, megabytes }
  } finally {
    await service.stop()
  }
}

/** A service has a process for jobs soon after its start. */
async function untilIdleProcess(service: Service): Promise<void> {
  while ((await metric(service, 'mountglass_job_processes')) < 1) await sleep(POLL_MILLISECONDS)
  await sleep(SETTLE_MILLISECONDS)
}

/** Until the spare process has warmed up. */
const SETTLE_MILLISECONDS = 6_000

async function isReady(service: Service, address: string): Promise<boolean> {
  const answer = await fetch(`${service.baseUrl}/api/v1/mounts${address}`)
  const { index } = (await answer.json()) as { index?: { status?: string } }
  if (index?.status === 'failed') throw new Error(`${address} failed:\n${service.output()}`)
  return index?.status === 'ready'
}

async function metric(service: Service, name: string): Promise<number> {
  const text = await (await fetch(`${service.baseUrl}/metrics`)).text()
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? 0)
}
