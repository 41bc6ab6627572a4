import { afterAll, beforeAll, expect, test } from 'vitest'
import { createInProcessRunner } from '#cli/runners.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { GitHost } from '#core/ports/git-host.ts'
import { NO_METRICS } from '#core/ports/metrics.ts'
import { runLease } from '#indexer/jobs/run-lease.ts'
import { openLocalHost } from '#infra/local/host.ts'
import { createMemoryBlobStore } from '#infra/memory-stores.ts'
import { createStateQueue } from '#infra/queue/state-queue.ts'
import { systemClock } from '#infra/system/system.ts'
import { jobAt } from '#test/support/answered.ts'
import { taken } from '#test/support/queue-drivers.ts'
import { createRepositories, type TestRepositories } from '#test/support/repository.ts'
import { LOCAL_STATE_STORES, temporaryFolder } from '#test/support/store-drivers.ts'
import { testApp } from '#test/support/test-app.ts'
import { until } from '#test/support/until.ts'

const FILES = { 'a/SKILL.md': '---\nname: a\ndescription: Does a.\n---\nDo.\n', LICENSE: 'MIT License' }
const LOG = { info() {}, warn() {}, error() {} }

let repositories: TestRepositories
let host: GitHost

beforeAll(async () => {
  repositories = await createRepositories()
  await (await repositories.create('acme', 'tools')).commit(FILES)
  host = await openLocalHost({ root: repositories.root, baseUrl: 'http://127.0.0.1' })
})
afterAll(async () => {
  await host.close()
  await repositories.remove()
})

/** A store that takes no blob before `goOn`: a job stays where it writes. */
function heldBlobs(): { blobs: BlobStore; goOn: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  const plain = createMemoryBlobStore(systemClock)
  return { blobs: { ...plain, create: (...blob) => promise.then(() => plain.create(...blob)) }, goOn: resolve }
}

test('a mount reports the stage of the running job of its commit', async () => {
  const { blobs, goOn } = heldBlobs()
  const app = await testApp({ 'acme/tools': FILES }, { blobs })
  const index = async () => (await app.ask('mounts', '/local/acme/tools')).index
  expect(await index(), 'it waits').toEqual({ status: 'indexing' })
  const indexing = app.index()
  await until(async () => {
    const state = await index()
    return state.status === 'indexing' && state.stage === 'write'
  })
  goOn()
  expect(await indexing).toBe(1)
  expect(await index()).toMatchObject({ status: 'ready' })
  await app.close()
})

test.each(LOCAL_STATE_STORES)('another process reads the stage of a job that runs with its lease: $driver', async ({ open }) => {
  const states = await open(await temporaryFolder())
  const [here, there] = [createStateQueue(states, systemClock, 0.3), createStateQueue(states, systemClock, 0.3)]
  const job = await jobAt(host, 'acme', 'tools')
  await there.offer(job)
  const { blobs, goOn } = heldBlobs()
  const runner = createInProcessRunner({ blobs, states, hosts: [host] })
  const running = runLease(
    { queue: here, runner, metrics: NO_METRICS, log: LOG },
    await taken(here),
    new AbortController().signal,
  )
  await until(async () => {
    const state = await there.offer(job)
    return state.status === 'indexing' && state.stage === 'write'
  })
  goOn()
  await running
  expect(await here.depth()).toBe(0)
  await states.close()
})
