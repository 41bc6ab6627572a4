import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { access, cp, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ReadError } from '#core/ports/git-host.ts'
import type { CommitSha } from '#core/snapshot/format.ts'
import { type LocalHost, openLocalHost } from '#infra/local/host.ts'
import { createRepositories, type TestRepositories, type TestRepository } from '#test/support/repository.ts'
import { type TemporaryFolder, takeTemporaryFolder } from '#test/support/temporary-folder.ts'
import { describeAt, LIMITS, listAt, MISSING, ok, readAt, resolveAt, textsAt } from './git-host-asking.ts'

const BASE_URL = 'https://mountglass.example'

let repositories: TestRepositories
/** Repositories and files that no request may reach. */
let outside: TestRepositories
let host: LocalHost
/** Whatever is in there was left behind. */
let temporary: TemporaryFolder
let created = 0

beforeAll(async () => {
  repositories = await createRepositories()
  outside = await createRepositories()
  temporary = await takeTemporaryFolder()
  host = await openLocalHost({ root: repositories.root, baseUrl: BASE_URL })
})

afterAll(async () => {
  await host.close()
  await Promise.all([repositories.remove(), outside.remove(), temporary.giveBack()])
})

const nextName = () => `tools-${++created}`
const create = (layout: 'bare' | 'normal' = 'bare') => repositories.create('acme', nextName(), { layout })
const inRoot = (...path: string[]) => join(repositories.root, ...path)

/** What the host answers about a repository and its default branch. */
async function look(owner: string, name: string) {
  const answer = await host.repository(owner, name)
  return answer.status === 'ok' ? host.resolve(answer.value, null) : answer
}

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

  test('is seen when it comes, when it goes, and when another takes its place', async () => {
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

  test('is described by its description file, unless that says nothing', async () => {
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

  test('is private while a marker lies in its git dir', async () => {
    const repository = await create('normal')
    const marker = join(repository.gitDir, 'mountglass-private')
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
    for (const ref of [null, 'HEAD', commit]) expect(await resolveAt(host, repository, ref)).toEqual(ok(commit))
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

describe('missing is', () => {
  test('what is no repository', async () => {
    await mkdir(inRoot('acme', 'folder'), { recursive: true })
    await writeFile(inRoot('acme', 'file'), 'file')
    await mkdir(inRoot('acme', 'pointer'))
    await writeFile(inRoot('acme', 'pointer', '.git'), 'gitdir: nowhere\n')
    await mkdir(inRoot('acme', 'headless.git', 'objects'), { recursive: true })
    for (const name of ['folder', 'file', 'pointer', 'headless']) expect(await look('acme', name)).toEqual(MISSING)
  })

  test('a repository whose refs are kept in a way that is not read', async () => {
    const repository = await create()
    await repository.commit({ a: 'a' })
    await mkdir(join(repository.gitDir, 'reftable'))
    expect(await look('acme', repository.name)).toEqual(MISSING)
  })

  test('what a link leads to outside the root; inside the root, links are followed', async () => {
    const far = await outside.create('acme', 'far')
    const farNormal = await outside.create('acme', 'far-normal', { layout: 'normal' })
    const near = await create()
    await Promise.all([far, farNormal].map(repository => repository.commit({ a: 'a' })))
    const commit = await near.commit({ a: 'a' })

    await symlink(outside.root, inRoot('linked-owner'))
    await symlink(join(outside.root, 'acme'), inRoot('linked-acme'))
    await symlink(far.gitDir, inRoot('acme', 'linked-repository'))
    await mkdir(inRoot('acme', 'linked-git-dir'))
    await symlink(farNormal.gitDir, inRoot('acme', 'linked-git-dir', '.git'))
    await mkdir(inRoot('acme', 'pointer-out'))
    await writeFile(inRoot('acme', 'pointer-out', '.git'), `gitdir: ${farNormal.gitDir}\n`)
    for (const [owner, name] of [
      ['linked-owner', 'acme'],
      ['linked-acme', 'far'],
      ['acme', 'linked-repository'],
      ['acme', 'linked-git-dir'],
      ['acme', 'pointer-out'],
    ] as const) {
      expect(await look(owner, name)).toEqual(MISSING)
    }

    await symlink(inRoot('acme'), inRoot('alias'))
    await symlink(near.gitDir, inRoot('acme', 'alias'))
    expect(await look('alias', near.name)).toEqual(ok(commit))
    expect(await look('acme', 'alias')).toEqual(ok(commit))
    await rm(inRoot('acme', 'alias'))
    await symlink(far.gitDir, inRoot('acme', 'alias'))
    expect(await look('acme', 'alias')).toEqual(MISSING)
  })

  test('a worktree of a repository outside the root', async () => {
    const far = await outside.create('acme', 'far-trees', { layout: 'normal' })
    await far.commit({ a: 'a' })
    const name = nextName()
    await far.git('worktree', 'add', '--quiet', '--no-checkout', '--detach', inRoot('acme', name))
    expect(await look('acme', name)).toEqual(MISSING)
    const inner = join(far.gitDir, 'worktrees', name)
    await cp(inner, inRoot('acme', name, 'git-dir'), { recursive: true })
    await writeFile(inRoot('acme', name, 'git-dir', 'commondir'), far.gitDir)
    await writeFile(inRoot('acme', name, '.git'), 'gitdir: git-dir\n')
    expect(await look('acme', name)).toEqual(MISSING)
  })

  test.each(['alternates', 'objects', 'refs', 'pack', 'loose folder', 'loose object', 'loose ref', 'packed-refs'])(
    'a repository that reads something outside it: %s',
    async kind => {
      const far = await outside.create('acme', nextName())
      const secret = await far.commit({ 'secret.md': 'secret' })
      await far.git('pack-refs', '--all')
      await far.branch('main', secret)
      await mkdir(join(far.gitDir, 'refs/heads'), { recursive: true })
      await writeFile(join(far.gitDir, 'refs/heads/main'), `${secret}\n`)
      const near = await create()
      await near.commit({ a: 'a' })
      const blob = await far.oidAt(secret, 'secret.md')
      const loose = `objects/${blob.slice(0, 2)}/${blob.slice(2)}`
      const swap = async (path: string) => {
        await rm(join(near.gitDir, path), { recursive: true, force: true })
        await mkdir(dirname(join(near.gitDir, path)), { recursive: true })
        await symlink(join(far.gitDir, path), join(near.gitDir, path))
      }
      if (kind === 'alternates') {
        await writeFile(join(near.gitDir, 'objects/info/alternates'), `# shared\n${join(far.gitDir, 'objects')}\n`)
        expect(await near.git('cat-file', 'blob', blob)).toBe('secret')
      }
      if (kind === 'objects') await swap('objects')
      if (kind === 'refs') await swap('refs')
      if (kind === 'pack') await swap('objects/pack')
      if (kind === 'loose folder') await swap(dirname(loose))
      if (kind === 'loose object') await swap(loose)
      if (kind === 'loose ref') await swap('refs/heads/main')
      if (kind === 'packed-refs') await swap('packed-refs')
      const described = { ...(await describeAt(host, await create())), name: near.name }
      expect(await look('acme', near.name)).toEqual(MISSING)
      expect(await host.resolve(described, secret)).toEqual(MISSING)
      await expect(host.open(described, secret, LIMITS)).rejects.toBeInstanceOf(ReadError)
      expect(await host.readRawFile(described, secret, 'secret.md')).toBeNull()
      if (kind !== 'loose folder' && kind !== 'loose object') return
      await rm(join(near.gitDir, kind === 'loose folder' ? dirname(loose) : loose))
      expect((await look('acme', near.name)).status).toBe('ok')
    },
  )

  test('a repository that came to read something outside after it was found: opening it looks again', async () => {
    const far = await outside.create('acme', nextName())
    const secret = await far.commit({ 'secret.md': 'secret' })
    const blob = await far.oidAt(secret, 'secret.md')
    const near = await create()
    await near.commit({ a: 'a' })
    const described = await describeAt(host, near)
    const folder = join(near.gitDir, 'objects', blob.slice(0, 2))
    await mkdir(folder, { recursive: true })
    await symlink(join(far.gitDir, 'objects', blob.slice(0, 2), blob.slice(2)), join(folder, blob.slice(2)))
    const commit = await near.commit({ 'secret.md': { blob } })
    await expect(host.open(described, commit, LIMITS)).rejects.toMatchObject({ code: 'index.fetch_failed' })
    expect(await host.readRawFile(described, commit, 'secret.md')).toBeNull()
    await rm(folder, { recursive: true })
    expect(await listAt(host, near, commit)).toMatchObject({ entries: [{ path: 'a' }, { path: 'secret.md', sizeBytes: null }] })
  })

  test.each(['HEAD', 'packed-refs', 'description', 'commondir', 'refs/heads/topic', 'objects/pack/pack-1.idx'])(
    'what waits for ever: a pipe as %s does not stop the host',
    async path => {
      const repository = await create()
      const commit = await repository.commit({ a: 'a' })
      await rm(join(repository.gitDir, path), { force: true })
      execFileSync('mkfifo', [join(repository.gitDir, path)])
      const expected = path === 'description' || path === 'commondir' ? ok(commit) : MISSING
      expect(await look('acme', repository.name)).toEqual(expected)
    },
  )

  test('a root that is no folder', async () => {
    await expect(openLocalHost({ root: inRoot('nowhere'), baseUrl: BASE_URL })).rejects.toThrow()
  })
})

describe('the settings of a repository', () => {
  test('are never read: no program, no include, no fetch, no replaced object', async () => {
    const repository = await create()
    const original = await repository.commit({
      'a.md': 'original',
      'gone.md': 'gone',
      '.gitattributes': '* diff=evil filter=evil\n',
    })
    const replaced = await repository.commit({ 'a.md': 'replaced' })
    const blob = await repository.oidAt(original, 'a.md')
    await repository.git('replace', blob, await repository.oidAt(replaced, 'a.md'))
    await repository.dropObject(await repository.oidAt(original, 'gone.md'))
    await repository.branch('main', original)

    const mark = join(outside.root, 'was-run')
    const run = `touch ${mark}`
    const promised = `[extensions]\n\tpartialClone = origin\n[remote "origin"]\n\tpromisor = true\n\turl = ext::${run}\n[protocol "ext"]\n\tallow = always\n`
    await writeFile(
      join(repository.gitDir, 'config'),
      `[core]\n\trepositoryformatversion = 1\n\tbare = true\n\tfsmonitor = ${run}\n\tsshCommand = ${run}\n\tpager = ${run}\n\tgitProxy = ${run}\n` +
        `\tattributesFile = /dev/zero\n\talternateRefsCommand = ${run}\n` +
        `[alias]\n\tls-tree = !${run}\n\tcat-file = !${run}\n[diff "evil"]\n\ttextconv = ${run}\n[filter "evil"]\n\tsmudge = ${run}\n\tclean = ${run}\n${promised}`,
    )
    await repository.git('cat-file', 'blob', '1'.repeat(40)).catch(() => {})
    await access(mark) // git itself runs what the settings say
    await rm(mark)

    // From here on git itself would stop at the settings.
    const pipe = join(outside.root, 'pipe')
    execFileSync('mkfifo', [pipe])
    const config = await readFile(join(repository.gitDir, 'config'), 'utf8')
    await writeFile(
      join(repository.gitDir, 'config'),
      `${config}[core]\n\tworktree = ${outside.root}\n[include]\n\tpath = ${pipe}\n[extensions]\n\tnoSuchExtension = true\n`,
    )
    for (const hook of ['post-checkout', 'reference-transaction', 'fsmonitor-watchman']) {
      await mkdir(join(repository.gitDir, 'hooks'), { recursive: true })
      await writeFile(join(repository.gitDir, 'hooks', hook), `#!/bin/sh\n${run}\n`, { mode: 0o755 })
    }

    expect(await look('acme', repository.name)).toEqual(ok(original))
    expect(await resolveAt(host, repository, original)).toEqual(ok(original))
    const { entries } = await listAt(host, repository, original)
    expect(entries.map(({ path, sizeBytes }) => [path, sizeBytes])).toEqual([
      ['.gitattributes', 24],
      ['a.md', 8],
      ['gone.md', null],
    ])
    const oids = entries.map(entry => entry.oid)
    expect(await textsAt(host, repository, original, oids)).toEqual(['* diff=evil filter=evil\n', 'original', null])
    const raw = await host.readRawFile(await describeAt(host, repository), original, 'a.md')
    expect(await textOf(raw?.bytes)).toBe('original')
    await expect(access(mark)).rejects.toThrow()
  })

  test('of the person who runs the service are not read either', async () => {
    const repository = await create()
    const commit = await repository.commit({ a: 'a' })
    const names = ['GIT_DIR', 'GIT_OBJECT_DIRECTORY', 'GIT_CONFIG_GLOBAL', 'GIT_NAMESPACE', 'GIT_TRACE']
    for (const name of names) process.env[name] = '/nonexistent'
    try {
      expect(await look('acme', repository.name)).toEqual(ok(commit))
      expect(await listAt(host, repository, commit)).toMatchObject({ entries: [{ path: 'a' }] })
    } finally {
      for (const name of names) delete process.env[name]
    }
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
    for (let move = 0; move < 300; move++) {
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

  test('that rests is answered from memory until it moves again', async () => {
    const repository = await create()
    const commits = [await repository.commit({ a: '1' }), await repository.commit({ a: '2' })]
    const described = await describeAt(host, repository)
    for (let round = 0; round < 4; round++) {
      const commit = commits[round % 2] as CommitSha
      await repository.branch('main', commit)
      await new Promise(resolve => setTimeout(resolve, 80))
      for (let ask = 0; ask < 200; ask++) expect(await host.resolve(described, 'main')).toEqual(ok(commit))
    }
  })
})

describe('a raw file', () => {
  let repository: TestRepository
  let commit: CommitSha

  beforeAll(async () => {
    repository = await create()
    commit = await repository.commit({
      'a b/%5B*.md': 'text',
      'large.bin': new Uint8Array(3_000_000).fill(7),
      empty: '',
      'link.md': { link: 'a b/%5B*.md' },
      module: { submodule: '1'.repeat(40) },
    })
  })

  test('is given with its size and all of its bytes', async () => {
    const described = await describeAt(host, repository)
    for (const [path, size] of [
      ['a b/%5B*.md', 4],
      ['large.bin', 3_000_000],
      ['empty', 0],
    ] as const) {
      const raw = await host.readRawFile(described, commit.toUpperCase(), path)
      expect(raw).toMatchObject({ sizeBytes: size, oid: await repository.oidAt(commit, path) })
      expect(await textOf(raw?.bytes)).toHaveLength(size)
    }
    expect(await textOf((await host.readRawFile(described, commit, 'link.md'))?.bytes)).toBe('a b/%5B*.md')
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
    '--help',
    'a\0b',
  ])('is not at %j', async path => {
    expect(await host.readRawFile(await describeAt(host, repository), commit, path)).toBeNull()
  })

  test('is of a commit that a ref leads to, given in full', async () => {
    const described = await describeAt(host, repository)
    const hidden = await repository.commit({ 'secret.md': 'secret' }, { branch: null })
    for (const other of [hidden, 'main', commit.slice(0, 12), '', `${commit}^{tree}`, '0'.repeat(40)]) {
      expect(await host.readRawFile(described, other, other === hidden ? 'secret.md' : 'empty')).toBeNull()
    }
  })

  test('that is missing or damaged fails, and may be left before its end', async () => {
    const broken = await create()
    const at = await broken.commit({ gone: 'gone', damaged: 'd', large: new Uint8Array(5_000_000).fill(1) })
    await broken.dropObject(await broken.oidAt(at, 'gone'))
    const described = await describeAt(host, broken)
    expect(await host.readRawFile(described, at, 'gone')).toBeNull()
    const damaged = await host.readRawFile(described, at, 'damaged')
    await broken.corruptObject(await broken.oidAt(at, 'damaged'))
    await expect(textOf(damaged?.bytes)).rejects.toBeInstanceOf(ReadError)
    for await (const chunk of (await host.readRawFile(described, at, 'large'))?.bytes ?? []) {
      expect(chunk.length).toBeGreaterThan(0)
      break
    }
  })

  test('has its address at this service', async () => {
    const described = await describeAt(host, repository)
    expect(host.urls.raw(described, commit, 'a b/%5B*.md')).toBe(
      `${BASE_URL}/git/local/acme/${repository.name}/raw/${commit}/a%20b/%255B*.md`,
    )
  })
})

describe('a host that is closed', () => {
  test('ends what still reads, and leaves no files behind', async () => {
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
    await new Promise(resolve => setTimeout(resolve, 50))
    await other.close()
    await failed
    await reader.close()
    await readAt(host, repository, commit, async () => {})
    expect(await readdir(temporary.path)).toEqual([])
  })

  test('and was killed: what it left behind is removed an hour later', async () => {
    const [old, young] = await Promise.all([
      mkdtemp(join(temporary.path, 'mountglass-git-')),
      mkdtemp(join(temporary.path, 'mountglass-git-')),
    ])
    const overAnHourAgo = Date.now() / 1000 - 3_660
    await utimes(old, overAnHourAgo, overAnHourAgo)
    await (await openLocalHost({ root: repositories.root, baseUrl: BASE_URL })).close()
    expect(await readdir(temporary.path)).toEqual([basename(young)])
    await rm(young, { recursive: true })
  })
})

async function textOf(bytes: AsyncIterable<Uint8Array> | undefined): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of bytes ?? []) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
