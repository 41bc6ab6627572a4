import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { DocStore } from '#core/ports/doc-store.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import type { CommitSha } from '#core/snapshot/format.ts'
import { headerKey, metBlobsKey } from '#core/snapshot/keys.ts'
import { writeSnapshot } from '#indexer/run-index-job.ts'
import { createMemoryBlobStore } from '#infra/memory/blob-store.ts'
import { createMemoryDocStore } from '#infra/memory/doc-store.ts'
import { systemClock } from '#infra/system/clock.ts'
import { openGitHubHostAt } from '#test/contract/git-host-drivers.ts'
import { type FakeGitHub, startFakeGitHub } from '#test/support/fake-github/server.ts'
import { createRepositories, type TestFile, type TestRepositories, type TestRepository } from '#test/support/repository.ts'

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
  docs: DocStore
}

const newStores = (): Stores => ({ blobs: createMemoryBlobStore(systemClock), docs: createMemoryDocStore() })
const newRepository = () => repositories.create('acme', `met-${made++}`)

/** Indexes a commit as a worker does that has just been started: it has nothing at hand but what is stored. */
async function indexAnew(
  repository: TestRepository,
  commit: CommitSha,
  { blobs, docs }: Stores,
  change: Partial<HostRepository> = {},
): Promise<HostRepository> {
  const host = await openGitHubHostAt(github)
  try {
    const answer = await host.repository(repository.owner, repository.name)
    if (answer.status !== 'ok') throw new Error(answer.status)
    const job = { repository: { ...answer.value, ...change }, commit }
    github.log.clear()
    await writeSnapshot({ blobs, docs, hosts: [host] }, job, new AbortController().signal)
    return job.repository
  } finally {
    await host.close()
  }
}

/** Everything that belongs to the snapshot of a commit, as hex: its header names the packs by their bytes. */
async function snapshotOf(repository: HostRepository, commit: CommitSha, { blobs }: Stores): Promise<string> {
  const header = await blobs.read(headerKey(repository, commit))
  if (header === null) throw new Error(`${commit} is not indexed`)
  return Buffer.from(header.bytes).toString('hex')
}

const wants = () => github.log.git.reduce((sum, { git }) => sum + (git?.wants ?? 0), 0)
/** One want is the commit itself; another is `package.json`, which is read for its licence and is in no pack. */
const ALWAYS = 2

const LICENSE = { 'package.json': '{"license":"MIT"}\n' }
const skill = (name: string, body = 'Do it.\n') => `---\nname: ${name}\ndescription: Does ${name}.\n---\n${body}`

test('the next commit of 1,000 files with 5 changed ones brings those, in the same bytes as from scratch', async () => {
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
  expect(wants()).toBeGreaterThan(1_000)

  const described = await indexAnew(repository, second, stores)
  expect(wants()).toBe(ALWAYS + 5)
  expect(github.log.rest).toEqual([])
  const scratch = newStores()
  await indexAnew(repository, second, scratch)
  expect(await snapshotOf(described, second, stores)).toBe(await snapshotOf(described, second, scratch))
})

test('what was of no use before is brought when it comes to be linked', async () => {
  const repository = await newRepository()
  const first = await repository.commit({ ...LICENSE, 'docs/a.md': '# A\n', 'src/one.ts': 'one()\n', 'src/two.ts': 'two()\n' })
  const second = await repository.commit({ 'docs/a.md': '# A\n\nSee [it](../src/two.ts).\n' })
  const stores = newStores()
  await indexAnew(repository, first, stores)
  const described = await indexAnew(repository, second, stores)
  expect(wants()).toBe(ALWAYS + 2)
  const scratch = newStores()
  await indexAnew(repository, second, scratch)
  expect(await snapshotOf(described, second, stores)).toBe(await snapshotOf(described, second, scratch))
})

test('a commit that is built on another that was built so goes on likewise', async () => {
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
  ['the note is gone', async (repository, commit, { blobs }) => blobs.remove(metBlobsKey(repository, commit))],
  ['the note is damaged', (...which) => changeNote(...which, () => 'no note')],
  ['the note is of another form', (...which) => changeNote(...which, () => JSON.stringify({ blobs: [[1]] }))],
  ['the note tells of wrong places', (...which) => changeNote(...which, text => text.replace(/\[0,\d+,/g, '[0,1,'))],
  ['the note tells of wrong packs', (...which) => changeNote(...which, text => text.replace(/\[0,/g, '[7,'))],
  ['a pack is gone', async (_, __, { blobs }) => removeAll(blobs, '/p/')],
  ['the store does not answer', async (_, __, { blobs }) => refuseReads(blobs)],
])('the snapshot is the same when %s', async (_, spoil) => {
  const repository = await newRepository()
  const first = await repository.commit(FILES)
  const second = await repository.commit({ 'docs/b.md': '# B\n\nChanged.\n' })
  const stores = newStores()
  await spoil(await indexAnew(repository, first, stores), first, stores)
  const described = await indexAnew(repository, second, stores)
  const scratch = newStores()
  await indexAnew(repository, second, scratch)
  expect(await snapshotOf(described, second, stores)).toBe(await snapshotOf(described, second, scratch))
})

async function changeNote(
  repository: HostRepository,
  commit: CommitSha,
  { blobs }: Stores,
  change: (text: string) => string,
): Promise<void> {
  const key = metBlobsKey(repository, commit)
  const note = gunzipSync((await blobs.read(key))?.bytes ?? '').toString()
  const changed = change(note)
  expect(changed).not.toBe(note)
  await blobs.remove(key)
  await blobs.create(key, gzipSync(changed))
}

async function removeAll(blobs: BlobStore, part: string): Promise<void> {
  for (const key of await blobs.list('')) if (key.includes(part)) await blobs.remove(key)
}

function refuseReads(blobs: BlobStore): void {
  const { read } = blobs
  Object.assign(blobs, {
    read: (key: string) => (/\/[bp]\//.test(key) ? Promise.reject(new Error('down')) : read(key)),
  })
}

test('a repository that is private now takes nothing from where it was public', async () => {
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
  expect(wants()).toBeGreaterThan(ALWAYS + 1)
  expect(read.filter(key => !key.startsWith('prv/'))).toEqual([])
  expect(await stores.blobs.list('pub/')).toEqual(before)
})
