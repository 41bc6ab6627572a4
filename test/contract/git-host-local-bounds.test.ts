import { execFileSync } from 'node:child_process'
import { access, cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { ReadError } from '#core/ports/git-host.ts'
import { openLocalHost } from '#infra/local/host.ts'
import { describeAt, LIMITS, listAt, MISSING, ok, resolveAt, textsAt } from './git-host-asking.ts'
import { BASE_URL, openLocalHostScene } from './git-host-local-scene.ts'

const scene = await openLocalHostScene()
const { outside, host, nextName, create, inRoot, look, rawText } = scene
afterAll(scene.close)

describe('missing is', () => {
  test('a folder that is no repository', async () => {
    await mkdir(inRoot('acme', 'folder'), { recursive: true })
    await writeFile(inRoot('acme', 'file'), 'file')
    await mkdir(inRoot('acme', 'pointer'))
    await writeFile(inRoot('acme', 'pointer', '.git'), 'gitdir: nowhere\n')
    await mkdir(inRoot('acme', 'headless.git', 'objects'), { recursive: true })
    for (const name of ['folder', 'file', 'pointer', 'headless']) expect(await look('acme', name)).toEqual(MISSING)
  })

  test('a repository whose refs have an unsupported format', async () => {
    const repository = await create()
    await repository.commit({ a: 'a' })
    await mkdir(join(repository.gitDir, 'reftable'))
    expect(await look('acme', repository.name)).toEqual(MISSING)
  })

  test('the target of a link that leads outside the root; links inside the root are followed', async () => {
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
    'a repository that reads something outside of itself: %s',
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
      expect(await rawText(described, secret, 'secret.md')).toBeNull()
      if (kind !== 'loose folder' && kind !== 'loose object') return
      await rm(join(near.gitDir, kind === 'loose folder' ? dirname(loose) : loose))
      expect((await look('acme', near.name)).status).toBe('ok')
    },
  )

  test('a repository that began to read outside of itself after its look-up: opening it checks again', async () => {
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
    expect(await rawText(described, commit, 'secret.md')).toBeNull()
    await rm(folder, { recursive: true })
    expect(await listAt(host, near, commit)).toMatchObject({ entries: [{ path: 'a' }, { path: 'secret.md', sizeBytes: null }] })
  })

  test.each(['HEAD', 'packed-refs', 'description', 'commondir', 'refs/heads/topic', 'objects/pack/pack-1.idx'])(
    'a file that blocks its reader: a pipe as %s does not stop the host',
    async path => {
      const repository = await create()
      const commit = await repository.commit({ a: 'a' })
      await rm(join(repository.gitDir, path), { force: true })
      execFileSync('mkfifo', [join(repository.gitDir, path)])
      const expected = ['description', 'commondir', 'refs/heads/topic'].includes(path) ? ok(commit) : MISSING
      expect(await look('acme', repository.name)).toEqual(expected)
    },
  )

  test('a root that is no folder', async () => {
    await expect(openLocalHost({ root: inRoot('nowhere'), baseUrl: BASE_URL })).rejects.toThrow()
  })
})

test('a repository with too many branches and tags is unavailable as a whole', async () => {
  const repository = await create()
  const commit = await repository.commit({ a: 'a' })
  const refs = Array.from({ length: 50_001 }, (_, number) => `${commit} refs/tags/${`${number}`.padStart(5, '0')}\n`)
  await writeFile(join(repository.gitDir, 'packed-refs'), refs.slice(1).join(''))
  expect(await resolveAt(host, repository, '00001')).toEqual(ok(commit))
  await writeFile(join(repository.gitDir, 'packed-refs'), refs.join(''))
  for (const ref of ['00001', 'refs/heads/none', commit])
    expect(await resolveAt(host, repository, ref)).toEqual({ status: 'unavailable', retryAfterSeconds: null })
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
    expect(await rawText(await describeAt(host, repository), original, 'a.md')).toBe('original')
    await expect(access(mark)).rejects.toThrow()
  })

  test('of the user who runs the service are not read either', async () => {
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
