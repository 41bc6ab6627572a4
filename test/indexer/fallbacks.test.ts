import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { JOB_PROGRAM } from '#cli/runners.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import { createFallbacks, type FallbackKind, type Fallbacks } from '#core/ports/fallbacks.ts'
import { NO_METRICS } from '#core/ports/metrics.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { damageKey, lastIndexedKey, packKey } from '#core/snapshot/store-keys.ts'
import { createJobProcesses } from '#indexer/jobs/job-processes.ts'
import { runLease } from '#indexer/jobs/run-lease.ts'
import { writeSnapshot } from '#indexer/pipeline/write-snapshot.ts'
import { openDiskStateStore } from '#infra/disk/state-store.ts'
import { createMemoryStateStore } from '#infra/memory-stores.ts'
import { createPrometheusMetrics } from '#infra/monitoring/prometheus.ts'
import { createStateQueue } from '#infra/queue/state-queue.ts'
import { systemClock } from '#infra/system/system.ts'
import { NO_HANDOVER } from '#test/support/no-handover.ts'
import { programEnvironment } from '#test/support/program-environment.ts'
import { storedHeader } from '#test/support/snapshot-meaning.ts'
import { temporaryFolder } from '#test/support/store-drivers.ts'
import { host, newRepository, newStores, page, pages, repositories, useReuseScene } from './snapshot-reuse-scene.ts'

useReuseScene()

/** Fallbacks as they are noted. */
function recorded(): Fallbacks & { kinds: FallbackKind[] } {
  const kinds: FallbackKind[] = []
  return { kinds, note: kind => void kinds.push(kind) }
}

/** Two commits, of which the first is indexed; `next` indexes the second, over stores with these faults. */
async function twoCommits() {
  const subject = await newRepository()
  const { described: repository } = subject
  const first = await subject.repository.commit(pages(60))
  const second = await subject.repository.commit({ 'docs/1/page-1.md': page(1, 1) })
  const { blobs, states } = newStores()
  const signal = new AbortController().signal
  await writeSnapshot({ blobs, states, hosts: [host] }, { repository, commit: first }, signal)
  const next = async (faults: { blobs?: Partial<BlobStore>; states?: Partial<StateStore> } = {}) => {
    const fallbacks = recorded()
    const stores = { blobs: { ...blobs, ...faults.blobs }, states: { ...states, ...faults.states } }
    const written = await writeSnapshot({ ...stores, hosts: [host], fallbacks }, { repository, commit: second }, signal)
    return { written, kinds: fallbacks.kinds }
  }
  return { repository, first, second, blobs, states, next }
}

const away = () => Promise.reject(new Error('EIO'))

test('a job in which nothing is lost notes nothing', async () => {
  const { next } = await twoCommits()
  const { written, kinds } = await next()
  expect([written === null, kinds]).toEqual([false, []])
})

test('an earlier snapshot whose pack is damaged is noted once, and the job succeeds', async () => {
  const { repository, first, blobs, next } = await twoCommits()
  const [pack] = (await storedHeader(blobs, repository, first)).packs
  const key = packKey(repository, pack?.name ?? '')
  const damaged = async (wanted: string) => {
    const stored = await blobs.read(wanted)
    return stored && wanted === key ? { ...stored, bytes: stored.bytes.toReversed() } : stored
  }
  expect((await next({ blobs: { read: damaged } })).kinds).toEqual(['earlier_snapshot'])
})

test('an earlier snapshot whose directories cannot be read is noted once, and the job succeeds', async () => {
  const { repository, blobs, next } = await twoCommits()
  let reads = 0
  const readRange: BlobStore['readRange'] = (...range) => (reads++ === 0 ? away() : blobs.readRange(...range))
  expect((await next({ blobs: { readRange } })).kinds).toEqual(['earlier_snapshot'])
  expect(repository.host).toBe('local')
})

test('a note of the last commit that cannot be read, understood or written is noted', async () => {
  const { repository, states, next } = await twoCommits()
  const key = lastIndexedKey(repository)
  const failing = <Args extends unknown[], Value>(request: (key: string, ...args: Args) => Promise<Value>) => {
    return (wanted: string, ...args: Args) => (wanted === key ? away() : request(wanted, ...args))
  }
  expect((await next({ states: { read: failing(states.read) } })).kinds).toEqual(['last_commit', 'last_commit'])

  const other = await twoCommits()
  const stored = await other.states.read(lastIndexedKey(other.repository))
  await other.states.replace(lastIndexedKey(other.repository), { commit: 'none' }, stored?.etag ?? '')
  expect((await other.next()).kinds).toEqual(['last_commit'])
})

test('a report of damage that cannot be read is noted', async () => {
  const { repository, second, states, next } = await twoCommits()
  const key = damageKey(repository, second)
  const read: StateStore['read'] = wanted => (wanted === key ? away() : states.read(wanted))
  expect((await next({ states: { read } })).kinds).toEqual(['damage_report'])
})

test('a lease that is not renewed and a listing that is lost are noted', async () => {
  const states = createMemoryStateStore()
  const { described: repository, repository: content } = await newRepository()
  const queue = { ...createStateQueue(states, systemClock), leaseSeconds: 0.003 }
  await queue.offer({ repository, commit: await content.commit({ 'a.md': '# A\n' }) })
  const lease = await queue.take('test')
  const fallbacks = recorded()
  const { promise: renewed, resolve } = Promise.withResolvers<void>()
  const renew = async () => {
    resolve()
    return away()
  }
  const runner = {
    async ready() {},
    async close() {},
    async run() {
      await renewed
      return { status: 'indexed', objects: 0, bytes: 0, notListed: new Error('EIO') } as const
    },
  }
  const log = { info() {}, warn() {}, error() {} }
  if (lease === null) throw new Error('there is no job')
  await runLease({ queue: { ...queue, renew }, runner, metrics: NO_METRICS, log, fallbacks }, lease, new AbortController().signal)
  expect(new Set(fallbacks.kinds)).toEqual(new Set(['lease_renewal', 'owner_listing']))
})

test('fallbacks of a job process are counted and logged by its worker, the first of each kind with its cause', async () => {
  const { described: repository, repository: content } = await newRepository()
  const commits = [await content.commit({ 'a.md': '# A\n' }), await content.commit({ 'b.md': '# B\n' })]
  const folder = await temporaryFolder()
  const states = await openDiskStateStore(join(folder, 'documents.sqlite'))
  const metrics = createPrometheusMetrics()
  const warnings: { fallback?: string; err?: Error }[] = []
  const fallbacks = createFallbacks(metrics, { warn: fields => void warnings.push(fields) })
  const env = {
    ...programEnvironment(),
    MOUNTGLASS_STORE: `disk:${folder}`,
    MOUNTGLASS_LOCAL_REPOSITORIES: repositories.root,
    MOUNTGLASS_GITHUB: 'off',
  }
  const handover = () => NO_HANDOVER
  const log = { info() {}, warn() {}, error() {} }
  const processes = createJobProcesses(
    { program: JOB_PROGRAM, env, handover, memoryMegabytes: 1_024, concurrency: 1, metrics, fallbacks },
    log,
  )
  onTestFinished(async () => {
    await processes.close()
    await states.close()
  })
  for (const commit of commits) {
    const known = await states.read(lastIndexedKey(repository))
    if (known === null) await states.create(lastIndexedKey(repository), { commit: 'none' })
    else await states.replace(lastIndexedKey(repository), { commit: 'none' }, known.etag)
    const end = await processes.run({ repository, commit }, { signal: new AbortController().signal, onStage() {} })
    expect(end.status).toBe('indexed')
  }
  expect(warnings).toMatchObject([{ fallback: 'last_commit', err: { message: expect.stringContaining('commit') } }])
  expect((await metrics.read()).text).toContain('mountglass_fallbacks_total{kind="last_commit"} 2')
})
