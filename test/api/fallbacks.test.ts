import { expect, onTestFinished, test } from 'vitest'
import { createHiddenNotes } from '#api/snapshot/hidden-notes.ts'
import { createSnapshotReader } from '#api/snapshot/snapshot-reader.ts'
import { createOwnerListings } from '#core/owner-listings.ts'
import { createFallbacks } from '#core/ports/fallbacks.ts'
import { ownerListingKey, packKey } from '#core/snapshot/store-keys.ts'
import { createMemoryBlobStore, createMemoryStateStore } from '#infra/memory-stores.ts'
import { createPrometheusMetrics } from '#infra/monitoring/prometheus.ts'
import { systemClock } from '#infra/system/system.ts'
import { answered } from '#test/support/answered.ts'
import { storedHeader } from '#test/support/snapshot-meaning.ts'
import { endpointUrl, testApp } from '#test/support/test-app.ts'
import { openTestStores } from '#test/support/test-stores.ts'

/** Fallbacks, with what was logged and counted of them. */
function openFallbacks() {
  const logged: { fallback?: string; err?: Error }[] = []
  const metrics = createPrometheusMetrics()
  const fallbacks = createFallbacks(metrics, { warn: fields => void logged.push(fields) })
  const count = async (kind: string) => {
    const { text } = await metrics.read()
    return Number(new RegExp(`^mountglass_fallbacks_total\\{kind="${kind}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0)
  }
  return { fallbacks, logged, count }
}

const away = () => Promise.reject(new Error('EIO'))

test('notes of hidden repositories that a store does not take, or that are too many, are counted and logged once', async () => {
  const { fallbacks, logged, count } = openFallbacks()
  const states = { ...createMemoryStateStore(), create: away }
  const notes = createHiddenNotes({ blobs: createMemoryBlobStore(systemClock), states }, systemClock, fallbacks)
  for (let number = 0; number < 5_003; number++) notes.hidden(`gh-${number}`)
  await notes.written()
  expect(await count('hidden_note')).toBe(5_003)
  expect(logged).toMatchObject([{ fallback: 'hidden_note', err: { message: '5000 notes wait already' } }])
})

test('a repository that a visit cannot list under its owner is counted and logged once, and the visit answers', async () => {
  const { fallbacks, logged, count } = openFallbacks()
  const app = await testApp(
    { 'acme/tools': { 'a.md': '# A\n' } },
    { deps: deps => ({ ...deps, fallbacks, listings: { ...deps.listings, keep: away } }) },
  )
  onTestFinished(() => app.close())
  await app.open('/local/acme/tools')
  for (let visit = 0; visit < 3; visit++) expect((await app.get('/api/v1/mounts/local/acme/tools')).status).toBe(200)
  expect(await count('owner_listing')).toBe(3)
  expect(logged).toMatchObject([{ fallback: 'owner_listing', err: { message: 'EIO' } }])
})

test('a stored listing that cannot be understood is left out, counted and logged once', async () => {
  const { fallbacks, logged, count } = openFallbacks()
  const states = createMemoryStateStore()
  for (const id of ['one', 'two']) await states.create(ownerListingKey('gh-1', id), { name: 7 })
  expect(await createOwnerListings(states, fallbacks).of('gh-1')).toEqual([])
  expect(await count('owner_listing')).toBe(2)
  expect(logged).toMatchObject([{ fallback: 'owner_listing' }])
})

test('a report of damage that is lost is counted and logged once, and the read is unavailable', async () => {
  const { fallbacks, logged, count } = openFallbacks()
  const { blobs, states, close } = await openTestStores(systemClock)
  const contents = { 'acme/tools': { 'a.md': '# A\n' } }
  const app = await testApp(contents, {
    blobs,
    states,
    deps: deps => ({ ...deps, snapshots: createSnapshotReader(blobs, { onDamage: away, fallbacks }) }),
  })
  onTestFinished(async () => {
    await app.close()
    await close()
  })
  await app.open('/local/acme/tools')
  const repository = answered(await app.host.repository('acme', 'tools'))
  const { packs } = await storedHeader(blobs, repository, app.commitOf('acme/tools'))
  await blobs.remove(packKey(repository, packs[0]?.name ?? ''))
  for (let visit = 0; visit < 2; visit++) {
    expect((await app.get(endpointUrl('browse', '/local/acme/tools'))).status).toBe(503)
  }
  expect(await count('damage_report')).toBe(2)
  expect(logged).toMatchObject([{ fallback: 'damage_report', err: { message: 'EIO' } }])
})
