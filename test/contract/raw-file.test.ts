import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CommitSha } from '#core/commit-sha.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import { FORGED_KINDS, forgeObject, storeForgedPack } from '#test/support/forged-packs.ts'
import type { TestRepository } from '#test/support/repository.ts'
import { mostStartsATurn } from '#test/support/turn-counter.ts'
import { describeAt } from './git-host-asking.ts'
import { BASE_URL, openLocalHostScene, TEST_READER } from './git-host-local-scene.ts'

const scene = await openLocalHostScene()
const { host, create, rawText } = scene
afterAll(scene.close)

const LARGE_BYTES = 3_000_000
const damaged = expect.objectContaining({ name: 'RawFileError', reason: 'damaged' })

describe('a raw file', () => {
  let repository: TestRepository
  let described: HostRepository
  let commit: CommitSha

  beforeAll(async () => {
    repository = await create()
    commit = await repository.commit({
      'a b/%5B*.md': 'text',
      'large.bin': new Uint8Array(LARGE_BYTES).fill(7),
      empty: '',
      'link.md': { link: 'a b/%5B*.md' },
      module: { submodule: '1'.repeat(40) },
    })
    described = await describeAt(host, repository)
  })

  test.each([
    ['a b/%5B*.md', 4],
    ['large.bin', LARGE_BYTES],
    ['empty', 0],
  ] as const)('is given with its size and all of its bytes: %s', async (path, size) => {
    const { signal } = new AbortController()
    const file = await host.readRawFile(described, commit.toUpperCase(), path, { ...TEST_READER, signal })
    expect(file).toMatchObject({ sizeBytes: size, oid: await repository.oidAt(commit, path), isVerified: size < LARGE_BYTES })
    expect(await rawText(described, commit, path)).toHaveLength(size)
  })

  test('is the text of a link', async () => {
    expect(await rawText(described, commit, 'link.md')).toBe('a b/%5B*.md')
  })

  test.each([
    ['large.bin', 0, 0],
    ['large.bin', 1_000_000, 2_500_000],
    ['large.bin', LARGE_BYTES - 1, LARGE_BYTES - 1],
    ['a b/%5B*.md', 1, 2],
  ] as const)('is given in part: %s from %i to %i', async (path, firstByte, lastByte) => {
    const whole = (await rawText(described, commit, path)) ?? ''
    const sent = new AbortController()
    const file = await host.readRawFile(described, commit, path, { ...TEST_READER, signal: sent.signal })
    const part = (await file?.read({ firstByte, lastByte })) as AsyncIterable<Uint8Array>
    expect(await text(part)).toBe(whole.slice(firstByte, lastByte + 1))
    sent.abort()
  })

  test.each([
    '',
    '/',
    'a b',
    'a b/',
    'module',
    'nope',
    '../a',
    'a b/../empty',
    ':(glob)**',
    'a b/*',
    '/empty',
    'empty/',
    'empty/a',
    '--help',
    'a\0b',
  ])('is not at %j', async path => {
    expect(await rawText(described, commit, path)).toBeNull()
  })

  test('is of a commit that a ref leads to, given in full', async () => {
    const hidden = await repository.commit({ 'secret.md': 'secret' }, { branch: null })
    for (const other of [hidden, 'main', commit.slice(0, 12), '', `${commit}^{tree}`, '0'.repeat(40)]) {
      expect(await rawText(described, other, other === hidden ? 'secret.md' : 'empty')).toBeNull()
    }
  })

  test('is read at a commit that was pushed after another file was read', async () => {
    const moved = await create()
    const first = await moved.commit({ 'a.md': 'before' })
    expect(await rawText(await describeAt(host, moved), first, 'a.md')).toBe('before')
    const second = await moved.commit({ 'a.md': 'after' })
    await moved.git('repack', '-adq')
    expect(await rawText(await describeAt(host, moved), second, 'a.md')).toBe('after')
    expect(await rawText(await describeAt(host, moved), first, 'a.md')).toBe('before')
  })

  test('starts one git in a turn of the event loop, for any number of simultaneous readers', async () => {
    const asked = await create()
    const at = await asked.commit({ 'a.md': 'a' })
    const place = await describeAt(host, asked)
    const paths = ['a.md', 'nope', 'a.md', 'nope']
    const read = () => Promise.all(paths.map(path => rawText(place, at, path)))
    expect(await mostStartsATurn(async () => expect(await read()).toEqual(['a', null, 'a', null]))).toBe(1)
  })

  test('has its address at this service', () => {
    expect(host.urls.raw(described, commit, 'a b/%5B*.md')).toBe(
      `${BASE_URL}/git/local/acme/${repository.name}/raw/${commit}/a%20b/%255B*.md`,
    )
  })
})

describe('damage is reported as damage', () => {
  test('of a blob that is missing, is no object, or is another one', async () => {
    const repository = await create()
    const commit = await repository.commit({ gone: 'gone', damaged: 'd', other: 'e', good: 'good' })
    await repository.dropObject(await repository.oidAt(commit, 'gone'))
    await repository.corruptObject(await repository.oidAt(commit, 'damaged'))
    await repository.corruptObject(await repository.oidAt(commit, 'other'), 'not e')
    const described = await describeAt(host, repository)
    for (const path of ['gone', 'damaged', 'other']) await expect(rawText(described, commit, path)).rejects.toEqual(damaged)
    expect(await rawText(described, commit, 'good')).toBe('good')
  })

  test.each(FORGED_KINDS.filter(kind => kind !== 'commit'))(
    'of a %s that the index of a pack lists under a foreign id',
    async kind => {
      const repository = await create()
      const commit = await repository.commit({ 'folder/file.md': 'told' })
      const described = await describeAt(host, repository)
      await forgeObject(repository, commit, kind)
      expect(await repository.git('cat-file', 'blob', `${commit}:folder/file.md`), 'git believes the index').toBe('forged')
      await expect(rawText(described, commit, 'folder/file.md')).rejects.toEqual(damaged)
    },
  )

  test('of a large blob before its last byte, for any requested part', async () => {
    const repository = await create()
    const commit = await repository.commit({ 'large.bin': new Uint8Array(LARGE_BYTES).fill(7) })
    const oid = await repository.oidAt(commit, 'large.bin')
    await storeForgedPack(repository.gitDir, [{ oid, type: 'blob', body: new Uint8Array(LARGE_BYTES).fill(8) }])
    const described = await describeAt(host, repository)
    for (const [firstByte, lastByte] of [
      [0, LARGE_BYTES - 1],
      [1_000_000, 2_000_000],
      [0, 0],
    ] as const) {
      const sent = new AbortController()
      const file = await host.readRawFile(described, commit, 'large.bin', { ...TEST_READER, signal: sent.signal })
      let given = 0
      const reading = (async () => {
        for await (const piece of (await file?.read({ firstByte, lastByte })) ?? []) given += piece.length
      })()
      await expect(reading).rejects.toEqual(damaged)
      expect(given).toBeLessThan(lastByte - firstByte + 1)
      sent.abort()
    }
  })

  test("of a small blob that is stored as a delta of a huge one, since git's memory is limited", async () => {
    const repository = await create()
    const blob = await repository.writeChangeOfZeroBlob(128 * 1024 * 1024)
    const commit = await repository.commit({ 'a.md': { blob } })
    await expect(rawText(await describeAt(host, repository), commit, 'a.md')).rejects.toEqual(damaged)
  })
})
