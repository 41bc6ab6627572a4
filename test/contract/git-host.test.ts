import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type GitHost, ReadError } from '#core/ports/git-host.ts'
import type { CommitSha } from '#core/snapshot/format.ts'
import { createRepositories, type TestRepositories, type TestRepository } from '#test/support/repository.ts'
import { collect, describeAt, LIMITS, listAt, MISSING, ok, readAt, resolveAt, textsAt } from './git-host-asking.ts'
import { GIT_HOST_DRIVERS, type OpenDriver } from './git-host-drivers.ts'

const MIB = 1024 * 1024

describe.each(GIT_HOST_DRIVERS)('the git host $segment', driver => {
  let repositories: TestRepositories
  let open: OpenDriver
  let host: GitHost
  let created = 0

  beforeAll(async () => {
    repositories = await createRepositories()
    open = await driver.open(repositories.root)
    host = open.host
  })

  afterAll(async () => {
    await open.close()
    await repositories.remove()
  })

  const create = (): Promise<TestRepository> => repositories.create('acme', `tools-${++created}`)

  describe('a repository', () => {
    test('is described with a stable id, its spelling and its default branch', async () => {
      const repository = await create()
      await repository.commit({ 'a.md': 'a' }, { branch: 'trunk' })
      await repository.setDefaultBranch('trunk')
      const described = await describeAt(host, repository)
      expect(described).toMatchObject({
        host: driver.segment,
        owner: 'acme',
        name: repository.name,
        defaultBranch: 'trunk',
        visibility: 'public',
      })
      expect(described.id).toMatch(new RegExp(`^${driver.segment}-[a-z0-9-]+$`))
      expect(await describeAt(host, repository)).toEqual(described)
    })

    test('follows the move of its default branch at once', async () => {
      const repository = await create()
      const first = await repository.commit({ a: '1' })
      const second = await repository.commit({ a: '2' }, { branch: 'next' })
      expect(await resolveAt(host, repository, null)).toEqual(ok(first))
      await repository.setDefaultBranch('next')
      open.pass()
      expect((await describeAt(host, repository)).defaultBranch).toBe('next')
      expect(await resolveAt(host, repository, null)).toEqual(ok(second))
    })

    test('without commits exists, and has no ref', async () => {
      const repository = await create()
      expect((await describeAt(host, repository)).defaultBranch).toBe('main')
      for (const ref of [null, 'main', 'HEAD', 'a'.repeat(40)]) expect(await resolveAt(host, repository, ref)).toEqual(MISSING)
    })

    test.each([
      ['acme', 'nothing'],
      ['nobody', 'tools'],
      ['acme', '..'],
      ['..', 'acme'],
      ['acme', '.'],
      ['acme', ''],
      ['', ''],
      ['acme', '.hidden'],
      ['acme', 'a/b'],
      ['acme', 'a\0b'],
      ['acme', 'a\nb'],
      ['acme', '-x'],
      ['acme', 'n'.repeat(101)],
      ['acme', 'ünïcode'],
    ])('is missing under the name %j / %j', async (owner, name) => {
      expect(await host.repository(owner, name)).toEqual(MISSING)
    })
  })

  describe('a ref', () => {
    let repository: TestRepository
    let first: CommitSha
    let second: CommitSha
    let other: CommitSha
    let unreachable: CommitSha

    beforeAll(async () => {
      repository = await create()
      first = await repository.commit({ 'a.md': '1' })
      second = await repository.commit({ 'a.md': '2' })
      other = await repository.commit({ 'b.md': '1' }, { branch: 'feature/x/y' })
      unreachable = await repository.commit({ 'secret.md': '1' }, { branch: null })
      await repository.tag('v1', first)
      const annotated = await repository.tag('v1-annotated', first, { annotated: true })
      await repository.tag('v1-nested', annotated, { annotated: true, targetType: 'tag' })
      await repository.branch('both', other)
      await repository.tag('both', first)
      const blob = await repository.writeBlob('blob')
      const tree = await repository.oidAt(second, '')
      await repository.tag('of-blob', blob)
      await repository.tag('of-tree', tree)
      await repository.tag('of-blob-annotated', blob, { annotated: true, targetType: 'blob' })
      await repository.git('update-ref', 'refs/pull/1/head', other)
      await repository.git('symbolic-ref', 'refs/heads/alias', 'refs/heads/feature/x/y')
    })

    test('of a branch, a tag or the default branch gives its commit', async () => {
      expect(await resolveAt(host, repository, null)).toEqual(ok(second))
      expect(await resolveAt(host, repository, 'main')).toEqual(ok(second))
      expect(await resolveAt(host, repository, 'feature/x/y')).toEqual(ok(other))
      expect(await resolveAt(host, repository, 'v1')).toEqual(ok(first))
    })

    test('in full gives its commit, whatever its folder', async () => {
      expect(await resolveAt(host, repository, 'refs/heads/main')).toEqual(ok(second))
      expect(await resolveAt(host, repository, 'refs/tags/both')).toEqual(ok(first))
      expect(await resolveAt(host, repository, 'refs/pull/1/head')).toEqual(ok(other))
    })

    test('of an annotated tag, also of a tag of a tag, gives the commit behind it', async () => {
      expect(await resolveAt(host, repository, 'v1-annotated')).toEqual(ok(first))
      expect(await resolveAt(host, repository, 'v1-nested')).toEqual(ok(first))
    })

    test('that names a branch and a tag is the branch', async () => {
      expect(await resolveAt(host, repository, 'both')).toEqual(ok(other))
    })

    // git forbids the space in names, and no other character that only looks like one.
    test.each(['\u00a0', '\u3000', '\ufeff'])('whose name goes on behind a blank like %j is another ref', async blank => {
      const spaced = await create()
      const commits = [await spaced.commit({ a: '1' }), await spaced.commit({ a: '2' }), await spaced.commit({ a: '3' })] as const
      await spaced.branch('main', commits[0])
      await spaced.tag('v1', commits[0])
      await spaced.branch(`main${blank}next`, commits[1])
      await spaced.branch(`v1${blank}next`, commits[2])
      expect(await resolveAt(host, spaced, 'main')).toEqual(ok(commits[0]))
      expect(await resolveAt(host, spaced, 'v1')).toEqual(ok(commits[0]))
      expect(await resolveAt(host, spaced, `main${blank}next`)).toEqual(ok(commits[1]))
      expect(await resolveAt(host, spaced, `v1${blank}next`)).toEqual(ok(commits[2]))
      await spaced.setDefaultBranch(`main${blank}next`)
      open.pass()
      expect(await resolveAt(host, spaced, null)).toEqual(ok(commits[1]))
    })

    test('that points at another ref gives the commit of that ref, and follows it', async () => {
      expect(await resolveAt(host, repository, 'alias')).toEqual(ok(other))
      await repository.branch('feature/x/y', first)
      open.pass()
      expect(await resolveAt(host, repository, 'alias')).toEqual(ok(first))
      await repository.branch('feature/x/y', other)
      open.pass()
      expect(await resolveAt(host, repository, 'alias')).toEqual(ok(other))
    })

    test('of a full commit hash, in either case, gives the commit when a branch or tag leads to it', async () => {
      expect(await resolveAt(host, repository, first)).toEqual(ok(first))
      expect(await resolveAt(host, repository, first.toUpperCase())).toEqual(ok(first))
      expect(await resolveAt(host, repository, other)).toEqual(ok(other))
      expect(await resolveAt(host, repository, unreachable)).toEqual(MISSING)
    })

    test('of an unreachable commit counts as soon as a branch leads to it', async () => {
      const late = await repository.commit({ 'late.md': '1' }, { branch: null })
      expect(await resolveAt(host, repository, late)).toEqual(MISSING)
      await repository.branch('late', late)
      open.pass()
      expect(await resolveAt(host, repository, late)).toEqual(ok(late))
    })

    test('of a commit whose clock was wrong is found behind its younger-looking descendants', async () => {
      const skewed = await create()
      const root = await skewed.commit({ a: '0' }, { date: 4_000_000_000 })
      for (let step = 1; step <= 12; step++) await skewed.commit({ a: String(step) }, { date: 1_000_000_000 + step })
      expect(await resolveAt(host, skewed, root)).toEqual(ok(root))
    })

    test.each([
      'nope',
      'refs',
      'refs/heads',
      'refs/heads/nope',
      'heads/main',
      'feature',
      'feature/x',
      'main/',
      '/main',
      'main~1',
      'main^',
      'main^{tree}',
      'main^{/2}',
      'HEAD~1',
      'HEAD@{1}',
      '@',
      '@{u}',
      ':/Change',
      'main:a.md',
      'v1-annotated^{}',
      'main..v1',
      'ma*',
      'mai?',
      '[m]ain',
      'm\\ain',
      '-x',
      '--all',
      '--upload-pack=touch /tmp/mountglass-was-here',
      '../../HEAD',
      'refs/../HEAD',
      'refs/heads/../../HEAD',
      'main\n',
      'main\0',
      ' main',
      'main.lock',
      '',
      'of-blob',
      'of-tree',
      'of-blob-annotated',
      'packed-refs',
      'FETCH_HEAD',
      'n'.repeat(300),
      '\ud800',
    ])('%j is missing', async ref => {
      expect(await resolveAt(host, repository, ref)).toEqual(MISSING)
    })

    test('of an abbreviated, longer or unknown hash, or of the hash of a tree or blob, is missing', async () => {
      const tree = await repository.oidAt(second, '')
      const blob = await repository.oidAt(second, 'a.md')
      for (const hash of [second.slice(0, 8), second.slice(0, 39), `${second}0`, '0'.repeat(40), 'f'.repeat(40), tree, blob]) {
        expect(await resolveAt(host, repository, hash)).toEqual(MISSING)
      }
    })

    test('that points at a commit which is not there is missing, until it is', async () => {
      const gone = await create()
      await gone.commit({ a: '1' })
      const lost = await gone.commit({ a: '2' }, { branch: 'lost' })
      const described = await describeAt(host, gone)
      const body = await gone.git('cat-file', 'commit', lost)
      await gone.dropObject(lost)
      expect(await host.resolve(described, 'lost')).toEqual(MISSING)
      expect(await gone.writeObject('commit', body)).toBe(lost)
      open.pass()
      expect(await host.resolve(described, 'lost')).toEqual(ok(lost))
    })
  })

  describe('a moved ref', () => {
    test('is seen by the next request, a hundred times in a row', async () => {
      const repository = await create()
      const commits = [
        await repository.commit({ a: '0' }),
        await repository.commit({ a: '1' }),
        await repository.commit({ a: '2' }),
      ]
      const described = await describeAt(host, repository)
      for (let move = 0; move < 100; move++) {
        const commit = commits[move % 3] as CommitSha
        await repository.branch('main', commit)
        open.pass()
        expect(await host.resolve(described, 'main')).toEqual(ok(commit))
      }
    })

    test('is seen when it is packed, moved over the packed one, and deleted', async () => {
      const repository = await create()
      const first = await repository.commit({ a: '1' })
      const second = await repository.commit({ a: '2' }, { branch: 'next' })
      await repository.tag('v1', first, { annotated: true })
      for (let round = 0; round < 5; round++) {
        await repository.branch('topic', first)
        await repository.git('pack-refs', '--all')
        open.pass()
        expect(await resolveAt(host, repository, 'topic')).toEqual(ok(first))
        expect(await resolveAt(host, repository, 'v1')).toEqual(ok(first))
        await repository.branch('topic', second)
        open.pass()
        expect(await resolveAt(host, repository, 'topic')).toEqual(ok(second))
        await repository.git('pack-refs', '--all')
        open.pass()
        expect(await resolveAt(host, repository, 'topic')).toEqual(ok(second))
        await repository.git('update-ref', '-d', 'refs/heads/topic')
        open.pass()
        expect(await resolveAt(host, repository, 'topic')).toEqual(MISSING)
      }
    })

    test('uncovers and covers the tag of its name', async () => {
      const repository = await create()
      const first = await repository.commit({ a: '1' })
      const second = await repository.commit({ a: '2' })
      await repository.tag('x', first)
      expect(await resolveAt(host, repository, 'x')).toEqual(ok(first))
      await repository.branch('x', second)
      open.pass()
      expect(await resolveAt(host, repository, 'x')).toEqual(ok(second))
      await repository.git('update-ref', '-d', 'refs/heads/x')
      open.pass()
      expect(await resolveAt(host, repository, 'x')).toEqual(ok(first))
    })

    test('is never answered with what it named before the request, however many ask at once', async () => {
      const repository = await create()
      const commits: CommitSha[] = []
      for (let step = 0; step < 30; step++) commits.push(await repository.commit({ a: String(step) }, { branch: 'history' }))
      await repository.branch('main', commits[0] as CommitSha)
      const described = await describeAt(host, repository)
      let published = 0
      let done = false
      const asking: Promise<void>[] = []
      const ask = async () => {
        const least = published
        const answer = await host.resolve(described, 'main')
        const moves = answer.status === 'ok' ? commits.indexOf(answer.value) : -1
        expect(moves).toBeGreaterThanOrEqual(least)
      }
      const askOften = async () => {
        while (!done) {
          asking.push(ask())
          await new Promise(resolve => setTimeout(resolve, 1))
        }
      }
      const often = askOften()
      for (let step = 1; step < commits.length; step++) {
        await repository.branch('main', commits[step] as CommitSha)
        open.pass()
        published = step
      }
      done = true
      await often
      await Promise.all(asking)
      expect(asking.length).toBeGreaterThan(10)
      expect(await host.resolve(described, 'main')).toEqual(ok(commits.at(-1)))
    })
  })

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
          await new Promise(resolve => setTimeout(resolve, 400))
          return collect(reader.read([oid], MIB))
        },
        limits,
      )
      await expectReadError(late, 'index.timeout')
      await noProcesses()
    })
  })

  test('the raw address of a file encodes every segment of its path', async () => {
    const repository = await create()
    const commit = await repository.commit({ a: 'a' })
    const url = host.urls.raw(await describeAt(host, repository), commit, 'a b/%5B#?.md')
    expect(url).toContain(commit)
    expect(url).toMatch(/\/a%20b\/%255B%23%3F\.md$/)
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
  while (process.getActiveResourcesInfo().includes('ProcessWrap')) await new Promise(resolve => setTimeout(resolve, 5))
}
