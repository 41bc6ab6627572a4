/*
 * Bytes of a store that are changed, cut short or gone while the service runs: it says that it cannot read them, and once an indexer has been
 * there it answers as before.
 */
import { createHash } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { createDamageReports } from '#core/damage-reports.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import { ReadError } from '#core/ports/git-host.ts'
import { headerKey, packKey } from '#core/snapshot/store-keys.ts'
import { type SnapshotDeps, writeSnapshot } from '#indexer/pipeline/write-snapshot.ts'
import { storedHeader } from '#test/support/snapshot-meaning.ts'
import { describeDrivers, MEMORY_BLOBS } from '#test/support/store-drivers.ts'
import { testApp } from '#test/support/test-app.ts'
import { withoutInstants } from '#test/support/without-instants.ts'

import { ADDRESS, change, cutTo, flipped, open, repairOverStore, URLS, urlsAt } from './repair-scene.ts'

describeDrivers('a store in', [MEMORY_BLOBS], repairOverStore)

const openMemory = MEMORY_BLOBS.open

test('a missing header is indexed again, and a damaged pack found meanwhile is noticed', async () => {
  const { indexer, blobs, repository, commit, header, right, replica } = await open(openMemory)
  await change(blobs, packKey(repository, header.packs[0]?.name ?? ''), flipped(0.26))
  await blobs.remove(headerKey(repository, commit))
  const service = await replica()
  expect(JSON.parse((await service.get(URLS[0] ?? '')).body).index.status).toBe('indexing')
  expect(await indexer.index()).toBe(1)
  expect((await service.askAll()).map(({ status }) => status)).toContain(503)
  expect(await indexer.index()).toBe(1)
  expect(await service.askAll()).toEqual(right.map(body => ({ status: 200, body })))
})

test('a process with an old header in memory reads the present one, and no visitor notices', async () => {
  const { indexer, blobs, repository, commit, replica } = await open(openMemory)
  const second = await indexer.repository('acme/handbook').commit({ 'docs/page-3.md': '# Page 3\n\nOther words.\n' })
  await indexer.open(`${ADDRESS}@${second}`)
  const urls = urlsAt(`${ADDRESS}@${second}`)
  const right = await (await replica()).askAll(urls)
  const header = await storedHeader(blobs, repository, second)
  expect(header.packs.length).toBe(2)

  const [remembers, finds] = [await replica(), await replica()]
  await remembers.get(urls[0] ?? '')
  await change(blobs, packKey(repository, header.packs[0]?.name ?? ''), cutTo(0.3))
  expect((await finds.askAll(urls)).map(({ status }) => status)).toContain(503)
  expect(await indexer.index()).toBe(1)
  expect((await storedHeader(blobs, repository, second)).packs).not.toEqual(header.packs)
  expect(await remembers.askAll(urls)).toEqual(right)
  expect(remembers.damages()).toEqual([])

  // The commit before lay in the same pack.
  const other = await replica()
  const earlier = urlsAt(`${ADDRESS}@${commit}`)
  expect((await other.askAll(earlier)).map(({ status }) => status)).toContain(503)
  expect(await indexer.index()).toBe(1)
  expect((await other.askAll(earlier)).map(({ status }) => status)).not.toContain(503)
  expect((await storedHeader(blobs, repository, commit)).packs.length).toBe(1)
})

test('many visitors of a damaged snapshot leave one job and one line in the log; without an indexer it stays unavailable', async () => {
  const { indexer, blobs, repository, header, replica } = await open(openMemory)
  const service = await replica()
  await service.get(URLS[0] ?? '')
  await change(blobs, packKey(repository, header.packs[0]?.name ?? ''), null)
  for (let turn = 0; turn < 3; turn++) {
    const answers = await Promise.all(Array.from({ length: 20 }, () => service.get(URLS[2] ?? '')))
    for (const { status, json } of answers) expect([status, json.error.code]).toEqual([503, 'skill.unavailable'])
  }
  expect(service.damages()).toHaveLength(1)
  expect(await indexer.index()).toBe(1)
})

test('recurring damage is repaired again, with growing pauses', async () => {
  const { indexer, blobs, repository, commit, replica } = await open(openMemory)
  const service = await replica()
  const damage = async () => {
    const { packs } = await storedHeader(blobs, repository, commit)
    await change(blobs, packKey(repository, packs[0]?.name ?? ''), cutTo(0.3))
    const cold = await replica()
    cold.advanceClock(elapsed)
    expect((await cold.askAll()).map(({ status }) => status)).toContain(503)
  }
  let elapsed = 0
  await damage()
  expect(await indexer.index()).toBe(1)
  for (const backoffSeconds of [30, 60]) {
    await damage()
    expect(await indexer.index()).toBe(0)
    elapsed += backoffSeconds + 1
    await damage()
    expect(await indexer.index()).toBe(1)
  }
  expect((await service.askAll()).map(({ status }) => status)).not.toContain(503)
})

test('a header with wrong locations in whole packs is written again when it is found a second time', async () => {
  const { indexer, blobs, repository, commit, right, replica } = await open(openMemory)
  const whole = (await blobs.read(headerKey(repository, commit)))?.bytes ?? new Uint8Array()
  const lying = gunzipSync(whole)
    .toString()
    .replace(/\[0,(\d+),/g, (_, offset) => `[0,${Number(offset) + 1},`)
  await change(blobs, headerKey(repository, commit), () => gzipSync(lying))
  const service = await replica()
  expect((await service.askAll()).map(({ status }) => status)).toContain(503)
  expect(await indexer.index()).toBe(1)
  service.advanceClock(31)
  expect((await service.askAll()).map(({ status }) => status)).toContain(503)
  expect(await indexer.index()).toBe(1)
  expect(await service.askAll()).toEqual(right.map(body => ({ status: 200, body })))
})

test('a store that does not answer counts as no damage: nothing is built, and the log has the failure', async () => {
  const scene = await open(openMemory)
  const log: string[] = []
  let isDown = false
  const failing: BlobStore = {
    ...scene.blobs,
    readRange: (...range) => (isDown ? Promise.reject(new Error('EIO')) : scene.blobs.readRange(...range)),
    read: key => (isDown ? Promise.reject(new Error('EIO')) : scene.blobs.read(key)),
  }
  const app = await testApp(
    {},
    {
      blobs: failing,
      states: scene.states,
      logger: { level: 'warn', stream: { write: (line: string) => void log.push(line) } },
      deps: deps => ({ ...deps, hosts: scene.indexer.deps.hosts }),
    },
  )
  onTestFinished(() => app.close())
  await app.get(URLS[0] ?? '')
  isDown = true
  for (const url of URLS.slice(1)) expect((await app.get(url)).status).toBe(503)
  isDown = false
  for (const [at, url] of URLS.entries()) expect(withoutInstants((await app.get(url)).body)).toBe(scene.right[at])
  expect(await scene.indexer.index()).toBe(0)
  expect(log.map(line => JSON.parse(line).msg)).toEqual(URLS.slice(1).map(() => 'unavailable'))
})

/** A scene in which a pack is damaged and a reader has said so, with one that repairs by hand. */
async function openDamaged() {
  const scene = await open(openMemory)
  const { indexer, blobs, states, repository, commit, header, replica } = scene
  const pack = packKey(repository, header.packs[0]?.name ?? '')
  const service = await replica()
  await change(blobs, pack, flipped(0.26))
  await service.askAll()
  const repair = (changes: Partial<BlobStore>, hosts: SnapshotDeps['hosts'] = indexer.deps.hosts) =>
    writeSnapshot({ blobs: { ...blobs, ...changes }, states, hosts }, { repository, commit }, new AbortController().signal)
  const contents = async () => {
    const keys = await blobs.list('')
    return Promise.all(
      keys.map(async key => [
        key,
        createHash('sha256')
          .update((await blobs.read(key))?.bytes ?? '')
          .digest('hex'),
      ]),
    )
  }
  return { ...scene, service, pack, repair, contents }
}

test('a repair that stops between removing and writing is continued', async () => {
  const { indexer, blobs, states, pack, right, service, repair } = await openDamaged()
  let isGone = false
  const breaking: Partial<BlobStore> = {
    async remove(key) {
      isGone ||= key === pack
      await blobs.remove(key)
    },
    create: (key, bytes) => (isGone ? Promise.reject(new Error('killed')) : blobs.create(key, bytes)),
  }
  await expect(repair(breaking)).rejects.toThrow('killed')
  expect(await blobs.read(pack)).toBeNull()
  expect(await states.list('ctl/kept/')).not.toEqual([])
  expect((await service.askAll()).map(({ status }) => status)).toContain(503)
  expect(await indexer.index()).toBe(1)
  expect(await service.askAll()).toEqual(right.map(body => ({ status: 200, body })))
})

test('while the host does not answer nothing is removed: whole parts of a damaged snapshot are still served', async () => {
  const { indexer, right, service, repair, contents } = await openDamaged()
  const before = await contents()
  const away = indexer.deps.hosts.map(({ segment, isRemote }) => ({
    segment,
    isRemote,
    open: () => Promise.reject(new ReadError('index.fetch_failed', 'the host is away')),
  }))
  await expect(repair({}, away)).rejects.toThrow('the host is away')
  expect(await contents()).toEqual(before)
  expect((await service.askAll()).map(({ status }) => status)).toContain(200)
  expect(await indexer.index()).toBe(1)
  expect(await service.askAll()).toEqual(right.map(body => ({ status: 200, body })))
})

test('a store that fails during the check for damage causes no further damage', async () => {
  const { blobs, repository, commit, header, repair, contents } = await openDamaged()
  const before = await contents()
  for (const key of [headerKey(repository, commit), packKey(repository, header.packs[0]?.name ?? '')]) {
    let reads = 0
    // The first look at the header only tells that it is there.
    const isAway = (read: string) => read === key && (key.includes('/p/') || reads++ > 0)
    const failing = { read: (read: string) => (isAway(read) ? Promise.reject(new Error('EIO')) : blobs.read(read)) }
    await expect(repair(failing)).rejects.toThrow('EIO')
    expect(await contents()).toEqual(before)
  }
})

test.each(['/c/', '/p/'])('bytes that are damaged once and whole later are left unchanged: %s', async part => {
  const scene = await openDamaged()
  const { blobs, pack, repository, header, repair, contents, states } = scene
  const whole = await open(openMemory)
  await blobs.remove(pack)
  await blobs.create(pack, (await whole.blobs.read(packKey(repository, header.packs[0]?.name ?? '')))?.bytes ?? new Uint8Array())
  const before = await contents()
  const seen = new Set<string>()
  let looks = 0
  const flipping = {
    async read(key: string) {
      const stored = await blobs.read(key)
      // The first look at the header only tells that it is there.
      if (!key.includes(part) || seen.has(key) || (part === '/c/' && looks++ === 0)) return stored
      seen.add(key)
      return stored && { ...stored, bytes: flipped(0.55)(stored.bytes) }
    },
  }
  expect(await repair(flipping)).toBeNull()
  expect(seen.size).toBe(1)
  expect(await contents()).toEqual(before)
  expect(await createDamageReports(states).find(repository, scene.commit)).toBeNull()
})
