import { readdir } from 'node:fs/promises'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import type { GitHost } from '#core/ports/git-host.ts'
import { INDEXED_BLOBS } from '#indexer/pipeline/select-blobs.ts'
import { serveRepositories } from '#test/support/served-repositories.ts'
import { collect, describeAt, LIMITS, listAt, ok, readSelected, resolveAt, textsAt } from './git-host-asking.ts'
import { openGitHubHostAt } from './git-host-drivers.ts'

const served = await serveRepositories()
const { github, temporary, create } = served
/** Reads without git. */
let host: GitHost
/** Reads with it. */
let withGit: GitHost

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

afterAll(served.close)

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
  const read = await readSelected(host, repository, commit)
  expect(read).toEqual(await readSelected(withGit, repository, commit))
  expect(read.blobs.filter(({ bytes }) => bytes === null)).toHaveLength(1) // the large one
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
  const whole = await listAt(host, repository, commit)
  await github.shown('acme', repository.name, { treeLimit: 25 })
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
  await expect(readSelected(host, repository, commit)).rejects.toMatchObject({ name: 'ReadError', code: 'index.fetch_failed' })
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
