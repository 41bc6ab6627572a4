import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CommitSha } from '#core/commit-sha.ts'
import { type GitHost, ReadError } from '#core/ports/git-host.ts'
import type { TestRepository } from '#test/support/repository.ts'
import { until } from '#test/support/until.ts'
import { collect, LIMITS, listAt, readAt, textsAt } from './git-host-asking.ts'
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

  describe('the tree of a commit', () => {
    test('is given in tree order, with the modes, ids and sizes of git', async () => {
      const repository = await create()
      const commit = await repository.commit({
        'b.md': 'bb',
        'a/z.md': 'z',
        'a.md': '',
        'bin/run': { mode: '100755', content: '#!/bin/sh\n' },
        'link.md': { link: 'b.md' },
        dangling: { link: '../../../etc/passwd' },
        'modules/other': { submodule: '1'.repeat(40) },
        'big.psd': `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 12345\n`,
      })
      const { entries, cut } = await listAt(host, repository, commit)
      expect(cut).toBe(false)
      const expected = (await repository.git('ls-tree', '-r', '-l', '-z', commit))
        .split('\0')
        .filter(line => line !== '')
        .map(line => /^(\d+) \w+ (\w+) +(\S+)\t(.*)$/s.exec(line)?.slice(1) ?? [])
        .map(([mode, oid, size, path]) => ({ path, mode, oid, sizeBytes: size === '-' ? null : Number(size) }))
      expect(entries).toEqual(expected)
      expect(entries).toHaveLength(8)
      expect(entries.find(entry => entry.path === 'big.psd')).toMatchObject({ mode: '100644', sizeBytes: 130 })
      expect(entries.find(entry => entry.path === 'modules/other')).toMatchObject({ mode: '160000', sizeBytes: null })
    })

    test('keeps every name as it is', async () => {
      const repository = await create()
      const names = [
        '%.md',
        '%5Bboop%5D.html',
        'a b.md',
        'back\\slash.md',
        'c++.md',
        'carriage\rreturn.md',
        'line\nfeed.md',
        'quote".md',
        'tab\t.md',
        'u\u0308mlaut-nfd.md',
        '\u00fcmlaut-nfc.md',
        'right-to-left\u202e.md',
        '日本語/説明.md',
        '-rf',
        ':(top)magic',
        '*.md',
        `${'long'.repeat(60)}.md`,
      ]
      const commit = await repository.commit(Object.fromEntries(names.map(name => [name, name])))
      const { entries } = await listAt(host, repository, commit)
      expect(entries.map(entry => entry.path).sort()).toEqual([...names].sort())
      expect(
        await textsAt(
          host,
          repository,
          commit,
          entries.map(entry => entry.oid),
        ),
      ).toEqual(entries.map(entry => entry.path))
    })

    test('gives a name that is not UTF-8 without its path', async () => {
      const repository = await create()
      const oid = await repository.writeBlob('latin')
      const commit = await repository.commitTree(
        await repository.rawTree([
          { mode: '100644', name: Buffer.from([0x63, 0x61, 0x66, 0xe9]), oid },
          { mode: '100644', name: 'plain', oid },
        ]),
      )
      const { entries } = await listAt(host, repository, commit)
      expect(entries.map(entry => entry.path)).toEqual([null, 'plain'])
      expect(entries[0]).toMatchObject({ oid, sizeBytes: 5 })
    })

    test('with names that no checkout would accept is passed on as it is, duplicates and all', async () => {
      const repository = await create()
      const oid = await repository.writeBlob('evil')
      const inner = await repository.rawTree([{ mode: '100644', name: 'config', oid }])
      const names = ['..', '.', '.GIT', 'a/b', 'a\\b', 'twice', 'twice', '../../outside']
      const tree = await repository.rawTree([
        { mode: '40000', name: '.git', oid: inner },
        ...names.map(name => ({ mode: '100644', name, oid })),
        { mode: '40000', name: '..', oid: inner },
      ])
      const { entries } = await listAt(host, repository, await repository.commitTree(tree))
      expect(entries.map(entry => entry.path)).toEqual(['.git/config', ...names, '../config'])
    })

    test('that is a bomb ends at the limit, cut', async () => {
      const repository = await create()
      const oid = await repository.writeBlob('x')
      let files = await repository.rawTree([{ mode: '100644', name: 'f', oid }])
      let empty = await repository.rawTree([])
      for (let level = 0; level < 10; level++) {
        const names = [...'0123456789']
        files = await repository.rawTree(names.map(name => ({ mode: '40000', name, oid: files })))
        empty = await repository.rawTree(names.map(name => ({ mode: '40000', name, oid: empty })))
      }
      const ofFiles = await listAt(host, repository, await repository.commitTree(files), { treeEntries: 20_000 })
      expect(ofFiles).toMatchObject({ cut: true })
      expect(ofFiles.entries.length).toBeGreaterThan(10_000)
      expect(ofFiles.entries.length).toBeLessThanOrEqual(20_000)
      const ofFolders = await listAt(host, repository, await repository.commitTree(empty), { treeEntries: 20_000 })
      expect(ofFolders).toEqual({ cut: true, entries: [] })
    })

    test('with exactly as many entries as the limit is whole', async () => {
      const repository = await create()
      const commit = await repository.commit({ a: '', b: '', c: '' })
      expect(await listAt(host, repository, commit, { treeEntries: 3 })).toMatchObject({ cut: false, entries: { length: 3 } })
      expect(await listAt(host, repository, commit, { treeEntries: 2 })).toMatchObject({ cut: true, entries: { length: 2 } })
    })

    test.each([
      { depth: 300, name: 'd' },
      { depth: 1_000, name: 'long'.repeat(50) },
    ])('$depth folders deep gives what lies above the limit, cut', async ({ depth, name }) => {
      const repository = await create()
      const oid = await repository.writeBlob('x')
      let tree = await repository.rawTree([{ mode: '100644', name: 'leaf', oid }])
      for (let level = 0; level < depth; level++) {
        tree = await repository.rawTree([
          { mode: '100644', name: 'a', oid },
          { mode: '40000', name, oid: tree },
        ])
      }
      const { entries, cut } = await listAt(host, repository, await repository.commitTree(tree))
      expect(cut).toBe(true)
      expect(entries).toHaveLength(LIMITS.treeDepthSegments)
      expect(entries.at(-1)?.path?.split('/')).toHaveLength(LIMITS.treeDepthSegments)
    })

    test('with nothing in it is whole and empty', async () => {
      const repository = await create()
      const commit = await repository.commitTree(await repository.rawTree([]))
      expect(await listAt(host, repository, commit)).toEqual({ entries: [], cut: false })
    })

    test('may be left before its end', async () => {
      const repository = await create()
      const commit = await repository.commit(Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`f${index}`, ''])))
      const paths = await readAt(host, repository, commit, async reader => {
        const seen: (string | null)[] = []
        for await (const { path } of reader.entries()) {
          seen.push(path)
          if (seen.length === 3) break
        }
        return [...seen, (await collect(reader.entries())).length]
      })
      expect(paths).toEqual(['f0', 'f1', 'f10', 2_000])
      await noProcesses()
    })
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

    test('of a gibibyte are told by their size and never taken into memory', async () => {
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

    test('that are small, but stored as a change of a huge one, have no bytes: git may not take so much memory', async () => {
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

    test('that are damaged or lie under a false id have no bytes, and the rest is read in order; a host far away that has such sends nothing', async () => {
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

    test('since it is damaged, no commit or without its tree is refused on opening', async () => {
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
      const limits = { treeEntries: Number.POSITIVE_INFINITY, treeDepthSegments: 1, seconds: 0.3 }
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

/** Waits for the end of every process that this one started. Those that a host of this very process had for whoever has left may end a moment later. */
async function noProcesses(): Promise<void> {
  await until(() => !process.getActiveResourcesInfo().includes('ProcessWrap'))
}
