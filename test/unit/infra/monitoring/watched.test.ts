import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { BlobStore } from '#core/ports/blob-store.ts'
import { sweepStore } from '#indexer/sweep/sweep.ts'
import { createMemoryBlobStore, createMemoryStateStore } from '#infra/memory-stores.ts'
import { createPrometheusMetrics } from '#infra/monitoring/prometheus.ts'
import { createReadiness } from '#infra/monitoring/readiness.ts'
import { countBlobStore, countStateStore, watchHosts, watchQueue } from '#infra/monitoring/watched.ts'
import { splitBlobs, splitStates } from '#infra/stores.ts'
import { systemClock } from '#infra/system/system.ts'

async function linesOf(metrics: ReturnType<typeof createPrometheusMetrics>): Promise<string[]> {
  return (await metrics.read()).text.split('\n')
}

test('requests to the stores are counted by operation, with their bytes and their failures', async () => {
  const metrics = createPrometheusMetrics()
  const blobs = countBlobStore(createMemoryBlobStore(systemClock), metrics)
  const states = countStateStore(createMemoryStateStore(), metrics)
  await blobs.create('a', Buffer.alloc(10))
  await blobs.create('b', Buffer.alloc(5))
  await blobs.read('a')
  await blobs.read('none')
  await blobs.readRange('a', 8, 100)
  await expect(blobs.read('NO KEY')).rejects.toThrow()
  await states.create('a', 1)
  const lines = await linesOf(metrics)
  const of = (store: string, operation: string) => `store="${store}",operation="${operation}"`
  for (const line of [
    `mountglass_store_requests_total{${of('blobs', 'create')},outcome="answered"} 2`,
    `mountglass_store_bytes_total{${of('blobs', 'create')}} 15`,
    `mountglass_store_requests_total{${of('blobs', 'read')},outcome="answered"} 2`,
    `mountglass_store_requests_total{${of('blobs', 'read')},outcome="failed"} 1`,
    `mountglass_store_bytes_total{${of('blobs', 'read')}} 10`,
    `mountglass_store_bytes_total{${of('blobs', 'readRange')}} 2`,
    `mountglass_store_requests_total{${of('documents', 'create')},outcome="answered"} 1`,
  ])
    expect(lines).toContain(line)
  await blobs.read('a')
  expect(await linesOf(metrics)).toContain(`mountglass_store_bytes_total{${of('blobs', 'read')}} 20`)
})

test('the quota of a host is a metric if the host knows it', async () => {
  const metrics = createPrometheusMetrics()
  const quota = () => ({ limit: 5_000, remaining: 4_321, resetsAt: new Date(1_700_000_000_000) })
  watchHosts([{ segment: 'gh', quota }, { segment: 'local' }, { segment: 'new', quota: () => null }], metrics)
  const lines = (await linesOf(metrics)).filter(line => line.startsWith('mountglass_host_quota'))
  expect(lines).toEqual([
    'mountglass_host_quota_remaining{host="gh"} 4321',
    'mountglass_host_quota_limit{host="gh"} 5000',
    'mountglass_host_quota_reset_timestamp_seconds{host="gh"} 1700000000',
  ])
})

test('a queue that fails is asked again later, and its last depth stays', async () => {
  vi.useFakeTimers()
  try {
    const metrics = createPrometheusMetrics()
    const answers = [
      () => 3,
      () => {
        throw new Error('away')
      },
      () => 5,
    ]
    watchQueue({ depth: async () => answers.shift()?.() ?? 0 }, metrics)
    const depths: unknown[] = []
    for (let turn = 0; turn < 3; turn++) {
      depths.push((await linesOf(metrics)).find(line => /^mountglass_queue_jobs /.test(line)))
      await vi.advanceTimersByTimeAsync(5_000)
    }
    expect(depths).toEqual(['mountglass_queue_jobs 3', 'mountglass_queue_jobs 3', 'mountglass_queue_jobs 5'])
  } finally {
    vi.useRealTimers()
  }
})

/** Stores of which one can be told how to answer. */
function openStores() {
  const states = createMemoryStateStore()
  const memory = createMemoryBlobStore(systemClock)
  const stores = { requests: 0, answer: async () => {} }
  const blobs: BlobStore = {
    ...memory,
    async create(key, bytes) {
      stores.requests++
      await stores.answer()
      return memory.create(key, bytes)
    },
  }
  return { stores, blobs, states, readiness: createReadiness({ blobs, states, clock: systemClock }) }
}

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const outcome = (check: Promise<void>) =>
  check.then(
    () => 'ready',
    (error: Error) => error.message,
  )

test('a process is ready if it can write to its stores, and a good probe is reused for ten seconds', async () => {
  const { stores, blobs, states, readiness } = openStores()
  expect(await Promise.all([outcome(readiness.check()), outcome(readiness.check())])).toEqual(['ready', 'ready'])
  expect(stores.requests).toBe(1)
  expect([await blobs.list(''), await states.list('')], 'nothing stays behind').toEqual([[], []])
  stores.answer = () => Promise.reject(new Error('disk is gone'))
  await vi.advanceTimersByTimeAsync(9_999)
  expect([await outcome(readiness.check()), stores.requests]).toEqual(['ready', 1])
  await vi.advanceTimersByTimeAsync(1)
  expect(await outcome(readiness.check())).toBe('disk is gone')
  stores.answer = async () => {}
  expect(await outcome(readiness.check())).toBe('disk is gone')
  expect(stores.requests, 'a failed probe is reused, too').toBe(2)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(await outcome(readiness.check())).toBe('ready')
})

test('each probe has its own keys, so that a late answer to an earlier one does not count', async () => {
  const { blobs, states } = openStores()
  const keys: string[] = []
  const noted: BlobStore = {
    ...blobs,
    async create(key, bytes) {
      keys.push(key)
      return await blobs.create(key, bytes)
    },
  }
  const readiness = createReadiness({ blobs: noted, states, clock: systemClock }, true)
  await readiness.check()
  await vi.advanceTimersByTimeAsync(10_000)
  await readiness.check()
  expect(keys.map(key => key.replace(/[^/]*$/, ''))).toEqual(['probe/', 'prv/probe/', 'probe/', 'prv/probe/'])
  expect(new Set(keys).size).toBe(4)
})

test.each(['create', 'read'] as const)('objects of a probe are removed when its %s fails', async operation => {
  const { blobs, states } = openStores()
  const failing: BlobStore = {
    ...blobs,
    async [operation](key: string) {
      await blobs.create(key, new Uint8Array([1]))
      throw new Error('the answer is lost')
    },
  }
  expect(await outcome(createReadiness({ blobs: failing, states, clock: systemClock }).check())).toBe('the answer is lost')
  await vi.advanceTimersByTimeAsync(0)
  expect([await blobs.list(''), await states.list('')]).toEqual([[], []])
})

test('an object that a process may not remove is reported, and a sweep removes it an hour later', async () => {
  const { blobs, states } = openStores()
  const remove = () => Promise.reject(new Error('access denied'))
  const stores = { blobs: { ...blobs, remove }, states: { ...states, remove }, clock: systemClock }
  expect(await outcome(createReadiness(stores, true).check())).toBe('access denied')
  const sweep = async (isRemoved: boolean) => {
    const { probes, entries } = await sweepStore({ blobs, states }, systemClock, {
      days: 90,
      remove: isRemoved,
      signal: new AbortController().signal,
      onFailure: (_, error) => expect.unreachable(String(error)),
    })
    return [probes, entries, (await blobs.list('')).length + (await states.list('ctl/ready/')).length]
  }
  expect(await sweep(true), 'a probe may be running').toEqual([0, 0, 4])
  await vi.advanceTimersByTimeAsync(3_600_000)
  expect(await sweep(false)).toEqual([2, 2, 4])
  expect(await sweep(true)).toEqual([2, 2, 0])
})

test.each(['blobs', 'states'] as const)('a store of private repositories is asked beside the other: its %s', async kind => {
  const [shared, own] = [openStores(), openStores()]
  const refuse = () => Promise.reject(new Error('read only'))
  const blobs = splitBlobs(shared.blobs, kind === 'blobs' ? { ...own.blobs, create: refuse } : own.blobs)
  const states = splitStates(shared.states, kind === 'states' ? { ...own.states, create: refuse } : own.states)
  expect(await outcome(createReadiness({ blobs, states, clock: systemClock }, true).check())).toBe('read only')
})

test('a store that hangs makes the process unready within two seconds, and is not asked again until it answers', async () => {
  const { stores, readiness } = openStores()
  let answer = (_: Error) => {}
  stores.answer = () => new Promise((_, reject) => (answer = reject))
  const late = 'the store did not answer within 1800 ms'
  for (const _ of [1, 2, 3]) {
    const checks = Promise.all([outcome(readiness.check()), outcome(readiness.check())])
    await vi.advanceTimersByTimeAsync(2_000)
    expect(await checks).toEqual([late, late])
  }
  expect(stores.requests).toBe(1)
  answer(new Error('timeout'))
  await vi.advanceTimersByTimeAsync(1_000)
  stores.answer = async () => {}
  expect([await outcome(readiness.check()), stores.requests]).toEqual(['ready', 2])
})

test('a stopping process is unready at once, even for a running check', async () => {
  const { stores, readiness } = openStores()
  let goOn = () => {}
  stores.answer = () => new Promise(resolve => (goOn = resolve))
  const asked = outcome(readiness.check())
  readiness.end()
  goOn()
  expect(await asked).toBe('the process is stopping')
  expect(await outcome(readiness.check())).toBe('the process is stopping')
})
