import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { CommitSha } from '#core/commit-sha.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import type { PackEntry } from '#core/snapshot/format.ts'
import { headerKey, packKey } from '#core/snapshot/store-keys.ts'
import { writeSnapshot } from '#indexer/pipeline/write-snapshot.ts'
import { createDirectoryWriter, readDirectory } from '#indexer/snapshot/pack-directory.ts'
import { packNameOf } from '#indexer/snapshot/pack-series.ts'
import { openLocalHost } from '#infra/local/host.ts'
import { createMemoryBlobStore, createMemoryStateStore } from '#infra/memory-stores.ts'
import { systemClock } from '#infra/system/system.ts'
import { openGitHubHostAt } from '#test/contract/git-host-drivers.ts'
import { answered } from '#test/support/answered.ts'
import { type FakeGitHub, startFakeGitHub } from '#test/support/fake-github/server.ts'
import { createRepositories, type TestFile, type TestRepositories, type TestRepository } from '#test/support/repository.ts'
import { meaningOf, storedHeader } from '#test/support/snapshot-meaning.ts'

let repositories: TestRepositories
let github: FakeGitHub
let made = 0

beforeAll(async () => {
  repositories = await createRepositories()
  github = await startFakeGitHub({ root: repositories.root })
})
afterEach(() => {
  const mistakes = [...github.mistakes]
  github.reset()
  expect(mistakes).toEqual([])
})
afterAll(async () => {
  await github.close()
  await repositories.remove()
})

interface Stores {
  blobs: BlobStore
  states: StateStore
}

const newStores = (): Stores => ({ blobs: createMemoryBlobStore(systemClock), states: createMemoryStateStore() })
const newRepository = () => repositories.create('acme', `met-${made++}`)

/** Indexes a commit as a worker does that has just been started: it has nothing at hand but what is stored. */
async function indexAnew(
  repository: TestRepository,
  commit: CommitSha,
  { blobs, states }: Stores,
  change: Partial<HostRepository> = {},
): Promise<HostRepository> {
  const host = await openGitHubHostAt(github, change.visibility === 'private' ? { app: installedApp() } : {})
  try {
    const described = answered(await host.repository(repository.owner, repository.name))
    const job = { repository: { ...described, ...change }, commit }
    github.log.clear()
    await writeSnapshot({ blobs, states, hosts: [host] }, job, new AbortController().signal)
    return job.repository
  } finally {
    await host.close()
  }
}

/** Private repositories are read with the tokens of an App. */
function installedApp() {
  const app = github.app('reader', { owner: github.user('maker') })
  github.install(app, github.organization('acme'))
  return { ...app, id: String(app.id) }
}

const wants = () => github.log.git.reduce((sum, { git }) => sum + (git?.wants ?? 0), 0)
/** Requests for a commit with all that is not large. */
const fetchesOfAll = () => github.log.git.filter(({ git }) => git?.filter?.startsWith('blob:limit=')).length
/** One want is the commit itself; another is `package.json`, which is read for its license and is in no pack. */
const ALWAYS = 2

const LICENSE = { 'package.json': '{"license":"MIT"}\n' }
const skill = (name: string, body = 'Do it.\n') => `---\nname: ${name}\ndescription: Does ${name}.\n---\n${body}`

test('the next commit of 1,000 files with 5 changed ones fetches those, and equals an index from scratch', async () => {
  const repository = await newRepository()
  const files = Object.fromEntries(
    Array.from({ length: 1_000 }, (_, index): [string, TestFile] =>
      index % 50 === 0
        ? [`skills/s${index}/SKILL.md`, skill(`s${index}`)]
        : [`docs/${index % 7}/page-${index}.md`, `# Page ${index}\n\nWords of ${index}.\n`],
    ),
  )
  const first = await repository.commit({ ...LICENSE, ...files, 'logo.png': new Uint8Array(9_000), 'src/code.ts': 'code()\n' })
  const changed = Object.fromEntries(
    Object.keys(files)
      .filter((_, index) => index % 200 === 1)
      .map(path => [path, `# Changed\n\n${path}\n`]),
  )
  const second = await repository.commit(changed)
  const stores = newStores()
  await indexAnew(repository, first, stores)
  expect(fetchesOfAll()).toBe(1)

  const described = await indexAnew(repository, second, stores)
  expect([wants(), fetchesOfAll()]).toEqual([ALWAYS + 5, 0])
  expect(github.log.rest).toEqual([])
  const scratch = newStores()
  await indexAnew(repository, second, scratch)
  expect(await meaningOf(stores.blobs, described, second)).toEqual(await meaningOf(scratch.blobs, described, second))
})

test('a file that was not needed before is fetched when it is linked', async () => {
  const repository = await newRepository()
  const first = await repository.commit({ ...LICENSE, 'docs/a.md': '# A\n', 'src/one.ts': 'one()\n', 'src/two.ts': 'two()\n' })
  const second = await repository.commit({ 'docs/a.md': '# A\n\nSee [it](../src/two.ts).\n' })
  const stores = newStores()
  await indexAnew(repository, first, stores)
  const described = await indexAnew(repository, second, stores)
  expect(wants()).toBe(ALWAYS + 2)
  const scratch = newStores()
  await indexAnew(repository, second, scratch)
  expect(await meaningOf(stores.blobs, described, second)).toEqual(await meaningOf(scratch.blobs, described, second))
})

test('pictures and other binary files give the same index at any host, after any earlier index', async () => {
  const repository = await newRepository()
  const files = {
    ...LICENSE,
    'docs/a.md': '# A\n\nSee ![it](../art/large.png), ![that](../closed/one.png) and [the terms](../LICENSE.pdf).\n',
    'art/large.png': new Uint8Array(2_000_000),
    'closed/LICENSE': 'All rights reserved.\n',
    'closed/one.png': new Uint8Array(90),
  }
  const many = Object.fromEntries(Array.from({ length: 80 }, (_, at) => [`docs/page-${at}.md`, `# ${at}\n`]))
  const listing = await repository.commit({ ...files, 'skills/s/SKILL.md': skill('s') })
  const commits = [
    await repository.commit({ 'skills/s/SKILL.md': null }),
    await repository.commit(many),
    await repository.commit({ 'LICENSE.pdf': new Uint8Array([1, 2, 0]) }),
  ]
  const [stores, local] = [newStores(), await openLocalHost({ root: repositories.root, baseUrl: 'http://127.0.0.1' })]
  await indexAnew(repository, listing, stores)
  for (const commit of commits) {
    const nearby = answered(await local.repository(repository.owner, repository.name))
    const [scratch, near] = [newStores(), newStores()]
    await writeSnapshot({ ...near, hosts: [local] }, { repository: nearby, commit }, new AbortController().signal)
    const expected = await meaningOf(near.blobs, nearby, commit)
    const described = await indexAnew(repository, commit, scratch)
    expect(await meaningOf(scratch.blobs, described, commit)).toEqual(expected)
    await indexAnew(repository, commit, stores)
    expect(await meaningOf(stores.blobs, described, commit)).toEqual(expected)
  }
  await local.close()
})

test('a commit built on one that was built on another equals an index from scratch', async () => {
  const repository = await newRepository()
  const stores = newStores()
  const shas: CommitSha[] = []
  for (const text of ['one', 'two', 'three']) {
    shas.push(await repository.commit({ ...LICENSE, 'docs/a.md': text, 'docs/b.md': '# B\n', 'logo.png': new Uint8Array(99) }))
  }
  for (const commit of shas) await indexAnew(repository, commit, stores)
  expect([wants(), github.log.rest]).toEqual([ALWAYS + 1, []])
})

const FILES = { ...LICENSE, 'docs/a.md': '# A\n', 'docs/b.md': '# B\n', 'skills/s/SKILL.md': skill('s') }

test.each<[string, (repository: HostRepository, commit: CommitSha, stores: Stores) => Promise<void>]>([
  ['the header is missing', async (repository, commit, { blobs }) => blobs.remove(headerKey(repository, commit))],
  ['the header is damaged', (...which) => changeHeader(...which, bytes => bytes.subarray(9))],
  ['the header is of another form', (...which) => changeHeader(...which, () => gzipSync('{"packs":[1]}'))],
  ['the header has wrong locations', (...which) => rewriteHeader(...which, text => text.replace(/\[0,\d+,/g, '[0,1,'))],
  ['the header names wrong packs', (...which) => rewriteHeader(...which, text => text.replace(/\[0,/g, '[7,'))],
  [
    'the directories have wrong locations',
    (...which) => rewriteHeader(...which, text => text.replace(/"directoryBytes":\d+/, '"directoryBytes":40')),
  ],
  ['the directories lie', (...which) => swapRecords(...which)],
  ['the packs are missing', async (_, __, { blobs }) => removeAll(blobs, '/p/')],
  ['the packs are damaged', (_, __, { blobs }) => damageAll(blobs, '/p/')],
])('the snapshot equals one from scratch when %s', async (_, spoil) => {
  const repository = await newRepository()
  const first = await repository.commit(FILES)
  const second = await repository.commit({ 'docs/b.md': '# B\n\nChanged.\n' })
  const stores = newStores()
  await spoil(await indexAnew(repository, first, stores), first, stores)
  const described = await indexAnew(repository, second, stores)
  const scratch = newStores()
  await indexAnew(repository, second, scratch)
  expect(await meaningOf(stores.blobs, described, second)).toEqual(await meaningOf(scratch.blobs, described, second))
})

test('the snapshot equals one from scratch when the store returns no packs', async () => {
  const repository = await newRepository()
  const first = await repository.commit(FILES)
  const second = await repository.commit({ 'docs/b.md': '# B\n\nChanged.\n' })
  const stores = newStores()
  await indexAnew(repository, first, stores)
  const { blobs } = stores
  const read: BlobStore['read'] = async key => (key.includes('/p/') ? Promise.reject(new Error('down')) : blobs.read(key))
  const described = await indexAnew(repository, second, { ...stores, blobs: { ...blobs, read } })
  const scratch = newStores()
  await indexAnew(repository, second, scratch)
  expect(await meaningOf(blobs, described, second)).toEqual(await meaningOf(scratch.blobs, described, second))
})

async function changeHeader(
  repository: HostRepository,
  commit: CommitSha,
  { blobs }: Stores,
  change: (bytes: Uint8Array) => Uint8Array,
): Promise<void> {
  const key = headerKey(repository, commit)
  const bytes = (await blobs.read(key))?.bytes ?? new Uint8Array()
  await blobs.remove(key)
  await blobs.create(key, change(bytes))
}

function rewriteHeader(
  repository: HostRepository,
  commit: CommitSha,
  stores: Stores,
  change: (text: string) => string,
): Promise<void> {
  return changeHeader(repository, commit, stores, bytes => {
    const text = gunzipSync(bytes).toString()
    expect(change(text)).not.toBe(text)
    return gzipSync(change(text))
  })
}

/** A pack that is whole, and whose directory has the records of two blobs the wrong way round. */
async function swapRecords(repository: HostRepository, commit: CommitSha, stores: Stores): Promise<void> {
  const { packs } = await storedHeader(stores.blobs, repository, commit)
  const [{ name, sizeBytes, directoryBytes }] = packs as [PackEntry]
  const pack = (await stores.blobs.read(packKey(repository, name)))?.bytes ?? new Uint8Array()
  const entries = readDirectory(pack.subarray(sizeBytes - directoryBytes))
  const swapped = createDirectoryWriter()
  for (const [index, entry] of entries.entries()) {
    const other = entries[index % 2 === 0 ? index + 1 : index - 1] ?? entry
    swapped.add({ ...entry, oid: other.oid, sizeBytes: other.sizeBytes })
  }
  const directory = swapped.finish()
  const lying = Buffer.concat([pack.subarray(0, sizeBytes - directoryBytes), directory])
  await stores.blobs.create(packKey(repository, packNameOf(lying)), lying)
  await rewriteHeader(repository, commit, stores, text =>
    text
      .replace(name, packNameOf(lying))
      .replace(`"sizeBytes":${sizeBytes}`, `"sizeBytes":${lying.length}`)
      .replace(`"directoryBytes":${directoryBytes}`, `"directoryBytes":${directory.length}`),
  )
}

async function removeAll(blobs: BlobStore, part: string): Promise<void> {
  for (const key of await blobs.list('')) if (key.includes(part)) await blobs.remove(key)
}

async function damageAll(blobs: BlobStore, part: string): Promise<void> {
  for (const key of await blobs.list('')) {
    if (!key.includes(part)) continue
    const bytes = Uint8Array.from((await blobs.read(key))?.bytes ?? [])
    bytes[0] = (bytes[0] ?? 0) ^ 0xff
    await blobs.remove(key)
    await blobs.create(key, bytes)
  }
}

test('a private repository reuses nothing from its time as a public one', async () => {
  const repository = await newRepository()
  const first = await repository.commit(FILES)
  const second = await repository.commit({ 'docs/b.md': '# B\n\nChanged.\n' })
  const stores = newStores()
  await indexAnew(repository, first, stores)
  const before = await stores.blobs.list('')
  const read: string[] = []
  const watched = {
    ...stores.blobs,
    read(key: string) {
      read.push(key)
      return stores.blobs.read(key)
    },
  }
  await indexAnew(repository, second, { ...stores, blobs: watched }, { visibility: 'private' })
  expect(fetchesOfAll()).toBe(1)
  expect(read.filter(key => !key.startsWith('prv/'))).toEqual([])
  expect(await stores.blobs.list('pub/')).toEqual(before)
})
