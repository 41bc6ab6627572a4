import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { CommitSha } from '#core/commit-sha.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import { createRawFiles } from '#infra/git/raw-file.ts'
import { openLiveView } from '#infra/git/view.ts'
import { countGitStreams } from '#test/support/git-streams.ts'
import type { TestRepository } from '#test/support/repository.ts'
import { until } from '#test/support/until.ts'
import { describeAt } from './git-host-asking.ts'
import { openLocalHostScene, TEST_READER } from './git-host-local-scene.ts'

const MIB = 1024 * 1024
/** So large that one file takes more than any share. */
const LARGEST_BYTES = 300 * MIB
const scene = await openLocalHostScene({ rawFileBytes: LARGEST_BYTES })
const { host, create, rawText } = scene
afterAll(scene.close)

const busy = expect.objectContaining({ name: 'RawFileError', reason: 'busy' })

/** Readers that leave together, or when they are evicted. */
function openReaders(described: HostRepository, commit: CommitSha) {
  const ends: AbortController[] = []
  let evicted = 0
  return {
    evicted: () => evicted,
    async read(path: string, client: string) {
      const end = new AbortController()
      ends.push(end)
      const evict = () => {
        evicted++
        end.abort()
      }
      const file = await host.readRawFile(described, commit, path, { client, evict, signal: end.signal })
      return (await file?.read({ firstByte: 0, lastByte: file.sizeBytes - 1 })) ?? null
    },
    leave: () => ends.map(end => end.abort()),
  }
}

/** Every client, where a proxy makes all of them one. */
const PROXY = 'proxy'

describe('slow readers', () => {
  let repository: TestRepository
  let described: HostRepository
  let commit: CommitSha

  beforeAll(async () => {
    repository = await create()
    const [large, larger] = [await repository.writeZeroBlob(100 * MIB), await repository.writeZeroBlob(200 * MIB)]
    const picture = new Uint8Array(MIB)
    commit = await repository.commit({
      'large.bin': { blob: large },
      'larger.bin': { blob: larger },
      'small.md': 'small',
      'picture.png': picture,
    })
    described = await describeAt(host, repository)
  })

  test('of large files hold no more bytes than the bound, take none from smaller files, and give them back', async () => {
    const stalled = openReaders(described, commit)
    for (const client of ['a', 'b', 'c', 'd']) expect(await stalled.read('large.bin', client)).not.toBeNull()
    await expect(stalled.read('large.bin', 'e')).rejects.toEqual(busy)
    expect(await stalled.read('picture.png', 'e')).not.toBeNull()
    expect(await rawText(described, commit, 'small.md')).toBe('small')
    stalled.leave()
    await until(() => countGitStreams() === 0)
    const again = openReaders(described, commit)
    expect(await again.read('large.bin', 'a'), 'what they held is given back').not.toBeNull()
    expect(stalled.evicted()).toBe(0)
    again.leave()
    await until(() => countGitStreams() === 0)
  })

  test('of one repository make room for those of another one, even if a proxy makes all clients one', async () => {
    const other = await create()
    const otherCommit = await other.commit({ 'large.bin': { blob: await other.writeZeroBlob(100 * MIB) } })
    const stalled = openReaders(described, commit)
    for (let number = 0; number < 4; number++) await stalled.read('large.bin', PROXY)
    const elsewhere = openReaders(await describeAt(host, other), otherCommit)
    for (let number = 0; number < 2; number++) expect(await elsewhere.read('large.bin', PROXY)).not.toBeNull()
    expect(stalled.evicted()).toBe(2)
    await expect(elsewhere.read('large.bin', PROXY), 'no more than the other one').rejects.toEqual(busy)
    await expect(stalled.read('large.bin', PROXY)).rejects.toEqual(busy)
    stalled.leave()
    elsewhere.leave()
    await until(() => countGitStreams() === 0)
  })

  test('that leave end git at once, even before the first byte', async () => {
    const far = openReaders(described, commit)
    const huge = await create()
    const at = await huge.commit({ 'huge.bin': { blob: await huge.writeZeroBlob(LARGEST_BYTES) } })
    const left = new AbortController()
    const file = await host.readRawFile(await describeAt(host, huge), at, 'huge.bin', { ...TEST_READER, signal: left.signal })
    const lastByte = (file?.sizeBytes ?? 0) - 1
    const reading = file?.read({ firstByte: lastByte, lastByte })
    const failed = expect(reading).rejects.toThrow()
    await until(() => countGitStreams() > 0)
    left.abort()
    await until(() => countGitStreams() === 0)
    await failed
    far.leave()
  })

  test('of a file that is larger than any share leave room for the files of pages', async () => {
    const huge = await create()
    const blob = await huge.writeZeroBlob(LARGEST_BYTES)
    const at = await huge.commit({ 'huge.bin': { blob }, 'page.md': 'a page', 'full.md': 'x'.repeat(64 * 1024) })
    const place = await describeAt(host, huge)
    const stalled = openReaders(place, at)
    expect(await stalled.read('huge.bin', 'test')).not.toBeNull()
    await expect(stalled.read('huge.bin', 'test')).rejects.toEqual(busy)
    expect(await rawText(place, at, 'page.md')).toBe('a page')
    expect(await rawText(place, at, 'full.md')).toHaveLength(64 * 1024)
    stalled.leave()
    await until(() => countGitStreams() === 0)
  })

  describe('make room for others', () => {
    /** Readers of one repository, which holds two of them, under a time that the test sets. */
    function openTimed() {
      let now = 0
      const rawFiles = createRawFiles({ now: () => now, maxBytes: LARGEST_BYTES })
      const evicted: string[] = []
      const ends: (() => void)[] = []
      onTestFinished(async () => {
        for (const end of ends) end()
        await rawFiles.close()
        await until(() => countGitStreams() === 0)
      })
      /** Takes 64 KiB, or more, in the pieces in which they come; `false` at the end. */
      type Take = (bytes?: number) => Promise<boolean>
      async function read(client: string, path = 'larger.bin', name = 'one'): Promise<Take> {
        const ended = new AbortController()
        const evict = () => {
          evicted.push(client)
          ended.abort()
        }
        ends.push(() => ended.abort())
        const openView = async () => openLiveView(repository.gitDir)
        const file = await rawFiles.open({ openView, repository: name, commit, path, client, signal: ended.signal, evict })
        const bytes = await file?.read({ firstByte: 0, lastByte: file.sizeBytes - 1 })
        const pieces = bytes?.[Symbol.asyncIterator]()
        return async (bytes = 64 * 1024) => {
          for (let takenBytes = 0; takenBytes < bytes; ) {
            const piece = await pieces?.next()
            if (piece?.done !== false) return false
            takenBytes += piece.value.length
          }
          return true
        }
      }
      return {
        evicted,
        read,
        advance: (seconds: number) => {
          now += seconds * 1000
        },
      }
    }

    test('when they stop reading, after the service waited for them for a while', async () => {
      const { read, advance, evicted } = openTimed()
      await read('first')
      advance(5)
      await read('second')
      advance(4)
      await expect(read('too early')).rejects.toEqual(busy)
      advance(1)
      await read('third')
      expect(evicted).toEqual(['first'])
      await expect(read('fourth')).rejects.toEqual(busy)
      advance(5)
      await read('fourth')
      expect(evicted).toEqual(['first', 'second'])
    })

    test('the slowest first, even if it was fast at first', async () => {
      const { read, advance, evicted } = openTimed()
      const [steady, halted] = [await read('steady'), await read('halted')]
      for (let piece = 0; piece < 200; piece++) await halted()
      for (let turn = 0; turn < 8; turn++) {
        advance(8)
        await steady()
      }
      await read('third')
      expect(evicted).toEqual(['halted'])
    })

    test('but not readers that read fast', async () => {
      const { read, advance, evicted } = openTimed()
      const [fast, slow] = [await read('fast'), await read('slow')]
      for (let second = 0; second < 40; second++) {
        advance(1)
        await fast(MIB)
        if (second % 10 === 0) await slow()
      }
      await read('third')
      expect(evicted).toEqual(['slow'])
      await expect(read('fourth')).rejects.toEqual(busy)
    })

    test('also at a pace at which their file would take an hour', async () => {
      const { read, advance, evicted } = openTimed()
      const [lasting, fast] = [await read('lasting'), await read('fast')]
      for (let second = 0; second < 20; second++) {
        advance(1)
        await lasting(128 * 1024)
        await fast(MIB)
      }
      await read('third')
      expect(evicted).toEqual(['lasting'])
    })

    test('but not a slow reader for newcomers of another repository, however often these come', async () => {
      const { read, advance, evicted } = openTimed()
      const slow = await read('slow', 'larger.bin', 'other')
      for (let turn = 0; turn < 6; turn++) {
        for (let number = 0; number < 3; number++) await read(`newcomer ${turn}`).catch(error => expect(error).toEqual(busy))
        advance(10)
        await slow()
      }
      expect(evicted).not.toContain('slow')
      expect(evicted.length).toBeGreaterThan(0)
    })

    test('when they read all of a file but the buffered rest', async () => {
      const { read, advance, evicted } = openTimed()
      for (let number = 0; number < 128; number++) {
        const take = await read(`reader ${number}`, 'picture.png')
        while (await take());
      }
      await expect(read('too early', 'picture.png')).rejects.toEqual(busy)
      advance(10)
      await read('newcomer', 'picture.png')
      expect(evicted.length).toBeGreaterThan(0)
    })
  })

  test('in a crowd wait in turn; too many of one repository are refused, and those of another one are not', async () => {
    const rawFiles = createRawFiles()
    const { promise: opening, resolve: openAll } = Promise.withResolvers<void>()
    let opened = 0
    const ask = (name: string) =>
      rawFiles.open({
        openView: async () => {
          opened++
          await opening
          return openLiveView(repository.gitDir)
        },
        repository: name,
        commit,
        path: 'small.md',
        ...TEST_READER,
        signal: new AbortController().signal,
      })
    const crowd = Array.from({ length: 4 + 64 }, () => ask('one'))
    await expect(ask('one')).rejects.toEqual(busy)
    const other = ask('two')
    expect(opened).toBe(4 + 1)
    openAll()
    for (const file of await Promise.all([...crowd, other])) expect(file).toMatchObject({ sizeBytes: 5, isVerified: true })
    expect(opened, 'those that waited took the processes of the others').toBe(4 + 1)
    await rawFiles.close()
  })
})
