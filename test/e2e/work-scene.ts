import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { GitHost } from '#core/ports/git-host.ts'
import type { IndexJob, JobQueue } from '#core/ports/job-queue.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { headerKey, jobKey } from '#core/snapshot/store-keys.ts'
import { descendantsOf } from '#indexer/jobs/processes.ts'
import { openDiskBlobStore } from '#infra/disk/blob-store.ts'
import { openDiskStateStore } from '#infra/disk/state-store.ts'
import { openLocalHost } from '#infra/local/host.ts'
import { createStateQueue } from '#infra/queue/state-queue.ts'
import { systemClock } from '#infra/system/system.ts'
import { jobAt } from '#test/support/answered.ts'
import { createRepositories, type TestRepositories } from '#test/support/repository.ts'
import { makeSlowGit, type SlowGit } from '#test/support/slow-git.ts'
import { until } from '#test/support/until.ts'
import { startWorkerProcess, type WorkerProcess } from '#test/support/worker-process.ts'

export const PLAIN = ['one', 'two', 'three', 'four']
export const DEADLY = ['eats-objects', 'eats-buffers', 'aborts', 'exits']

let repositories: TestRepositories
let host: GitHost
export let folder: string
let blobs: BlobStore
let states: StateStore
export let queue: JobQueue
export let slow: SlowGit

/** Hooks of a test file that uses this: what a test started ends with it. */
export function useWorkScene(): void {
  beforeAll(async () => {
    repositories = await createRepositories()
    for (const name of [...PLAIN, ...DEADLY, 'hangs']) {
      const repository = await repositories.create('acme', name)
      await repository.commit({ 'a/SKILL.md': `---\nname: a\ndescription: ${name}\n---\nDo.\n` })
    }
    host = await openLocalHost({ root: repositories.root, baseUrl: 'http://127.0.0.1' })
  })
  afterAll(async () => {
    await host.close()
    await repositories.remove()
  })
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mountglass-work-'))
    blobs = await openDiskBlobStore(join(folder, 'store'))
    states = await openDiskStateStore(join(folder, 'store', 'documents.sqlite'))
    queue = createStateQueue(states, systemClock)
    slow = await makeSlowGit(await mkdtemp(join(folder, 'bin-')))
  })
  afterEach(async () => {
    await states.close()
    await blobs.close()
    // A process that was killed a moment ago may still write.
    await rm(folder, { recursive: true, force: true, maxRetries: 10 })
  })
}

interface StartOptions {
  concurrency?: number
  /** Git reads nothing until `slow.goOn()`. */
  isSlow?: boolean
  env?: Record<string, string>
}

export function start({ concurrency = 1, isSlow = false, env = {} }: StartOptions = {}): WorkerProcess {
  return startWorkerProcess(
    {
      MOUNTGLASS_STORE: `disk:${join(folder, 'store')}`,
      MOUNTGLASS_LOCAL_REPOSITORIES: repositories.root,
      TMPDIR: folder,
      ...(isSlow ? { PATH: `${slow.folder}:${process.env.PATH}` } : {}),
      ...env,
    },
    ['--concurrency', String(concurrency)],
  )
}

export const jobOf = (name: string): Promise<IndexJob> => jobAt(host, 'acme', name)

/** The queue as it is for whoever looks at the time: a failure of later has not run out. */
export const queueAt = (time: Date): JobQueue => createStateQueue(states, { now: () => time })

export async function offer(...names: string[]): Promise<void> {
  for (const name of names) expect(await queue.offer(await jobOf(name))).toEqual({ status: 'indexing' })
}

export async function isIndexed(name: string): Promise<boolean> {
  const { repository, commit } = await jobOf(name)
  return (await blobs.read(headerKey(repository, commit))) !== null
}

export async function recordOf(name: string): Promise<{ state: string; crashes?: number; fence?: number } | null> {
  const { repository, commit } = await jobOf(name)
  return ((await states.read(jobKey(repository, commit)))?.value ?? null) as never
}

/** Waits until the queue is empty. */
export async function allDone(): Promise<void> {
  await until(async () => (await queue.depth()) === 0)
}

/** Waits until the job is held, and its git waits. */
export async function untilReading({ child }: WorkerProcess, name: string): Promise<void> {
  await until(async () => (await recordOf(name))?.state === 'leased')
  // The process of the job, and below it the git that waits with its own `sleep`.
  await until(() => descendantsOf(child.pid as number).length >= 3)
}
