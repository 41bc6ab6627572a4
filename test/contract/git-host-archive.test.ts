import { mkdtemp, readdir, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { BlobSelection, GitHost } from '#core/ports/git-host.ts'
import type { CommitSha } from '#core/snapshot/format.ts'
import { INDEXED_BLOBS } from '#indexer/select-blobs.ts'
import { type FakeGitHub, startFakeGitHub } from '#test/support/fake-github/server.ts'
import { createRepositories, type TestRepositories, type TestRepository } from '#test/support/repository.ts'
import { collect, describeAt, LIMITS, listAt, ok, resolveAt, textsAt } from './git-host-asking.ts'
import { openGitHubHostAt } from './git-host-drivers.ts'

let repositories: TestRepositories
let github: FakeGitHub
/** Reads without git. */
let host: GitHost
/** Reads with it. */
let withGit: GitHost
let temporary: string
let created = 0
const usualTemporary = process.env.TMPDIR

beforeAll(async () => {
  repositories = await createRepositories()
  temporary = await realpath(await mkdtemp(join(tmpdir(), 'mountglass-test-')))
  process.env.TMPDIR = temporary
  github = await startFakeGitHub({ root: repositories.root })
  github.limits.set('anonymous', 1_000_000)
})

beforeEach(async () => {
  github.reset()
  github.limits.set('anonymous', 1_000_000)
  host = await openGitHubHostAt(github, { hasGit: false })
  withGit = await openGitHubHostAt(github)
})

afterEach(async () => {
  expect(github.mistakes).toEqual([])
  await Promise.all([host.close(), withGit.close()])
  expect(await readdir(temporary)).toEqual([])
})

afterAll(async () => {
  await github.close()
  if (usualTemporary === undefined) delete process.env.TMPDIR
  else process.env.TMPDIR = usualTemporary
  await Promise.all([repositories.remove(), rm(temporary, { recursive: true })])
})

const create = (): Promise<TestRepository> => repositories.create('acme', `tools-${++created}`)

/** The tree, and the texts of what indexing reads, in order. */
async function read(repository: TestRepository, commit: CommitSha, at = host, selection: BlobSelection = INDEXED_BLOBS) {
  const reader = await at.open(await describeAt(at, repository), commit, LIMITS, selection)
  try {
    const entries = await collect(reader.entries())
    const uses = selection.usesOf(entries)
    const wanted = entries.filter((_, index) => uses[index] === 'bytes').map(({ oid }) => oid)
    const texts = (await collect(reader.read(wanted, selection.maxBytes))).map(({ oid, bytes }) => ({
      oid,
      text: bytes && Buffer.from(bytes).toString('latin1'),
    }))
    return { entries, texts, cut: reader.cut }
  } finally {
    await reader.close()
  }
}

const FILES = {
  '.gitattributes': 'skills/hidden export-ignore\n*.md eol=crlf\nversion.txt export-subst\nid.txt ident\n',
  'skills/hidden/SKILL.md': 'line\nline\n',
  'skills/one/SKILL.md': 'one\n',
  'skills/one/logo.png': new Uint8Array(3_000),
  'version.txt': '$Format:%H$\n',
  'id.txt': '$Id$\n',
  'bin/run': { mode: '100755' as const, content: '#!/bin/sh\n' },
  'CLAUDE.md': { link: 'skills/one/SKILL.md' },
  [`${'long/'.repeat(30)}${'name'.repeat(30)}.md`]: { link: 'x'.repeat(150) },
  [`${'deep/'.repeat(30)}${'name'.repeat(30)}.md`]: 'deep',
  'vendor/other': { submodule: '1'.repeat(40) },
  'data.csv': 'x'.repeat(2_000_000),
  '説明.md': 'ü\n',
  'bytes.txt': new Uint8Array([0, 255, 13, 10]),
}

test('what an archive leaves out or changes is read as it is: everything is as git gives it', async () => {
  const repository = await create()
  const commit = await repository.commit(FILES)
  const read1 = await read(repository, commit)
  expect(read1).toEqual(await read(repository, commit, withGit))
  expect(read1.texts.filter(({ text }) => text === null)).toHaveLength(1) // the large one
  expect(github.log.all.filter(({ host }) => host === 'codeload')).toHaveLength(1)
  // Three files that differ and one that is left out; the rest comes from the archive.
  expect(github.log.rest.filter(({ path }) => path.includes('/git/blobs/')).length).toBeLessThanOrEqual(6)
})

test('a tree that the host gives in part is asked for folder by folder', async () => {
  const repository = await create()
  const files = Object.fromEntries(
    Array.from({ length: 60 }, (_, index) => [`${index % 3}/${index % 6}/${index}.md`, `${index}`]),
  )
  const commit = await repository.commit(files)
  const shown = await github.world.repository('acme', repository.name)
  const whole = await listAt(host, repository, commit)
  Object.assign(shown ?? {}, { treeLimit: 25 })
  expect(await listAt(host, repository, commit)).toEqual(whole)
  expect(whole.entries).toHaveLength(60)
  expect(await listAt(host, repository, commit, { treeEntries: 10 })).toMatchObject({ cut: true, entries: { length: 10 } })
})

test('blobs are read as often as asked for, in order, and nothing but blobs of the tree', async () => {
  const repository = await create()
  const commit = await repository.commit({ a: 'a', b: 'bb' })
  const [a, b] = [await repository.oidAt(commit, 'a'), await repository.oidAt(commit, 'b')]
  const asked = [b, a, b, '0'.repeat(40), '../../etc/passwd', await repository.oidAt(commit, '')]
  expect(await textsAt(host, repository, commit, asked)).toEqual(['bb', 'a', 'bb', null, null, null])
  expect(await textsAt(host, repository, commit, [a, b], 1)).toEqual(['a', null])
})

test('a pinned commit counts on the default branch', async () => {
  const repository = await create()
  const first = await repository.commit({ a: 'a' })
  await repository.commit({ a: 'b' })
  expect(await resolveAt(host, repository, first)).toEqual(ok(first))
})

test.each([
  ['lies at another host', { host: 'api', path: /tarball/ }, { redirect: 'http://localhost:1/archive' }],
  ['is none', { host: 'codeload' }, { html: true }],
  ['breaks off', { host: 'codeload' }, { cutAfterBytes: 100 }],
  ['is refused', { host: 'codeload' }, { status: 404 }],
  ['moves again', { host: 'codeload' }, { redirect: 'http://127.0.0.1:1/archive' }],
  ['resets', { host: 'codeload' }, { reset: true }],
] as const)('an archive that %s fails the reading', async (_, match, fault) => {
  const repository = await create()
  const commit = await repository.commit({ 'a.md': 'a' })
  github.faults.add({ ...fault, match, times: 9 })
  await expect(read(repository, commit)).rejects.toMatchObject({ name: 'ReadError', code: 'index.fetch_failed' })
})

test('an archive without end ends with the time', async () => {
  const repository = await create()
  const commit = await repository.commit({ 'a.md': 'a' })
  github.faults.add({ stall: true, match: { host: 'codeload' } })
  const reader = await host.open(await describeAt(host, repository), commit, { ...LIMITS, seconds: 0.5 }, INDEXED_BLOBS)
  const oid = await repository.oidAt(commit, 'a.md')
  await expect(collect(reader.read([oid], 100))).rejects.toMatchObject({ code: 'index.timeout' })
  await reader.close()
})
