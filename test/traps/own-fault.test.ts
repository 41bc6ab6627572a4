import { expect, onTestFinished, test } from 'vitest'
import type { BlobStore } from '#core/ports/blob-store.ts'
import { headerKey, splitKey, VERSIONS } from '#core/snapshot/store-keys.ts'
import { isDamaged } from '#indexer/snapshot/repair.ts'
import { readStoredHeader } from '#indexer/sweep/state.ts'
import { createMemoryBlobStore } from '#infra/memory-stores.ts'
import { createPrometheusMetrics } from '#infra/monitoring/prometheus.ts'
import { systemClock } from '#infra/system/system.ts'
import { testApp } from '#test/support/test-app.ts'
import { open, URLS } from './repair-scene.ts'

/** Bytes that no code of ours expects: it fails with a TypeError, as a fault of its own does. */
const NOT_BYTES = { length: 1_000_000 } as unknown as Uint8Array

/** A service that trips over whole bytes, which another one wrote. */
async function openFaulty(fault: (blobs: BlobStore) => Partial<BlobStore>) {
  const scene = await open(async () => createMemoryBlobStore(systemClock))
  const log: { msg: string; err?: { type: string; stack: string } }[] = []
  const metrics = createPrometheusMetrics()
  const app = await testApp(
    {},
    {
      blobs: { ...scene.blobs, ...fault(scene.blobs) },
      states: scene.states,
      metrics,
      logger: { level: 'warn', stream: { write: (line: string) => void log.push(JSON.parse(line)) } },
      deps: deps => ({ ...deps, hosts: scene.indexer.deps.hosts }),
    },
  )
  onTestFinished(() => app.close())
  return { ...scene, app, log, metrics }
}

test.each([
  ['a shard', 2, (): Partial<BlobStore> => ({ readRange: async () => NOT_BYTES })],
  ['a search section', 3, (): Partial<BlobStore> => ({ readRange: async () => NOT_BYTES })],
])('a fault of the code that reads %s is 500, logged once with its stack, and no damage', async (_, url, fault) => {
  const { app, log, metrics, indexer, states } = await openFaulty(fault)
  for (let turn = 0; turn < 3; turn++) {
    const { status, json } = await app.get(URLS[url] ?? '')
    expect([status, json.error.code]).toEqual([500, 'service.internal'])
  }
  const stacks = log.flatMap(({ err }) => (err ? [err] : []))
  expect(stacks.map(({ type }) => type)).toEqual(['TypeError'])
  expect(stacks[0]?.stack).toContain('.ts:')
  expect(log.map(({ msg }) => msg).filter(msg => msg.includes('damaged'))).toEqual([])
  expect((await metrics.read()).text).toContain('mountglass_faults_total{error="TypeError"} 3')
  await app.deps.hidden.written()
  expect((await states.list('')).filter(key => key.includes('damage'))).toEqual([])
  expect(await indexer.index()).toBe(0)
})

test('a bug in the code that reads headers causes no rebuild of the snapshot, and no removal by a sweep', async () => {
  const { blobs, repository, commit } = await open(async () => createMemoryBlobStore(systemClock))
  const faulty: BlobStore = {
    ...blobs,
    read: async key => ({ bytes: 7 as unknown as Uint8Array, createdAt: (await blobs.read(key))?.createdAt ?? new Date() }),
  }
  await expect(isDamaged(faulty, repository, commit)).rejects.toThrow(TypeError)
  const place = splitKey(headerKey(repository, commit))?.place ?? ''
  await expect(readStoredHeader(faulty, place, { commit, versions: VERSIONS })).rejects.toThrow(TypeError)
})
