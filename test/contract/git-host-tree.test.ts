import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { GitHost } from '#core/ports/git-host.ts'
import { collect, LIMITS, listAt, noProcesses, readAt, textsAt } from './git-host-asking.ts'
import { type DriverScene, GIT_HOST_DRIVERS, openDriverScene } from './git-host-drivers.ts'

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

    test('keeps every name unchanged', async () => {
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

    test('with names that no checkout accepts is passed on unchanged, with duplicates', async () => {
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

    test('that is a bomb ends at the limit, truncated', async () => {
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

    test('that is empty is complete and empty', async () => {
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
})
