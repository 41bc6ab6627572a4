import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CommitSha } from '#core/commit-sha.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { lastIndexedKey } from '#core/snapshot/store-keys.ts'
import { writeSnapshot } from '#indexer/pipeline/write-snapshot.ts'
import { openLocalHost } from '#infra/local/host.ts'
import { createMemoryBlobStore, createMemoryStateStore } from '#infra/memory-stores.ts'
import { systemClock } from '#infra/system/system.ts'
import { answered } from '#test/support/answered.ts'
import { index } from '#test/support/indexed.ts'
import { createRepositories, type TestFile, type TestRepositories } from '#test/support/repository.ts'
import { meaningOf } from '#test/support/snapshot-meaning.ts'

let repositories: TestRepositories
let made = 0

beforeAll(async () => {
  repositories = await createRepositories()
})
afterAll(() => repositories.remove())

const OPEN = { 'package.json': '{"license":"MIT"}' }
const RESERVED = 'All rights reserved.\n'

const skill = (name: string, body = 'Do it.\n', more = '') =>
  `---\nname: ${name}\ndescription: About ${name}.\n${more}---\n${body}`

async function indexFiles(files: Record<string, TestFile>) {
  const repository = await repositories.create('acme', `s${made++}`)
  const commit = await repository.commit({ ...OPEN, ...files })
  return index(repository, commit, repositories.root)
}

describe('search covers', () => {
  test('skills, their files and documents; no overviews, translations, internal or merely linked files', async () => {
    const { section } = await indexFiles({
      'README.md': '# Overview\n',
      'docs/page.md': '# Page\n\nSee [source](../src/main.ts).\n',
      'src/main.ts': 'export {}\n',
      'a/SKILL.md': skill('a', 'Do.\n', 'translations:\n  de: { name: Anders, description: Woanders }\n'),
      'a/notes.txt': 'notes\n',
      'a/run.py': 'print("codeword")\n',
      'b/SKILL.md': skill('b', 'Do.\n', 'metadata: { internal: true }\n'),
      'b/x.md': '# X\n',
    })
    expect(section?.items.map(({ path }) => path)).toEqual(['a/SKILL.md', 'a/notes.txt', 'a/run.py', 'docs/page.md'])
    const terms = [...(section?.terms.keys() ?? [])]
    expect(terms).toEqual(expect.arrayContaining(['page', 'source', 'notes.txt', 'run.py']))
    for (const term of ['ander', 'woander', 'overview', 'codeword']) expect(terms).not.toContain(term)
  })

  test('passages of documents and prose of skills, and of nothing else', async () => {
    const { section, text } = await indexFiles({
      'docs/page.md': '# Page\n\nWords.\n',
      'docs/same.md': '# Page\n\nWords.\n',
      'reserved/LICENSE': RESERVED,
      'reserved/page.md': '# Secret\n',
      'a/SKILL.md': skill('a'),
      'a/notes.txt': 'notes\n',
      'a/run.py': 'print()\n',
    })
    const texts = section?.items.map(item => [item.path, item.text && text(item.text)])
    expect(texts).toEqual([
      ['a/SKILL.md', null],
      ['a/notes.txt', 'notes\n'],
      ['a/run.py', null],
      ['docs/page.md', '# Page\n\nWords.\n'],
      ['docs/same.md', '# Page\n\nWords.\n'],
      ['reserved/page.md', null],
    ])
  })

  test('keywords of delivered content, and name and description alone of the rest', async () => {
    const { section } = await indexFiles({
      'docs/page.md': '---\nkeywords: [orchard]\n---\n# Page\n',
      'a/SKILL.md': skill('a', 'Do.\n', 'metadata:\n  tags: harvest, cellar\n'),
      'reserved/LICENSE': RESERVED,
      'reserved/SKILL.md': skill('closed-thing', '# Meadow\n\nPasture.\n', 'keywords: [pond]\n'),
      'reserved/x.md': '# Brook\n',
    })
    const terms = [...(section?.terms.keys() ?? [])]
    expect(terms).toEqual(expect.arrayContaining(['orchard', 'harvest', 'cellar', 'closed-thing']))
    for (const term of ['meadow', 'pasture', 'pond', 'brook']) expect(terms).not.toContain(term)
  })
})

describe('one commit after another', () => {
  const FIRST: Record<string, TestFile> = {
    'docs/a.md': '# A\n\nalpha zebra\n',
    'docs/b.md': '# B\n\nbeta zebra\n',
    'docs/c.md': '# C\n\ngamma zebra\n',
    's/SKILL.md': skill('s', 'delta zebra\n'),
    's/x.md': '# X\n\nepsilon zebra\n',
  }

  async function commits(...changes: Record<string, TestFile>[]) {
    const repository = await repositories.create('acme', `s${made++}`)
    const host = await openLocalHost({ root: repositories.root, baseUrl: 'http://127.0.0.1' })
    const shas: CommitSha[] = []
    for (const files of changes) shas.push(await repository.commit({ ...OPEN, ...files }))
    const described = answered(await host.repository(repository.owner, repository.name))
    return { host, repository: described, shas }
  }

  /** What the snapshot of the last commit says. */
  async function indexAll(
    { host, repository }: Awaited<ReturnType<typeof commits>>,
    shas: readonly CommitSha[],
    states?: StateStore,
    blobs = createMemoryBlobStore(systemClock),
  ): Promise<unknown> {
    for (const commit of shas) {
      await writeSnapshot(
        { blobs, hosts: [host], ...(states ? { states } : {}) },
        { repository, commit },
        new AbortController().signal,
      )
    }
    return await meaningOf(blobs, repository, shas.at(-1) as CommitSha)
  }

  const CHANGED = { ...FIRST, 'docs/b.md': '# B\n\nchanged words\n', 'docs/bb.md': '# New\n' }

  test('the second index equals one from scratch', async () => {
    const made = await commits(FIRST, CHANGED)
    const fromScratch = await indexAll(made, made.shas.slice(1))
    const states = createMemoryStateStore()
    expect(await indexAll(made, made.shas, states)).toEqual(fromScratch)
    expect((await states.read(lastIndexedKey(made.repository)))?.value).toEqual({ commit: made.shas[1] })
    await made.host.close()
  })

  test.each<[string, (commits: { repository: HostRepository; shas: CommitSha[] }, states: StateStore) => Promise<unknown>]>([
    ['names a commit that is not there', ({ repository }, states) => write(states, repository, { commit: 'd'.repeat(40) })],
    ['is of no known form', ({ repository }, states) => write(states, repository, ['what', { is: 'this' }])],
    ['cannot be read or written', async (_, states) => Object.assign(states, { read: () => Promise.reject(new Error('down')) })],
  ])('the snapshot equals one from scratch when the record of the last commit %s', async (_, spoil) => {
    const made = await commits(FIRST, CHANGED)
    const fromScratch = await indexAll(made, made.shas.slice(1))
    const states = createMemoryStateStore()
    const blobs = createMemoryBlobStore(systemClock)
    await indexAll(made, made.shas.slice(0, 1), states, blobs)
    await spoil(made, states)
    expect(await indexAll(made, made.shas.slice(1), states, blobs)).toEqual(fromScratch)
    await made.host.close()
  })

  test('a formerly public repository starts from nothing when it is private, and no public object changes', async () => {
    const made = await commits(FIRST, CHANGED)
    const states = createMemoryStateStore()
    const blobs = createMemoryBlobStore(systemClock)
    await indexAll(made, made.shas, states, blobs)
    const keys = await blobs.list('')
    const hidden = { ...made, repository: { ...made.repository, visibility: 'private' as const } }
    const read: string[] = []
    const watched = {
      ...blobs,
      readRange(...asked: Parameters<typeof blobs.readRange>) {
        read.push(asked[0])
        return blobs.readRange(...asked)
      },
    }
    await indexAll(hidden, made.shas, states, watched)
    expect(await blobs.list('pub/')).toEqual(keys)
    expect((await blobs.list('prv/')).map(key => key.replace('prv/', 'pub/'))).toEqual(keys)
    expect(read.filter(key => !key.startsWith('prv/'))).toEqual([])
    for (const { repository } of [made, hidden]) {
      expect((await states.read(lastIndexedKey(repository)))?.value).toEqual({ commit: made.shas[1] })
    }
    await made.host.close()
  })

  async function write(
    states: StateStore,
    repository: HostRepository,
    value: Parameters<StateStore['create']>[1],
  ): Promise<void> {
    await states.remove(lastIndexedKey(repository))
    await states.create(lastIndexedKey(repository), value)
  }

  test('a job that failed because of the earlier snapshot does not use it again', async () => {
    const made = await commits(FIRST, CHANGED)
    const states = createMemoryStateStore()
    const blobs = createMemoryBlobStore(systemClock)
    await indexAll(made, made.shas.slice(0, 1), states, blobs)
    const full = { ...blobs, create: () => Promise.reject(new Error('no space')) }
    await expect(indexAll(made, made.shas.slice(1), states, full)).rejects.toThrow('no space')
    expect(await states.read(lastIndexedKey(made.repository))).toBeNull()
    await made.host.close()
  })
})
