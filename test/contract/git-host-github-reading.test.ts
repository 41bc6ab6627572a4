import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { CommitSha } from '#core/commit-sha.ts'
import type { BlobSelection, GitHost, TreeEntry } from '#core/ports/git-host.ts'
import { INDEXED_BLOBS } from '#indexer/pipeline/read-tree.ts'
import type { TestRepository } from '#test/support/repository.ts'
import { until } from '#test/support/until.ts'
import { collect, describeAt, LIMITS, readSelected } from './git-host-asking.ts'
import { openGitHubHostScene } from './git-host-github-scene.ts'

const scene = await openGitHubHostScene()
const { github, temporary, create, open, shownAs } = scene
let host: GitHost

beforeEach(async () => {
  host = await scene.begin()
})
afterEach(scene.end)
afterAll(scene.close)

describe('reading', () => {
  /** Reads as indexing does, and gives texts by their paths. */
  async function read(repository: TestRepository, commit: CommitSha, selection = INDEXED_BLOBS, at = host) {
    const { entries, blobs } = await readSelected(at, repository, commit, selection)
    const texts = new Map(blobs.map(({ oid, bytes }) => [oid, bytes && Buffer.from(bytes).toString()]))
    return { entries, textOf: (path: string) => texts.get(entries.find(entry => entry.path === path)?.oid ?? '') ?? null }
  }

  const sizesOf = (entries: readonly TreeEntry[]) => Object.fromEntries(entries.map(({ path, sizeBytes }) => [path, sizeBytes]))

  test('takes one request of git, and one of the API where a file is listed that is too large to read', async () => {
    const repository = await create()
    const picture = new Uint8Array(200_000).fill(1)
    const large = 'x'.repeat(2_000_000)
    const commit = await repository.commit({ 'SKILL.md': 'skill', 'docs/a.md': 'a', 'logo.png': picture, 'data.csv': large })
    await describeAt(host, repository)
    github.log.clear()
    const { entries, textOf } = await read(repository, commit)
    expect(sizesOf(entries)).toEqual({ 'SKILL.md': 5, 'data.csv': 2_000_000, 'docs/a.md': 1, 'logo.png': 200_000 })
    expect([textOf('SKILL.md'), textOf('docs/a.md'), textOf('data.csv')]).toEqual(['skill', 'a', null])
    expect(github.log.rest).toHaveLength(1)
    expect(github.log.git.map(({ git }) => [git?.command, git?.wants, git?.depth, git?.filter])).toEqual([['fetch', 1, 1, SMALL]])
  })

  test('of a larger repository fetches the trees and then the wanted blobs', async () => {
    const repository = await create()
    const pictures = Array.from({ length: 5 }, (_, index) => [`art/${index}.png`, randomBytes(900_000)] as const)
    const commit = await repository.commit({ 'skills/one/SKILL.md': 'skill', 'docs/a.md': 'a', ...Object.fromEntries(pictures) })
    await describeAt(host, repository)
    github.log.clear()
    const { entries, textOf } = await read(repository, commit)
    expect([textOf('docs/a.md'), sizesOf(entries)['art/4.png']]).toEqual(['a', 900_000])
    expect(github.log.rest).toHaveLength(1)
    expect(gitFilters()).toEqual([SMALL, 'blob:none', null])
    expect(await readdir(temporary)).toEqual([])
  })

  test('of a few texts needs no request to the API', async () => {
    const repository = await create()
    const commit = await repository.commit({ 'SKILL.md': 'skill', 'docs/a.md': 'a' })
    await describeAt(host, repository)
    github.log.clear()
    const { entries, textOf } = await read(repository, commit)
    expect(sizesOf(entries)).toEqual({ 'SKILL.md': 5, 'docs/a.md': 1 })
    expect(textOf('docs/a.md')).toBe('a')
    expect(github.log.rest).toEqual([])
  })

  const manyTexts = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`docs/${index}.md`, `text ${index}`]))
  const gitFilters = () => github.log.git.map(({ git }) => git?.filter)
  const SMALL = `blob:limit=${INDEXED_BLOBS.maxBytes + 1}`
  /** The selection for a next commit: some of its blobs may be held already, so the trees are fetched first and tell what is wanted. */
  const NEXT: BlobSelection = { ...INDEXED_BLOBS, heldAmong: async () => new Set() }

  test('of texts only fetches all of them without asking the API for their sizes', async () => {
    const repository = await create()
    const commit = await repository.commit(manyTexts)
    await describeAt(host, repository)
    github.log.clear()
    const { entries, textOf } = await read(repository, commit)
    expect([sizesOf(entries)['docs/0.md'], textOf('docs/99.md')]).toEqual([6, 'text 99'])
    expect([github.log.rest, gitFilters()]).toEqual([[], [SMALL]])
  })

  test('of texts only, some of them too large, asks for the sizes of those and fetches none of them', async () => {
    const repository = await create()
    const large = { 'a.csv': 'x'.repeat(2_000_000), 'limit.csv': 'x'.repeat(INDEXED_BLOBS.maxBytes) }
    const commit = await repository.commit({ ...manyTexts, ...large })
    await describeAt(host, repository)
    github.log.clear()
    const { entries, textOf } = await read(repository, commit)
    expect(sizesOf(entries)).toMatchObject({ 'a.csv': 2_000_000, 'limit.csv': INDEXED_BLOBS.maxBytes, 'docs/9.md': 6 })
    expect([textOf('a.csv'), textOf('limit.csv')?.length]).toEqual([null, INDEXED_BLOBS.maxBytes])
    expect([github.log.rest.length, gitFilters()]).toEqual([1, [SMALL]])
  })

  test('of texts only, some of them too large, continues if the API does not answer', async () => {
    const repository = await create()
    const commit = await repository.commit({ ...manyTexts, 'a.csv': 'x'.repeat(2_000_000) })
    await describeAt(host, repository)
    github.limits.exhaust(null)
    const { entries, textOf } = await read(repository, commit)
    expect([sizesOf(entries)['a.csv'], textOf('a.csv'), textOf('docs/9.md')]).toEqual([2_000_000, null, 'text 9'])
  })

  test('of texts only that ends during the fetch leaves nothing on the disk', async () => {
    const repository = await create()
    const commit = await repository.commit(manyTexts)
    const reader = await host.open(await describeAt(host, repository), commit, LIMITS, NEXT)
    github.log.clear()
    github.faults.add({ stall: true, times: 9, match: { host: 'web' } })
    const ended = collect(reader.entries()).catch(error => error)
    await until(() => gitFilters().length > 0)
    expect(gitFilters()).toEqual([SMALL])
    await reader.close()
    expect(await readdir(temporary)).toEqual([])
    expect(await ended).toMatchObject({ name: 'ReadError' })
  })

  const manyFiles = () => ({
    'SKILL.md': 'skill',
    'logo.png': new Uint8Array(2_000),
    ...Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`docs/${index}.md`, `text ${index}`])),
  })
  const someChanges = Object.fromEntries(Array.from({ length: 5 }, (_, index) => [`docs/${index}.md`, `changed ${index}`]))

  test('leaves nothing on the disk, whether it succeeds or fails', async () => {
    const repository = await create()
    const commit = await repository.commit(manyFiles())
    expect((await read(repository, commit)).entries).toHaveLength(1_002)
    await expect(read(repository, 'f'.repeat(40) as CommitSha)).rejects.toMatchObject({ code: 'index.fetch_failed' })
    expect(await readdir(temporary)).toEqual([])
  })

  test('of the next commit fetches the changed blobs without the API, and none that the caller has', async () => {
    const repository = await create()
    const first = await read(repository, await repository.commit(manyFiles()))
    const known = new Set(first.entries.map(({ oid }) => oid))
    const next = await repository.commit(someChanges)
    github.log.clear()
    const selection: BlobSelection = {
      ...NEXT,
      usesOf: entries => entries.map(({ oid }) => (known.has(oid) ? 'nothing' : 'bytes')),
    }
    const { entries, textOf } = await read(repository, next, selection, await open())
    expect(entries).toHaveLength(1_002)
    expect(textOf('docs/4.md')).toBe('changed 4')
    expect(github.log.rest.map(({ path }) => path)).toEqual([`/repos/acme/${repository.name}`])
    expect(github.log.git.map(({ git }) => git?.wants)).toEqual([0, 1, 5])
    expect(github.log.bytesOut()).toBeLessThan(60_000)
  })

  test('uses git, so files that archives leave out or change are read as they are', async () => {
    const repository = await create()
    const commit = await repository.commit({
      '.gitattributes': 'skills/hidden export-ignore\n*.md eol=crlf\nversion.txt export-subst\n',
      'skills/hidden/SKILL.md': 'line\nline\n',
      'version.txt': '$Format:%H$\n',
    })
    const { textOf } = await read(repository, commit)
    expect(textOf('skills/hidden/SKILL.md')).toBe('line\nline\n')
    expect(textOf('version.txt')).toBe('$Format:%H$\n')
  })

  test('finds a repository that was renamed after its look-up', async () => {
    const repository = await create()
    const commit = await repository.commit({ a: 'a' })
    const before = await describeAt(host, repository)
    github.world.rename(await shownAs(repository), { name: `renamed-${repository.name}` })
    const reader = await host.open(before, commit, LIMITS)
    expect(await collect(reader.entries())).toMatchObject([{ path: 'a', sizeBytes: 1 }])
    await reader.close()
  })

  test('returns links as links and submodules as submodules, and enters neither', async () => {
    const repository = await create()
    const commit = await repository.commit({
      'SKILL.md': 'skill',
      'CLAUDE.md': { link: 'SKILL.md' },
      outside: { link: '../../etc/passwd' },
      'vendor/other': { submodule: '1'.repeat(40) },
    })
    const { entries, textOf } = await read(repository, commit)
    expect(entries.map(({ path, mode }) => [path, mode])).toEqual([
      ['CLAUDE.md', '120000'],
      ['SKILL.md', '100644'],
      ['outside', '120000'],
      ['vendor/other', '160000'],
    ])
    expect(textOf('CLAUDE.md')).toBe('SKILL.md')
    expect(textOf('outside')).toBe('../../etc/passwd')
  })

  test('knows all sizes even if the API truncates the tree', async () => {
    const repository = await create()
    const commit = await repository.commit({
      ...Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`docs/${index}.md`, `${index}`])),
      'skills/one/SKILL.md': 'one',
      'skills/one/a.png': new Uint8Array(11),
      'skills/two/b.png': new Uint8Array(22),
      'zoo/c.png': new Uint8Array(33),
    })
    await shownAs(repository, { treeLimit: 20 })
    const { entries } = await read(repository, commit)
    expect(sizesOf(entries)).toMatchObject({ 'skills/one/a.png': 11, 'skills/two/b.png': 22, 'zoo/c.png': 33, 'docs/49.md': 2 })
    expect(github.log.rest.filter(({ path }) => path.includes('/git/trees/')).length).toBeLessThanOrEqual(5)
  })

  test('takes the sizes from the blobs if the API does not answer', async () => {
    const repository = await create()
    const commit = await repository.commit({ 'SKILL.md': 'skill', 'logo.png': new Uint8Array(2_000) })
    await describeAt(host, repository)
    github.limits.exhaust(null)
    expect(sizesOf((await read(repository, commit)).entries)).toEqual({ 'SKILL.md': 5, 'logo.png': 2_000 })
  })

  test('of more files than can be named fetches the small ones of the commit', async () => {
    const repository = await create()
    const files = Object.fromEntries(
      Array.from({ length: 20_001 }, (_, index) => [`${index % 100}/${index}.md`, `text ${index}`]),
    )
    const commit = await repository.commit({ ...files, 'large.md': 'x'.repeat(2_000_000) })
    await describeAt(host, repository)
    github.log.clear()
    const { entries, textOf } = await read(repository, commit, NEXT)
    expect(entries).toHaveLength(20_002)
    expect(textOf('0/20000.md')).toBe('text 20000')
    expect(sizesOf(entries)['large.md']).toBe(2_000_000)
    expect(textOf('large.md')).toBeNull()
    expect(github.log.rest).toHaveLength(1)
    expect(gitFilters()).toEqual(['blob:none', SMALL])
  })

  test.each([
    ['resets', { reset: true }, 'ECONNRESET'],
    ['answers HTML', { html: true }, 'the host answers 200'],
    ['sends away', { redirect: 'http://127.0.0.1:1/acme/tools.git/git-upload-pack' }, 'the host answers 302'],
    ['breaks off', { cutAfterBytes: 40 }, 'aborted'],
    ['refuses', { status: 403, body: 'Access to this repository has been disabled by GitHub staff.\n' }, 'the host answers 403'],
  ] as const)('of a host that %s fails with that cause, without the token in the message', async (_, fault, reason) => {
    const repository = await create()
    const commit = await repository.commit({ a: 'a' })
    const secret = github.personalToken(github.user('reader'), [])
    const at = await open({ token: secret })
    const described = await describeAt(at, repository)
    github.faults.add({ ...fault, times: 9, match: { host: 'web' } })
    const error = await at.open(described, commit, LIMITS).then(
      () => null,
      (thrown: unknown) => thrown,
    )
    expect(error).toMatchObject({ name: 'ReadError', code: 'index.fetch_failed' })
    const said = textsOf(error)
    expect(said).toContain(reason)
    for (const form of [secret, Buffer.from(`x-access-token:${secret}`).toString('base64')]) expect(said).not.toContain(form)
  })

  test('of a host that sends nothing ends with its timeout', async () => {
    const repository = await create()
    const commit = await repository.commit({ a: 'a' })
    const described = await describeAt(host, repository)
    github.faults.add({ stall: true, times: 9, match: { host: 'web' } })
    await expect(host.open(described, commit, { ...LIMITS, seconds: 0.5 })).rejects.toMatchObject({ code: 'index.timeout' })
  })
})

/** Everything that an error says, with its causes. */
function textsOf(error: unknown): string {
  if (!(error instanceof Error)) return ''
  return `${error.message}\n${error.stack ?? ''}\n${JSON.stringify(error)}\n${textsOf(error.cause)}`
}
