import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { createSnapshotReader, type Snapshot } from '#api/snapshot/snapshot-reader.ts'
import type { CommitSha } from '#core/commit-sha.ts'
import type { DocumentListing } from '#core/contract/shared.ts'
import { UNUSED_PACK_HOURS } from '#core/limits.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import { headerKey } from '#core/snapshot/store-keys.ts'
import { compareBytes } from '#core/text.ts'
import { createSnapshotWriter } from '#indexer/snapshot/snapshot-writer.ts'
import { openDiskBlobStore } from '#infra/disk/blob-store.ts'
import { createMemoryBlobStore } from '#infra/memory-stores.ts'
import { systemClock } from '#infra/system/system.ts'
import { createRoundsStore } from '#test/support/rounds-store.ts'
import { COMMIT, REPOSITORY } from '#test/support/store-values.ts'
import { endpointUrl, testApp } from '#test/support/test-app.ts'
import { openTestStores } from '#test/support/test-stores.ts'
import { MIT, skillText } from './support/texts.ts'

const UNAVAILABLE = expect.objectContaining({ code: 'skill.unavailable' })

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mountglass-reader-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

test('a commit without a header is not indexed', async () => {
  expect(await createSnapshotReader(createMemoryBlobStore(systemClock)).open(REPOSITORY, COMMIT)).toBeNull()
})

test('a header that a sweep removed is let go of before its packs are removed', async () => {
  const blobs = createMemoryBlobStore(systemClock)
  await writeDocuments(blobs, ['a'])
  const reader = createSnapshotReader(blobs)
  expect(await reader.open(REPOSITORY, COMMIT)).not.toBeNull()
  await blobs.remove(headerKey(REPOSITORY, COMMIT))
  expect(await reader.open(REPOSITORY, COMMIT)).not.toBeNull()
  const halfLater = performance.now() + (UNUSED_PACK_HOURS / 2) * 3_600_000 + 1
  const clock = vi.spyOn(performance, 'now').mockReturnValue(halfLater)
  onTestFinished(() => clock.mockRestore())
  // The cache looks at the clock once a millisecond.
  await vi.waitFor(async () => expect(await reader.open(REPOSITORY, COMMIT)).toBeNull())
})

test('get and range return the rows that were written, for any keys', async () => {
  const key = fc.string({ unit: fc.constantFrom('a', 'b', '/', '\0', 'é', '\ue000', '🎻', '漢'), maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(key, { maxLength: 400, minLength: 0 }),
      key,
      fc.integer({ min: 1, max: 30 }),
      async (keys, probe, limit) => {
        const sorted = keys.sort(compareBytes)
        const snapshot = await written(sorted)
        const all = sorted.map(path => [path, documentAt(path)] as const)
        expect(await snapshot.range('documents')).toEqual(all)
        expect(await snapshot.range('documents', { prefix: probe })).toEqual(all.filter(([path]) => path.startsWith(probe)))
        expect(await snapshot.range('documents', { from: probe, limit })).toEqual(
          all.filter(([path]) => compareBytes(path, probe) >= 0).slice(0, limit),
        )
        expect(await snapshot.get('documents', probe)).toEqual(sorted.includes(probe) ? documentAt(probe) : null)
      },
    ),
    { numRuns: 40 },
  )
})

test('many readers of one shard make one read, and a later one makes none', async () => {
  const blobs = createMemoryBlobStore(systemClock)
  await writeDocuments(blobs, ['a', 'b'])
  let reads = 0
  const counting: BlobStore = {
    ...blobs,
    readRange(key, offset, length) {
      reads++
      return blobs.readRange(key, offset, length)
    },
  }
  const snapshot = await openSnapshot(counting)
  await Promise.all(Array.from({ length: 50 }, () => snapshot.get('documents', 'a')))
  expect(await snapshot.get('documents', 'b')).toEqual(documentAt('b'))
  expect(reads).toBe(1)
})

test('a crowd of first visitors reads every range once, like one visitor', async () => {
  const { blobs, states, close } = await openTestStores(systemClock)
  const words = Array.from({ length: 300 }, (_, at) => `word-${at}`)
  const pages = Array.from({ length: 150 }, (_, at) => [`docs/page-${at}.md`, `# Page ${at}\n\n${words.slice(at).join(' ')}\n`])
  const app = await testApp(
    { 'acme/handbook': { LICENSE: MIT, 'skills/pdf/SKILL.md': skillText('pdf'), ...Object.fromEntries(pages) } },
    { blobs, states },
  )
  try {
    await app.open('/local/acme/handbook')
    const urls = [
      endpointUrl('mounts', '/local/acme/handbook/docs'),
      endpointUrl('browse', '/local/acme/handbook', { path: 'docs' }),
      endpointUrl('find', '/local/acme/handbook', { query: 'word-7' }),
      endpointUrl('skills', '/local/acme/handbook', { path: 'skills/pdf/SKILL.md' }),
      endpointUrl('files', '/local/acme/handbook', { path: 'docs/page-9.md' }),
    ]
    for (const url of urls) {
      const [alone, crowd] = [await readsOf(url, 1), await readsOf(url, 40)]
      expect(crowd).toEqual(alone)
      expect(new Set(crowd).size).toBe(crowd.length)
    }
  } finally {
    await app.close()
    await close()
  }

  /** What a process that has read nothing asks of the store for so many visitors at once. */
  async function readsOf(url: string, visitors: number): Promise<string[]> {
    const reads: string[] = []
    const watched: BlobStore = {
      ...blobs,
      read(key) {
        reads.push(key)
        return blobs.read(key)
      },
      readRange(key, offset, length) {
        reads.push(`${key} ${offset}+${length}`)
        return blobs.readRange(key, offset, length)
      },
    }
    const cold = await testApp({}, { blobs: watched, states, deps: deps => ({ ...deps, hosts: app.deps.hosts }) })
    const answers = await Promise.all(Array.from({ length: visitors }, () => cold.get(url)))
    await cold.close()
    expect(new Set(answers.map(({ status, body }) => `${status} ${body}`)).size).toBe(1)
    expect(answers[0]?.status).toBe(200)
    return reads.sort()
  }
})

test('rows that lie in several shards are one round of reads', async () => {
  const blobs = createRoundsStore()
  const paths = Array.from({ length: 2_000 }, (_, at) => `docs/${String(at).padStart(4, '0')}`)
  await writeDocuments(blobs, paths)
  for (const [options, count] of [
    [{}, 2_000],
    [{ prefix: 'docs/1' }, 1_000],
    [{ from: 'docs/0500', limit: 900 }, 900],
    [{ prefix: 'docs/12', limit: 50 }, 50],
  ] as const) {
    const snapshot = await openSnapshot(blobs)
    blobs.reset()
    expect(await snapshot.range('documents', options)).toHaveLength(count)
    expect(blobs.reads.rounds).toHaveLength(1)
  }
})

test('memory stays within its bound: evicted parts are read again', async () => {
  const blobs = createMemoryBlobStore(systemClock)
  await writeDocuments(blobs, ['a'])
  const snapshot = await createSnapshotReader(blobs, { cacheBytes: 1 }).open(REPOSITORY, COMMIT)
  expect(await snapshot?.get('documents', 'a')).toEqual(documentAt('a'))
  expect(await snapshot?.get('documents', 'a')).toEqual(documentAt('a'))
})

test('a failed read is not remembered', async () => {
  const blobs = createMemoryBlobStore(systemClock)
  await writeDocuments(blobs, ['a'])
  let failing = true
  const snapshot = await openSnapshot({
    ...blobs,
    readRange: (key, offset, length) => (failing ? Promise.reject(new Error('EIO')) : blobs.readRange(key, offset, length)),
  })
  await expect(snapshot.get('documents', 'a')).rejects.toEqual(UNAVAILABLE)
  failing = false
  expect(await snapshot.get('documents', 'a')).toEqual(documentAt('a'))
})

test.for([
  ['no gzip', Buffer.from('{}')],
  ['no JSON', gzipSync('{')],
  ['no header', gzipSync('{}')],
  ['a bomb', gzipSync(Buffer.alloc(64 * 1024 * 1024))],
] as const)('a header that is %s is unavailable, never ready and never indexed again', async ([, bytes]) => {
  const blobs = createMemoryBlobStore(systemClock)
  await blobs.create(headerKey(REPOSITORY, COMMIT), bytes)
  await expect(createSnapshotReader(blobs).open(REPOSITORY, COMMIT)).rejects.toEqual(UNAVAILABLE)
})

test('a header of another commit is not taken for this one', async () => {
  const blobs = createMemoryBlobStore(systemClock)
  await writeDocuments(blobs, ['a'])
  const header = await blobs.read(headerKey(REPOSITORY, COMMIT))
  const other = 'd'.repeat(40) as CommitSha
  await blobs.create(headerKey(REPOSITORY, other), header?.bytes ?? new Uint8Array())
  await expect(createSnapshotReader(blobs).open(REPOSITORY, other)).rejects.toEqual(UNAVAILABLE)
})

test('with a pack damaged anywhere, cut short or missing, every answer is right or unavailable', async () => {
  const blobs = await openDiskBlobStore(folder)
  const contents = {
    'acme/handbook': {
      LICENSE: MIT,
      'a.md': '# A\n',
      'SKILLSET.md': '---\nname: H\n---\nRule.\n',
      'skills/pdf/SKILL.md': skillText('pdf'),
    },
  }
  const app = await testApp(contents, { blobs })
  try {
    await app.open('/local/acme/handbook')
    const urls = [
      endpointUrl('mounts', '/local/acme/handbook/skills'),
      endpointUrl('browse', '/local/acme/handbook'),
      endpointUrl('find', '/local/acme/handbook', { query: 'pdf' }),
      endpointUrl('skills', '/local/acme/handbook', { path: 'skills/pdf/SKILL.md' }),
      endpointUrl('files', '/local/acme/handbook', { path: 'a.md' }),
    ]
    const right = new Map<string, string>()
    for (const url of urls) right.set(url, (await app.get(url)).body)
    expect([...right.values()].filter(body => body.includes('"error"'))).toEqual([])

    const [pack = ''] = (await filesBelow(folder)).filter(path => path.includes('/p/'))
    const bytes = await readFile(pack)
    const damages = Array.from({ length: 40 }, (_, number) => flipped(bytes, Math.floor((bytes.length * number) / 40)))
    const cuts = [bytes.subarray(0, 10), bytes.subarray(0, bytes.length / 2), new Uint8Array()]
    let unavailable = 0
    for (const damaged of [...damages, ...cuts, null]) {
      if (damaged === null) await rm(pack)
      else await writeFile(pack, damaged)
      const other = await testApp({}, { blobs, deps: deps => ({ ...deps, hosts: app.deps.hosts }) })
      for (const url of urls) {
        const answer = await other.get(url)
        if (answer.status === 503) unavailable++
        else expect([url, answer.status, answer.body]).toEqual([url, 200, right.get(url)])
        if (answer.status === 503) expect(answer.json.error.code).toBe('skill.unavailable')
      }
      await other.close()
    }
    expect(unavailable).toBeGreaterThan(20)
    // The process that has them in memory still serves them.
    expect((await app.get(urls[1] ?? '')).body).toBe(right.get(urls[1] ?? ''))
  } finally {
    await app.close()
  }
})

function documentAt(path: string): DocumentListing {
  return { path, title: `Title of ${path}`, summary: '' }
}

async function writeDocuments(blobs: BlobStore, paths: readonly string[]): Promise<void> {
  const writer = createSnapshotWriter(blobs, REPOSITORY, COMMIT)
  await writer.addTable(
    'documents',
    paths.map(path => [path, documentAt(path)] as const),
  )
  await writer.finish({
    truncated: false,
    search: null,
    root: {
      folder: { counts: { skills: 0, documents: 0 }, license: { kind: 'none', name: null, source: null } },
      skills: [],
      documents: [],
      diagnostics: [],
    },
  })
}

async function openSnapshot(blobs: BlobStore): Promise<Snapshot> {
  const snapshot = await createSnapshotReader(blobs).open(REPOSITORY, COMMIT)
  if (snapshot === null) throw new Error('there is no snapshot')
  return snapshot
}

async function written(paths: readonly string[]): Promise<Snapshot> {
  const blobs = createMemoryBlobStore(systemClock)
  await writeDocuments(blobs, paths)
  return await openSnapshot(blobs)
}

function flipped(bytes: Uint8Array, at: number): Uint8Array {
  const damaged = Uint8Array.from(bytes)
  damaged[at] = (damaged[at] ?? 0) ^ 0xff
  return damaged
}

async function filesBelow(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true, recursive: true })
  return entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name))
}
