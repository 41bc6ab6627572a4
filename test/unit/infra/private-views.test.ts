import { lstat, mkdir, readdir, readlink, rename, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { runGit } from '#infra/git/process.ts'
import { isStillAt, openReal } from '#infra/git/safe-open.ts'
import type { GitView } from '#infra/git/view.ts'
import { ViewTooLarge, ViewUnavailable } from '#infra/local/object-files.ts'
import { PrivateViews, VIEW_BOUNDS, type ViewBounds } from '#infra/local/private-views.ts'
import { createRepositories, type TestRepositories, type TestRepository } from '#test/support/repository.ts'
import { otherFileSystem } from '#test/support/temporary-files.ts'
import { type TemporaryFolder, takeTemporaryFolder } from '#test/support/temporary-folder.ts'
import { until } from '#test/support/until.ts'

let repositories: TestRepositories
let temporary: TemporaryFolder
let created = 0
const opened: PrivateViews[] = []
const never = new AbortController().signal

beforeAll(async () => {
  repositories = await createRepositories()
  temporary = await takeTemporaryFolder()
})
afterEach(async () => {
  for (const views of opened.splice(0)) await views.close()
  expect(await readdir(temporary.path)).toEqual([])
})
afterAll(async () => {
  await temporary.giveBack()
  await repositories.remove()
})

function createViews(bounds: Partial<ViewBounds> = {}): PrivateViews {
  const views = new PrivateViews({ ...VIEW_BOUNDS, ...bounds })
  opened.push(views)
  return views
}

/** A repository with a loose and a packed blob. */
async function createRepository() {
  const repository = await repositories.create('acme', `tools-${created++}`)
  const commit = await repository.commit({ 'packed.md': 'packed' })
  await repository.git('repack', '-adq')
  const loose = await repository.writeBlob('loose')
  return { repository, commit, loose, packed: await repository.oidAt(commit, 'packed.md') }
}

const placeOf = ({ gitDir }: TestRepository) => ({ commonDir: gitDir, objects: gitDir })

async function open(views: PrivateViews, repository: TestRepository): Promise<GitView> {
  const view = await views.open(placeOf(repository), never)
  if (view === null) throw new Error('the repository is not self-contained')
  return view
}

async function textAt({ gitDir }: GitView, oid: string): Promise<string | null> {
  return runGit(['cat-file', 'blob', oid], { gitDir }).then(String, () => null)
}

describe('a private view', () => {
  test('has the objects of the repository, and nothing else that git reads', async () => {
    const { repository, loose, packed } = await createRepository()
    await repository.git('config', 'core.alternateRefsCommand', 'false')
    await writeFile(join(repository.gitDir, 'objects/info/commit-graph'), 'wrong')
    const view = await open(createViews(), repository)
    expect([await textAt(view, loose), await textAt(view, packed)]).toEqual(['loose', 'packed'])
    expect((await readdir(join(view.gitDir, 'objects'))).sort()).toEqual([loose.slice(0, 2), 'pack'])
    expect(await readdir(join(view.gitDir, 'refs'))).toEqual([])
    expect((await lstat(join(view.gitDir, 'objects'))).isDirectory()).toBe(true)
  })

  test('follows the repository: new objects are added, removed ones are removed', async () => {
    const { repository, loose } = await createRepository()
    const views = createViews()
    const view = await open(views, repository)
    const another = await repository.writeBlob('another')
    await rm(join(repository.gitDir, 'objects', loose.slice(0, 2)), { recursive: true })
    expect(await textAt(view, another)).toBeNull()
    await (await open(views, repository)).remove()
    expect([await textAt(view, another), await textAt(view, loose)]).toEqual(['another', null])
  })

  test('stays readable while the repository is repacked, and after its removal', async () => {
    const { repository, commit, packed } = await createRepository()
    const views = createViews()
    const view = await open(views, repository)
    await repository.git('tag', 'more', await repository.commit({ 'more.md': 'more' }))
    await repository.git('gc', '--quiet', '--prune=now')
    expect(await textAt(view, packed)).toBe('packed')
    await (await open(views, repository)).remove()
    expect(await textAt(view, packed)).toBe('packed')
    await rm(repository.gitDir, { recursive: true })
    expect(await runGit(['rev-list', commit], { gitDir: view.gitDir }).then(String)).toBe(`${commit}\n`)
  })

  test('keeps the file that it found, even if another one replaces it', async () => {
    const { repository, loose } = await createRepository()
    const foreign = await createRepository()
    const secret = await foreign.repository.writeBlob('foreign')
    const view = await open(createViews(), repository)
    const own = join(repository.gitDir, 'objects')
    await rename(own, `${own}-away`)
    await symlink(join(foreign.repository.gitDir, 'objects'), own)
    expect([await textAt(view, loose), await textAt(view, secret)]).toEqual(['loose', null])
  })

  test('is refused while a file is a link, and given again afterwards', async () => {
    const { repository, packed } = await createRepository()
    const views = createViews()
    const path = join(repository.gitDir, 'objects/pack/pack-evil.idx')
    await symlink('/etc/hostname', path)
    expect(await views.open(placeOf(repository), never)).toBeNull()
    await rm(path)
    expect(await textAt(await open(views, repository), packed)).toBe('packed')
  })

  test('of a shallow clone has the boundary of the history', async () => {
    const { repository, commit } = await createRepository()
    const last = await repository.commit({ 'more.md': 'more' })
    await repository.dropObject(commit)
    await writeFile(join(repository.gitDir, 'shallow'), `${last}\n`)
    const view = await open(createViews(), repository)
    expect(await runGit(['rev-list', last], { gitDir: view.gitDir }).then(String)).toBe(`${last}\n`)
  })
})

describe('the files of a view', () => {
  test('are held open if they are packs, and linked if they are loose', async () => {
    const { repository, loose } = await createRepository()
    const { gitDir } = await open(createViews(), repository)
    const [pack = ''] = await readdir(join(gitDir, 'objects/pack'))
    expect(await readlink(join(gitDir, 'objects/pack', pack))).toMatch(/^\/proc\/\d+\/fd\/\d+$/)
    const path = join('objects', loose.slice(0, 2), loose.slice(2))
    expect((await lstat(join(gitDir, path))).ino).toBe((await lstat(join(repository.gitDir, path))).ino)
  })

  test('are linked where too many are open', async () => {
    const { repository, packed } = await createRepository()
    const view = await open(createViews({ ofView: { heldFiles: 0, copiedBytes: 0 } }), repository)
    for (const name of await readdir(join(view.gitDir, 'objects/pack')))
      expect((await lstat(join(view.gitDir, 'objects/pack', name))).isFile()).toBe(true)
    expect(await textAt(view, packed)).toBe('packed')
  })

  test('are copied from another file system, up to a bound', async () => {
    const far = await takeTemporaryFolder(otherFileSystem())
    try {
      const { repository, loose, packed } = await createRepository()
      expect((await stat(far.path)).dev).not.toBe((await stat(repository.gitDir)).dev)
      const views = createViews({ ofView: { heldFiles: 0, copiedBytes: 1024 * 1024 } })
      const view = await open(views, repository)
      expect([await textAt(view, loose), await textAt(view, packed)]).toEqual(['loose', 'packed'])
      const small = createViews({ ofView: { heldFiles: 0, copiedBytes: 100 } })
      await expect(small.open(placeOf(repository), never)).rejects.toBeInstanceOf(ViewTooLarge)
      await views.close()
    } finally {
      await far.giveBack()
    }
  })
})

const LARGE_BYTES = 256 * 1024 * 1024

/** Bytes of the copies that are being made below the folder. */
async function stagedBytes(folder: string): Promise<number> {
  const files = (await readdir(folder, { recursive: true })).filter(path => /staging\/\d+$/.test(path))
  const sizes = await Promise.all(
    files.map(path =>
      stat(join(folder, path)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

describe('views', () => {
  test('are removed when they are idle or too many, but not while they are in use', async () => {
    const sources = await Promise.all(Array.from({ length: 3 }, createRepository))
    const views = createViews({ views: 1 })
    const [first, ...others] = await Promise.all(sources.map(({ repository }) => open(views, repository)))
    for (const view of others) await view.remove()
    const last = await open(views, (sources[2] as (typeof sources)[0]).repository)
    await until(async () => (await readdir(temporary.path)).length === 2)
    expect(await textAt(first as GitView, sources[0]?.packed ?? '')).toBe('packed')
    await Promise.all([first, last].map(view => view?.remove()))

    const brief = createViews({ idleMs: 1 })
    await (await open(brief, sources[0]?.repository as TestRepository)).remove()
    await views.close()
    await until(async () => (await readdir(temporary.path)).length === 0)
  })

  test('hold no more files than their common limit, while all of them are in use', async () => {
    const sources = await Promise.all(Array.from({ length: 3 }, createRepository))
    const views = createViews({ heldFiles: 2 })
    const lent = await Promise.all(sources.map(({ repository }) => open(views, repository)))
    const files = await Promise.all(
      lent.map(async ({ gitDir }) => {
        const folder = join(gitDir, 'objects/pack')
        return Promise.all((await readdir(folder)).map(name => lstat(join(folder, name))))
      }),
    )
    expect(files.flat().filter(file => file.isSymbolicLink())).toHaveLength(2)
    expect(files.flat()).toHaveLength(6)
    for (const [index, view] of lent.entries()) expect(await textAt(view, sources[index]?.packed ?? '')).toBe('packed')
  })

  test('take no more space than their common limit: an idle one is evicted, one in use is not', async () => {
    const far = await takeTemporaryFolder(otherFileSystem())
    try {
      const [first, second] = await Promise.all([createRepository(), createRepository()])
      // Five copies of a block each: three loose objects, a pack and its index.
      const views = createViews({ ofView: { heldFiles: 0, copiedBytes: 1024 * 1024 }, copiedBytes: 40_000 })
      const lent = await open(views, first.repository)
      const other = await repositories.create('acme', `tools-${created++}`)
      const blob = await other.writeBlob(Buffer.from(Array.from({ length: 30_000 }, (_, index) => (index * index * 31) % 251)))
      for (let number = 0; number < 7; number++) await other.writeBlob(`${number}`)
      await expect(open(views, other)).rejects.toBeInstanceOf(ViewUnavailable)
      expect(await textAt(lent, first.packed)).toBe('packed')
      await lent.remove()
      expect(await textAt(await open(views, other), blob)).not.toBeNull()
      await expect(open(views, second.repository)).rejects.toBeInstanceOf(ViewUnavailable)
      await views.close()
    } finally {
      await far.giveBack()
    }
  })

  test('occupy their space until their copies are removed, even if they are discarded while they copy', async () => {
    const far = await takeTemporaryFolder(otherFileSystem())
    try {
      const [large, small] = await Promise.all([createRepository(), createRepository()])
      const object = join(large.repository.gitDir, 'objects/ff', 'f'.repeat(38))
      await mkdir(dirname(object))
      await writeFile(object, '')
      await truncate(object, LARGE_BYTES)
      // The large one has five blocks besides, the small one more than five.
      for (let number = 0; number < 4; number++) await small.repository.writeBlob(`small ${number}`)
      const bounds = { ofView: { heldFiles: 0, copiedBytes: 2 * LARGE_BYTES }, copiedBytes: LARGE_BYTES + 5 * 4_096 }
      const views = createViews(bounds)
      const copying = views.open(placeOf(large.repository), AbortSignal.abort())
      await expect(copying).rejects.toBeInstanceOf(ViewUnavailable)
      await until(async () => (await stagedBytes(far.path)) > 0)
      const view = await open(views, small.repository)
      expect(await readdir(far.path), 'the large one is gone').toEqual([basename(view.gitDir)])
      expect(await textAt(view, small.packed)).toBe('packed')
      await views.close()
    } finally {
      await far.giveBack()
    }
  })

  test('are shared by all readers of the repository, and each reader sees the objects of its request time', async () => {
    const { repository } = await createRepository()
    const views = createViews()
    const asked: Promise<void>[] = []
    for (let step = 0; step < 30; step++) {
      const oid = await repository.writeBlob(`step ${step}`)
      asked.push(
        open(views, repository).then(async view => {
          expect((await readdir(join(view.gitDir, 'objects', oid.slice(0, 2)))).join()).toContain(oid.slice(2))
          await view.remove()
        }),
      )
    }
    await Promise.all(asked)
    expect(await readdir(temporary.path)).toHaveLength(1)
  })
})

describe('a real path', () => {
  test('opens only where no component is a link', async () => {
    const folder = join(repositories.root, 'real')
    await mkdir(folder)
    await writeFile(join(folder, 'file'), 'text')
    await symlink(folder, join(repositories.root, 'link'))
    await symlink('file', join(folder, 'link'))
    const file = await openReal(join(folder, 'file'))
    expect(await file?.readFile('utf8')).toBe('text')
    for (const path of ['link/file', 'real/link', 'real/absent']) expect(await openReal(join(repositories.root, path))).toBeNull()

    // What other systems than Linux check.
    if (file === null) throw new Error('unreachable')
    expect(await isStillAt(file, join(folder, 'file'))).toBe(true)
    expect(await isStillAt(file, join(repositories.root, 'link/file'))).toBe(false)
    await writeFile(join(folder, 'other'), 'text')
    expect(await isStillAt(file, join(folder, 'other'))).toBe(false)
    await file.close()
  })
})
