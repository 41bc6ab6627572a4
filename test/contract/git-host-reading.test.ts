import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CommitSha } from '#core/commit-sha.ts'
import { type GitHost, ReadError } from '#core/ports/git-host.ts'
import type { TestRepository } from '#test/support/repository.ts'
import { collect, listAt, noProcesses, readAt, textsAt } from './git-host-asking.ts'
import { type DriverScene, GIT_HOST_DRIVERS, openDriverScene } from './git-host-drivers.ts'

const MIB = 1024 * 1024

describe.each(GIT_HOST_DRIVERS)('reading from the git host $segment', driver => {
  let scene: DriverScene
  let host: GitHost
  const create = () => scene.create()

  beforeAll(async () => {
    scene = await openDriverScene(driver)
    host = scene.host
  })
  afterAll(() => scene.close())

  test('a commit is read with its date', async () => {
    const repository = await create()
    const commit = await repository.commit({ a: '1' })
    const seconds = Number(await repository.git('show', '-s', '--format=%ct', commit))
    const date = new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')
    expect(await readAt(host, repository, commit, async reader => reader.committedAt)).toBe(date)
  })

  describe('blobs', () => {
    test('are read byte for byte, in the order asked for, as often as asked for', async () => {
      const repository = await create()
      const contents = [
        new Uint8Array([0, 1, 2, 255, 10, 13]),
        Buffer.from('\ufefftext\r\n'),
        new Uint8Array(0),
        new Uint8Array(300_000).fill(10),
      ]
      const commit = await repository.commit(Object.fromEntries(contents.map((content, index) => [`f${index}`, content])))
      const oids = await Promise.all(contents.map((_, index) => repository.oidAt(commit, `f${index}`)))
      const order = [3, 0, 0, 2, 1, 3]
      const asked = order.map(index => oids[index] as string)
      const read = await readAt(host, repository, commit, reader => collect(reader.read(asked, MIB)))
      expect(read.map(one => one.oid)).toEqual(asked)
      expect(read.map(one => Buffer.from(one.bytes ?? []))).toEqual(order.map(index => Buffer.from(contents[index] ?? [])))
    })

    test('are read in thousands, also by two readings at once', async () => {
      const repository = await create()
      const texts = Array.from({ length: 3_000 }, (_, index) => `text ${index}\n`)
      const commit = await repository.commit(Object.fromEntries(texts.map((text, index) => [`f${index}`, text])))
      await readAt(host, repository, commit, async reader => {
        const entries = await collect(reader.entries())
        const oids = entries.map(entry => entry.oid)
        const expected = entries.map(entry => `text ${entry.path?.slice(1)}\n`)
        const readings = await Promise.all([collect(reader.read(oids, 100)), collect(reader.read(oids, 100))])
        for (const reading of readings) expect(reading.map(one => Buffer.from(one.bytes ?? []).toString())).toEqual(expected)
      })
    })

    test('larger than asked for are left out', async () => {
      const repository = await create()
      const commit = await repository.commit({ a: '12345', b: '123456' })
      const oids = [await repository.oidAt(commit, 'b'), await repository.oidAt(commit, 'a')]
      expect(await textsAt(host, repository, commit, oids, 5)).toEqual([null, '12345'])
    })

    test('of a gibibyte have their size and are never read into memory', async () => {
      const repository = await create()
      const blob = await repository.writeZeroBlob(1024 * MIB)
      const commit = await repository.commit({ 'a.md': 'a', 'zeros.bin': { blob } })
      const before = process.memoryUsage().rss
      const { entries } = await listAt(host, repository, commit)
      expect(entries.map(entry => entry.sizeBytes)).toEqual([1, 1024 * MIB])
      expect(
        await textsAt(
          host,
          repository,
          commit,
          entries.map(entry => entry.oid),
        ),
      ).toEqual(['a', null])
      expect(process.memoryUsage().rss - before).toBeLessThan(100 * MIB)
    })

    test("that are small, but stored as a delta of a huge one, have no bytes, since git's memory is limited", async () => {
      const repository = await create()
      const small = await repository.writeChangeOfZeroBlob(64 * MIB)
      const huge = await create()
      const refused = await huge.writeChangeOfZeroBlob(320 * MIB)
      expect(refused).toBe(small)
      const texts = async (one: TestRepository) => {
        const commit = await one.commit({ 'a.md': 'a', 'b.md': { blob: small }, 'c.md': 'c' })
        const { entries } = await listAt(host, one, commit)
        expect(entries.map(entry => entry.sizeBytes)).toEqual([1, 100, 1])
        const oids = entries.map(entry => entry.oid)
        return textsAt(host, one, commit, oids)
      }
      expect(await texts(repository)).toEqual(['a', '\0'.repeat(100), 'c'])
      // A host far away has unpacked it already.
      expect(await texts(huge)).toEqual(['a', host.isRemote ? '\0'.repeat(100) : null, 'c'])
    })

    test('that are missing have no size and no bytes, and the rest is read', async () => {
      const repository = await create()
      const commit = await repository.commit({ a: 'a', b: 'b', c: 'c' })
      await repository.dropObject(await repository.oidAt(commit, 'b'))
      const { entries } = await listAt(host, repository, commit)
      expect(entries.map(entry => entry.sizeBytes)).toEqual([1, null, 1])
      expect(
        await textsAt(
          host,
          repository,
          commit,
          entries.map(entry => entry.oid),
        ),
      ).toEqual(['a', null, 'c'])
    })

    test('that are damaged or stored under a false id have no bytes, and the rest is read in order; a remote host does not send them', async () => {
      const repository = await create()
      const random = Buffer.from(Array.from({ length: 200_000 }, (_, index) => (index * index * 31 + (index >> 3)) & 0xff))
      const commit = await repository.commit({ a: 'a', b: 'b', c: 'c', d: random, e: 'e', f: 'f' })
      await repository.corruptObject(await repository.oidAt(commit, 'b'))
      await repository.corruptObject(await repository.oidAt(commit, 'c'), 'not c')
      await repository.corruptObject(await repository.oidAt(commit, 'e'), 'e'.repeat(100_000))
      if (host.isRemote) {
        const oids = [await repository.oidAt(commit, 'a'), await repository.oidAt(commit, 'b')]
        return expectReadError(textsAt(host, repository, commit, oids), 'index.fetch_failed')
      }
      const { entries } = await listAt(host, repository, commit)
      const oids = [...entries, ...entries].map(entry => entry.oid)
      const texts = ['a', null, null, random.toString(), null, 'f']
      expect(await textsAt(host, repository, commit, oids)).toEqual([...texts, ...texts])
    })

    test('are asked for by blob ids alone: anything else has no bytes', async () => {
      const repository = await create()
      const commit = await repository.commit({ 'a.md': 'a' })
      const tree = await repository.oidAt(commit, '')
      const oids = [
        commit,
        tree,
        `${commit}:a.md`,
        'HEAD',
        '',
        'x\ncontents HEAD',
        '0'.repeat(40),
        await repository.oidAt(commit, 'a.md'),
      ]
      expect(await textsAt(host, repository, commit, oids)).toEqual([null, null, null, null, null, null, null, 'a'])
    })

    test('may be left before their end', async () => {
      const repository = await create()
      const commit = await repository.commit(
        Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`f${index}`, `${index}`.repeat(50_000)])),
      )
      await readAt(host, repository, commit, async reader => {
        const oids = (await collect(reader.entries())).map(entry => entry.oid)
        for await (const { bytes } of reader.read(oids, MIB)) {
          expect(bytes).not.toBeNull()
          break
        }
        expect(await collect(reader.read(oids, MIB))).toHaveLength(50)
      })
      await noProcesses()
    })
  })

  describe('a commit that cannot be read', () => {
    test.each(['0'.repeat(40), 'f'.repeat(40)])('as %s is refused on opening', async hash => {
      const repository = await create()
      await repository.commit({ a: 'a' })
      await expect(readAt(host, repository, hash as CommitSha, async () => {})).rejects.toMatchObject({
        code: 'index.fetch_failed',
      })
    })

    test('because it is damaged, no commit or without its tree is refused on opening', async () => {
      const repository = await create()
      const commit = await repository.commit({ 'a/b': 'b' })
      const blob = await repository.oidAt(commit, 'a/b')
      const broken = [
        await repository.oidAt(commit, ''),
        blob,
        await repository.writeObject('commit', 'nothing of a commit'),
        await repository.commitTree(blob, { branch: null }),
        await repository.commitTree('e'.repeat(40), { branch: null }),
        await repository.tag('annotated', commit, { annotated: true }),
      ]
      for (const oid of broken)
        await expectReadError(
          readAt(host, repository, oid as CommitSha, async () => {}),
          'index.fetch_failed',
        )
      await repository.corruptObject(commit)
      await expectReadError(
        readAt(host, repository, commit, async () => {}),
        'index.fetch_failed',
      )
    })

    test('below its root fails while it is listed', async () => {
      const repository = await create()
      const oid = await repository.writeBlob('x')
      const malformed = [
        await repository.writeObject('tree', '100644 no-id'),
        await repository.writeObject('tree', Buffer.from('100644 short\x0a3')),
        await repository.writeObject('tree', Buffer.concat([Buffer.from('abc name\0'), Buffer.from(oid, 'hex')])),
        await repository.writeObject('tree', Buffer.concat([Buffer.from('100644 \0'), Buffer.from(oid, 'hex')])),
        'd'.repeat(40),
        oid,
      ]
      for (const inner of malformed) {
        const tree = await repository.rawTree([{ mode: '40000', name: 'folder', oid: inner }])
        await expectReadError(listAt(host, repository, await repository.commitTree(tree)), 'index.fetch_failed')
      }
      await noProcesses()
    })

    test('within the time fails with its own code', async () => {
      const repository = await create()
      const oid = await repository.writeBlob('x')
      let tree = await repository.rawTree([{ mode: '100644', name: 'f', oid }])
      for (let level = 0; level < 12; level++) {
        tree = await repository.rawTree([...'0123456789'].map(name => ({ mode: '40000', name, oid: tree })))
      }
      const commit = await repository.commitTree(tree)
      const limits = { treeEntries: Number.POSITIVE_INFINITY, seconds: 0.3 }
      await expectReadError(listAt(host, repository, commit, limits), 'index.timeout')
      const late = readAt(
        host,
        repository,
        commit,
        async reader => {
          for (;;) await collect(reader.read([oid], MIB))
        },
        limits,
      )
      await expectReadError(late, 'index.timeout')
      await noProcesses()
    })
  })
})

async function expectReadError(reading: Promise<unknown>, code: ReadError['code']): Promise<void> {
  const error = await reading.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(ReadError)
  expect(error).toMatchObject({ code })
}
