import { writeFileSync } from 'node:fs'
import { mkdtemp, readdir, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { CommitSha } from '#core/commit-sha.ts'
import { openLocalHost } from '#infra/local/host.ts'
import { until } from '#test/support/until.ts'
import { describeAt, LIMITS, listAt, MISSING, ok, readAt, resolveAt } from './git-host-asking.ts'
import { BASE_URL, openLocalHostScene } from './git-host-local-scene.ts'

const scene = await openLocalHostScene()
const { repositories, temporary, host, nextName, create, inRoot, look } = scene
afterAll(scene.close)

describe('a repository of the root', () => {
  test('may be bare, or in a working folder', async () => {
    for (const layout of ['bare', 'normal'] as const) {
      const repository = await create(layout)
      const commit = await repository.commit({ 'a.md': 'a' })
      expect(await look('acme', repository.name)).toEqual(ok(commit))
      expect(await listAt(host, repository, commit)).toMatchObject({ entries: [{ path: 'a.md' }] })
    }
  })

  test('may be bare without the ending', async () => {
    const repository = await create()
    const commit = await repository.commit({ a: 'a' })
    await rename(repository.gitDir, inRoot('acme', repository.name))
    expect(await look('acme', repository.name)).toEqual(ok(commit))
  })

  test('may be a linked worktree, with its own HEAD and the refs of its repository', async () => {
    const repository = await create('normal')
    const first = await repository.commit({ 'a.md': 'a' })
    const second = await repository.commit({ 'a.md': 'b' }, { branch: 'topic' })
    const name = nextName()
    await repository.git('worktree', 'add', '--quiet', '--no-checkout', inRoot('acme', name), 'topic')
    const worktree = { ...repository, name }
    expect((await describeAt(host, worktree)).defaultBranch).toBe('topic')
    expect(await look('acme', name)).toEqual(ok(second))
    expect(await resolveAt(host, worktree, 'main')).toEqual(ok(first))
    expect(await listAt(host, worktree, second)).toMatchObject({ entries: [{ path: 'a.md' }] })
    await repository.branch('topic', first)
    expect(await look('acme', name)).toEqual(ok(first))
  })

  test('is the folder of the name rather than the one with the ending .git, where both are repositories', async () => {
    const plain = await create('normal')
    const bare = await repositories.create('acme', plain.name)
    const inPlain = await plain.commit({ a: 'plain' })
    const inBare = await bare.commit({ a: 'bare' })
    expect(await look('acme', plain.name)).toEqual(ok(inPlain))
    await rm(plain.gitDir, { recursive: true })
    expect(await look('acme', plain.name)).toEqual(ok(inBare))
  })

  test('has one name: the one without the ending .git', async () => {
    const repository = await create()
    await repository.commit({ a: 'a' })
    expect(await host.repository('acme', `${repository.name}.git`)).toEqual(MISSING)
  })

  test('is found when it is added, missing when it is removed, and read again when it is replaced', async () => {
    const name = nextName()
    for (let round = 0; round < 10; round++) {
      expect(await look('acme', name)).toEqual(MISSING)
      const repository = await repositories.create('acme', name)
      expect(await look('acme', name)).toEqual(MISSING)
      const commit = await repository.commit({ a: String(round) })
      expect(await look('acme', name)).toEqual(ok(commit))
      await rm(repository.gitDir, { recursive: true })
    }
  })

  test('is described by its description file, unless that is the default text', async () => {
    const repository = await create()
    const described = async (text: string) => {
      await writeFile(join(repository.gitDir, 'description'), text)
      return (await describeAt(host, repository)).description
    }
    expect((await describeAt(host, repository)).description).toBeNull()
    expect(await described('Tools for paper\n')).toBe('Tools for paper')
    expect(await described("Unnamed repository; edit this file 'description' to name the repository.\n")).toBeNull()
    expect(await described('\n')).toBeNull()
    expect([...((await described('ä'.repeat(50_000))) ?? '')]).toHaveLength(1_024)
  })

  test.each([
    ['in its git dir', '.'],
    ['beside its git dir', '..'],
  ])('is private while a marker lies %s', async (_where, folder) => {
    const repository = await create('normal')
    const marker = join(repository.gitDir, folder, 'mountglass-private')
    expect((await describeAt(host, repository)).visibility).toBe('public')
    await writeFile(marker, '')
    expect((await describeAt(host, repository)).visibility).toBe('private')
    await rm(marker)
    expect((await describeAt(host, repository)).visibility).toBe('public')
  })

  test('with a detached HEAD stands at that commit, which may also be given by its hash', async () => {
    const repository = await create()
    const commit = await repository.commit({ a: 'a' }, { branch: null })
    await repository.git('update-ref', '--no-deref', 'HEAD', commit)
    expect((await describeAt(host, repository)).defaultBranch).toBe('HEAD')
    for (const ref of [null, commit]) expect(await resolveAt(host, repository, ref)).toEqual(ok(commit))
  })

  test('whose HEAD is a link, as in the oldest repositories, is read', async () => {
    const repository = await create()
    const commit = await repository.commit({ a: 'a' }, { branch: 'trunk' })
    await rm(join(repository.gitDir, 'HEAD'))
    await symlink('refs/heads/trunk', join(repository.gitDir, 'HEAD'))
    expect((await describeAt(host, repository)).defaultBranch).toBe('trunk')
    expect(await look('acme', repository.name)).toEqual(ok(commit))
  })
})

describe('a commit by its hash', () => {
  test('is missing once its last branch, tag or detached HEAD is deleted, even on a host that served it', async () => {
    const repository = await create()
    await repository.commit({ a: '1' })
    const late = await repository.commit({ 'passing.md': '1' }, { branch: 'passing' })
    const replica = await openLocalHost({ root: repositories.root, baseUrl: BASE_URL })
    const lookEverywhere = async () => [await resolveAt(host, repository, late), await resolveAt(replica, repository, late)]
    expect(await resolveAt(host, repository, late)).toEqual(ok(late))
    await repository.git('update-ref', 'refs/pull/1/head', late)
    await repository.git('update-ref', '-d', 'refs/heads/passing')
    expect(await lookEverywhere()).toEqual([MISSING, MISSING])
    await repository.tag('back', late, { annotated: true })
    expect(await lookEverywhere()).toEqual([ok(late), ok(late)])
    await repository.git('pack-refs', '--all', '--prune')
    expect(await lookEverywhere()).toEqual([ok(late), ok(late)])
    await repository.git('tag', '-d', 'back')
    expect(await lookEverywhere()).toEqual([MISSING, MISSING])
    await writeFile(join(repository.gitDir, 'HEAD'), `${late}\n`)
    expect(await lookEverywhere()).toEqual([ok(late), ok(late)])
    await repository.setDefaultBranch('main')
    expect(await lookEverywhere()).toEqual([MISSING, MISSING])
    await replica.close()
  })

  test('is missing once its branch was overwritten in place', async () => {
    const repository = await create()
    const first = await repository.commit({ a: '1' })
    const late = await repository.commit({ a: '2' })
    expect(await resolveAt(host, repository, late)).toEqual(ok(late))
    writeFileSync(join(repository.gitDir, 'refs/heads/main'), `${first}\n`)
    expect(await resolveAt(host, repository, late)).toEqual(MISSING)
  })
})

describe('a ref file', () => {
  test('written in place, with the same size, within one tick of the clock, is seen by the next request', async () => {
    const repository = await create()
    const commits = [
      await repository.commit({ a: '1' }),
      await repository.commit({ a: '2' }),
      await repository.commit({ a: '3' }),
    ]
    const described = await describeAt(host, repository)
    const file = join(repository.gitDir, 'refs/heads/main')
    for (let move = 0; move < 120; move++) {
      const before = commits[move % 3] as CommitSha
      const after = commits[(move + 1) % 3] as CommitSha
      writeFileSync(file, `${before}\n`)
      const first = host.resolve(described, 'main')
      for (let turn = 0; turn < move % 20; turn++) await new Promise(resolve => setImmediate(resolve))
      writeFileSync(file, `${after}\n`)
      await first
      expect(await host.resolve(described, 'main')).toEqual(ok(after))
    }
  })

  test('that is stable is answered from memory until it moves again', async () => {
    const repository = await create()
    const commits = [await repository.commit({ a: '1' }), await repository.commit({ a: '2' })]
    const described = await describeAt(host, repository)
    for (let round = 0; round < 4; round++) {
      const commit = commits[round % 2] as CommitSha
      await repository.branch('main', commit)
      // A file that was changed just now may change again without a trace.
      const { ctimeMs } = await stat(join(repository.gitDir, 'refs/heads/main'))
      await until(() => Date.now() - ctimeMs > 80)
      for (let ask = 0; ask < 200; ask++) expect(await host.resolve(described, 'main')).toEqual(ok(commit))
    }
  })
})

describe('a host that is closed', () => {
  test('ends running reads, and leaves no files behind', async () => {
    const repository = await create()
    const oid = await repository.writeBlob('x')
    let tree = await repository.rawTree([{ mode: '100644', name: 'f', oid }])
    for (let level = 0; level < 12; level++) {
      tree = await repository.rawTree([...'0123456789'].map(name => ({ mode: '40000', name, oid: tree })))
    }
    const commit = await repository.commitTree(tree)
    const other = await openLocalHost({ root: repositories.root, baseUrl: BASE_URL })
    const endless = { ...LIMITS, treeEntries: Number.POSITIVE_INFINITY }
    const reader = await other.open(await describeAt(other, repository), commit, endless)
    const reading = (async () => {
      for await (const { path } of reader.entries()) if (path === null) break
    })()
    const failed = expect(reading).rejects.toMatchObject({ code: 'index.fetch_failed' })
    await until(() => process.getActiveResourcesInfo().includes('ProcessWrap'))
    await other.close()
    await failed
    await reader.close()
    await readAt(host, repository, commit, async () => {})
    await host.close()
    expect(await readdir(temporary)).toEqual([])
  })

  test('by a kill leaves files that are removed an hour later', async () => {
    const [old, young] = await Promise.all([
      mkdtemp(join(temporary, 'mountglass-git-')),
      mkdtemp(join(temporary, 'mountglass-git-')),
    ])
    const overAnHourAgo = Date.now() / 1000 - 3_660
    await utimes(old, overAnHourAgo, overAnHourAgo)
    await (await openLocalHost({ root: repositories.root, baseUrl: BASE_URL })).close()
    expect(await readdir(temporary)).toEqual([basename(young)])
    await rm(young, { recursive: true })
  })
})
