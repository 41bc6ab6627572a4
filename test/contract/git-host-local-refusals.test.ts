import { appendFile, mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openLocalHost } from '#infra/local/host.ts'
import { createRepositories, type TestRepositories, type TestRepository } from '#test/support/repository.ts'

type Host = Awaited<ReturnType<typeof openLocalHost>>

let repositories: TestRepositories
let outside: TestRepositories
let host: Host
let told: string[]
beforeEach(async () => {
  ;[repositories, outside] = await Promise.all([createRepositories(), createRepositories()])
  told = []
  const onRefused = ({ owner, name }: { owner: string; name: string }, reason: string) => {
    told.push(`${owner}/${name}: ${reason}`)
  }
  host = await openLocalHost({ root: repositories.root, baseUrl: 'https://mountglass.example', onRefused })
})
afterEach(async () => {
  await host.close()
  await Promise.all([repositories.remove(), outside.remove()])
})

/** The status of what a visitor of the default branch is answered. */
async function look(owner: string, name: string): Promise<string> {
  const found = await host.repository(owner, name)
  return found.status === 'ok' ? (await host.resolve(found.value, null)).status : found.status
}

const inRoot = (...path: string[]) => join(repositories.root, ...path)

test.each<[string, (near: TestRepository, far: TestRepository) => Promise<unknown>, RegExp]>([
  [
    'alternates',
    (near, far) => writeFile(join(near.gitDir, 'objects/info/alternates'), `${join(far.gitDir, 'objects')}\n`),
    /borrows objects.*git repack/,
  ],
  ['commondir', (near, far) => writeFile(join(near.gitDir, 'commondir'), `${far.gitDir}\n`), /shares the objects/],
  ['reftables', near => mkdir(join(near.gitDir, 'reftable')), /reftables.*git refs migrate/],
  ['an invalid HEAD', near => writeFile(join(near.gitDir, 'HEAD'), 'x'), /HEAD cannot be read/],
  ['objects that are a link', (near, far) => swap(near, far, 'objects'), /objects or refs/],
  ['a packed-refs that is a link', (near, far) => swap(near, far, 'packed-refs'), /packed-refs/],
  ['packs that are a link', (near, far) => swap(near, far, 'objects/pack'), /links.*lie among its objects or refs/],
])('the operator is told once why a repository is not served: %s', async (_name, spoil, reason) => {
  const [near, far] = await Promise.all([repositories.create('acme', 'near'), outside.create('acme', 'far')])
  for (const repository of [near, far]) await repository.commit({ a: 'a' })
  await spoil(near, far)
  for (let visit = 0; visit < 3; visit++) expect(await look('acme', 'near')).toBe('missing')
  expect(told).toEqual([expect.stringMatching(reason)])
  expect(told[0]).toMatch(/^acme\/near: /)
  expect(told[0]).not.toContain(repositories.root)
})

test('a link out of the folder, a dangling link and a file .git are reported', async () => {
  const far = await outside.create('acme', 'far')
  await far.commit({ a: 'a' })
  await mkdir(inRoot('acme', 'file'), { recursive: true })
  await symlink(far.gitDir, inRoot('acme', 'out'))
  await symlink(inRoot('acme', 'gone'), inRoot('acme', 'dangling'))
  await writeFile(inRoot('acme', 'file', '.git'), `gitdir: ${far.gitDir}\n`)
  for (const name of ['out', 'dangling', 'file']) expect(await look('acme', name)).toBe('missing')
  expect(told).toEqual([
    expect.stringContaining('acme/out: it is a link to a place'),
    expect.stringContaining('acme/dangling: it is a link that leads nowhere'),
    expect.stringContaining('acme/file: its .git is a file'),
  ])
})

test('a missing repository and a served one are not reported', async () => {
  const bare = await repositories.create('acme', 'tools')
  await bare.commit({ a: 'a' })
  expect(await look('acme', 'tools')).toBe('ok')
  for (const name of ['nothing', '..', 'tools.git']) expect(await look('acme', name)).toBe('missing')
  expect(told).toEqual([])
})

test('the operator lists the repositories of the folder, at their real places', async () => {
  for (const name of ['zebra', 'ant']) await repositories.create('acme', name)
  await repositories.create('other', 'tools', { layout: 'normal' })
  await mkdir(inRoot('acme', 'notes'))
  await mkdir(inRoot('.hidden', 'x', '.git'), { recursive: true })
  await mkdir(inRoot('acme', 'broken', '.git'), { recursive: true })
  await writeFile(inRoot('file'), '')
  await symlink(inRoot('other', 'tools'), inRoot('acme', 'alias'))
  await writeFile(inRoot('other', 'tools', '.git', 'mountglass-private'), '')
  const { repositories: listed, isComplete } = await host.list(100)
  expect(listed.map(({ owner, name, visibility }) => `${owner}/${name} ${visibility}`)).toEqual([
    'acme/ant public',
    'acme/zebra public',
    'other/tools private',
  ])
  expect(isComplete).toBe(true)
  // A plain folder is no repository, and needs no word.
  expect(told).toEqual([expect.stringContaining('acme/broken: its HEAD')])
  expect((await host.list(2)).isComplete).toBe(false)
})

async function swap(near: TestRepository, far: TestRepository, path: string): Promise<void> {
  if (path === 'packed-refs') await far.git('pack-refs', '--all')
  await rm(join(near.gitDir, path), { recursive: true, force: true })
  await symlink(join(far.gitDir, path), join(near.gitDir, path))
}

test('the operator is told of repositories whose names no address can have, and of other object formats', async () => {
  for (const name of ['.github', '.dotfiles', 'two words', 'grün', 'new']) await repositories.create('acme', name)
  await mkdir(inRoot('acme', '.cache'))
  await appendFile(inRoot('acme', 'new.git', 'config'), '[extensions]\n\tobjectformat = sha256\n')
  const { repositories: listed } = await host.list(100)
  expect(listed.map(({ name }) => name)).toEqual(['.github'])
  const names = told.map(line => line.split(': ')[0])
  expect(names.sort()).toEqual(['acme/.dotfiles', 'acme/grün', 'acme/new', 'acme/two words'])
  expect(told.find(line => line.startsWith('acme/new:'))).toMatch(/SHA-256/)
  expect(told.find(line => line.startsWith('acme/two words:'))).toMatch(/no address can have its name/)
  await host.list(100)
  expect(told).toHaveLength(4)
})
