import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { parseRepositoryRule } from '#api/mount/repository-rule.ts'
import { rememberListings } from '#api/owners/keep-listed.ts'
import type { AnswerOf } from '#core/contract/endpoints.ts'
import { createOwnerListings, type OwnerListing } from '#core/owner-listings.ts'
import { hiddenKey, ownerListingKey } from '#core/snapshot/keys.ts'
import { indexAddress } from '#indexer/cli.ts'
import { openDiskDocStore } from '#infra/disk/doc-store.ts'
import { createMemoryDocStore } from '#infra/memory/doc-store.ts'
import type { Repository, RepositoryOptions } from '#test/support/fake-github/world.ts'
import { handClock, jobOf } from '#test/support/store-values.ts'
import { type Answer, type TestApp, testApp } from '#test/support/test-app.ts'

const skill = (name: string) => `---\nname: ${name}\ndescription: Does ${name}.\n---\nDo it.\n`
const skills = (...names: string[]) => Object.fromEntries(names.map(name => [`skills/${name}/SKILL.md`, skill(name)]))
const FILES = {
  'acme/tools': { 'LICENSE.md': 'All rights reserved.\n', ...skills('one') },
  'acme/kit': {
    'SKILLSET.md': '---\nname: Kit\ndescription: What we work with.\nimage: cover.png\n---\n',
    'cover.png': new Uint8Array(10),
    ...skills('a', 'b', 'c', 'd', 'e', 'f'),
  },
  'acme/plain': { 'README.md': '# Plain\n' },
  'acme/later': skills('x', 'y'),
}

let app: TestApp

beforeEach(async () => {
  app = await testApp(FILES, { github: { withToken: true } })
})

afterEach(async () => {
  expect(app.github.mistakes).toEqual([])
  await app.close()
})

type Page = AnswerOf<'owners'>

const ask = (owner = 'acme', query = ''): Promise<Answer> => app.get(`/api/v1/owners/gh/${owner}${query}`)
const page = async (owner?: string, query?: string): Promise<Page> => {
  const { status, json, body } = await ask(owner, query)
  expect(status, body).toBe(200)
  return json as Page
}
/** Names that the first page shows, indexed and other ones. */
const names = async (owner?: string) => {
  const { indexed = [], repositories } = await page(owner)
  return { indexed: indexed.map(({ repository }) => repository.name), others: repositories.map(({ name }) => name).sort() }
}

/** More repositories of the account, over the objects of one that is there. */
async function addMany(count: number, options: Partial<RepositoryOptions> = {}): Promise<void> {
  const { gitDir } = await app.github.shown('acme', 'plain')
  for (let number = 1; number <= count; number++) {
    const pushedAt = new Date(Date.UTC(2020, 0, 1) + number * 1000).toISOString().replace('.000', '')
    app.github.repository({ owner: 'acme', name: `many-${number}`, gitDir }, { pushedAt, ...options })
  }
}

const openAll = async (...addresses: string[]) => {
  for (const address of addresses) await app.open(address)
}

describe('the account', () => {
  test('is a person, in the spelling of the host', async () => {
    app.github.user('acme', { name: 'Ada', bio: ' Makes tools.\n' })
    const { owner } = await page('ACME')
    expect(owner).toEqual({
      host: 'gh',
      login: 'acme',
      name: 'Ada',
      bio: 'Makes tools.',
      kind: 'user',
      avatar: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/u\/\d+/),
      url: `${app.github.origins.web}/acme`,
      publicRepositories: 4,
    })
  })

  test('is an organisation, with what it says of itself, and with nulls for what it does not say', async () => {
    app.github.organization('acme', { name: 'Acme Corp', description: 'Tools for paper' })
    app.github.organization('silent')
    expect((await page()).owner).toMatchObject({ kind: 'organization', name: 'Acme Corp', bio: 'Tools for paper' })
    expect(await page('Silent')).toMatchObject({
      owner: { login: 'silent', kind: 'organization', name: null, bio: null, publicRepositories: 0 },
      indexed: [],
      repositories: [],
      nextPage: null,
    })
  })

  test('that changed its login keeps what is indexed of it', async () => {
    await openAll('/gh/acme/tools')
    const account = await app.github.world.account('acme')
    Object.assign(account ?? {}, { login: 'renamed' })
    app.advanceClock(301)
    expect((await names('renamed')).indexed).toEqual(['tools'])
    expect((await ask('acme')).json.error.code).toBe('owner.not_found')
  })
})

describe('the requests of an owner page', () => {
  test('are three for an organisation with indexed repositories, none for the next visitors, and 304s a minute later', async () => {
    app.github.organization('acme')
    await openAll('/gh/acme/tools', '/gh/acme/kit')
    app.github.log.clear()
    await page()
    expect(app.github.log.lines).toEqual([
      'GET /users/acme 200',
      'GET /orgs/acme 200',
      'GET /users/acme/repos?type=owner&sort=pushed&direction=desc&per_page=30&page=1 200',
    ])
    app.github.log.clear()
    await Promise.all([page(), page('Acme'), page('ACME')])
    expect(app.github.log.all).toEqual([])
    app.advanceClock(61)
    await page()
    expect(app.github.log.lines.toSorted()).toEqual([
      'GET /repos/acme/kit 304',
      'GET /repos/acme/tools 304',
      'GET /users/acme/repos?type=owner&sort=pushed&direction=desc&per_page=30&page=1 304',
    ])
    expect(app.github.log.all.every(({ counted }) => !counted)).toBe(true)
  })

  test('are two for a person, and no more for twenty visitors at once', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask()))
    expect(new Set(answers.map(({ status, body }) => `${status} ${body}`)).size).toBe(1)
    expect(app.github.log.rest.length).toBe(2)
  })

  test('bring no repository and leave no job: nothing is indexed by it', async () => {
    await page()
    expect(app.github.log.git).toEqual([])
    expect(await app.queue.take('test')).toBeNull()
    expect((await page()).indexed).toEqual([])
  })
})

describe('what is indexed', () => {
  test('comes first, most skills first, as cards, and is left out of the repositories of every page', async () => {
    await openAll('/gh/acme/tools', '/gh/acme/kit', '/gh/acme/plain')
    await addMany(40)
    const first = await page()
    expect(first.indexed?.map(({ address, index }) => [address, index.status === 'ready' && index.counts.skills])).toEqual([
      ['/gh/acme/kit', 6],
      ['/gh/acme/tools', 1],
    ])
    const second = await page('acme', '?page=2')
    expect(second).not.toHaveProperty('indexed')
    const others = [...first.repositories, ...second.repositories].map(({ name }) => name)
    expect(others.filter(name => !name.startsWith('many-')).sort()).toEqual(['later', 'plain'])
    expect(others.length).toBe(42)
    expect([first.nextPage, second.nextPage]).toEqual([2, null])
  })

  test('says of each what its mount says', async () => {
    await openAll('/gh/acme/kit')
    const mount = await app.ask('mounts', '/gh/acme/kit')
    if (mount.index.status !== 'ready') throw new Error(mount.index.status)
    const { manifest, license, counts, skills: listed } = mount.index
    const [card] = (await page()).indexed ?? []
    expect(card).toEqual({
      address: mount.address,
      repository: mount.repository,
      verified: false,
      image: `${app.github.origins.web}/acme/kit/raw/${app.commitOf('acme/kit')}/cover.png`,
      index: { status: 'ready', manifest, license, counts, skillNames: listed.slice(0, 5).map(({ name }) => name) },
    })
    expect(card?.image).toBe(mount.image)
  })

  test('is what the default branch holds: not another branch, not a commit given by its hash', async () => {
    const repository = app.repository('acme/later')
    await repository.commit(skills('p', 'q', 'r'), { branch: 'next' })
    const pinned = await repository.commit(skills('z'), { branch: 'side' })
    await openAll('/gh/acme/later@next', `/gh/acme/later@${pinned}`)
    expect(await names()).toMatchObject({ indexed: [] })
    await openAll('/gh/acme/later')
    app.advanceClock(60)
    expect(await names()).toMatchObject({ indexed: ['later'] })
  })

  test('is listed when the default branch comes to a commit that was indexed under another name', async () => {
    await openAll(`/gh/acme/later@${app.commitOf('acme/later')}`)
    expect((await names()).indexed).toEqual([])
    await openAll('/gh/acme/later')
    expect((await names()).indexed).toEqual(['later'])
  })

  test('by its branch name is the default branch all the same', async () => {
    await openAll('/gh/acme/later@main')
    expect((await names()).indexed).toEqual(['later'])
  })

  test('follows the next commit of the default branch, and goes back to the others without skills', async () => {
    await openAll('/gh/acme/tools')
    await app.repository('acme/tools').commit(skills('two', 'three'))
    app.advanceClock(61)
    await openAll('/gh/acme/tools')
    expect((await page()).indexed?.[0]?.index).toMatchObject({ counts: { skills: 3 } })
    await app.repository('acme/tools').commit({ 'README.md': '# No skills any more\n' }, { replace: true })
    app.advanceClock(61)
    await openAll('/gh/acme/tools')
    expect(await names()).toMatchObject({ indexed: [], others: expect.arrayContaining(['tools']) })
  })

  test('is listed by `mountglass index`, also when it was indexed before', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mountglass-owners-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const env = { ...app.github.settings(), MOUNTGLASS_LOCAL_REPOSITORIES: app.repositories.root }
    const { ownerId = '' } = await describeRepository('kit')
    const listed = async () => {
      const docs = await openDiskDocStore(join(folder, 'documents.sqlite'))
      const found = (await createOwnerListings(docs).of(ownerId)).map(({ name }) => name)
      await docs.close()
      return found
    }
    const index = (address: string) => indexAddress(address, { store: `disk:${folder}` }, env)
    expect(await index('/gh/acme/plain')).toBe(0)
    await app.repository('acme/kit').commit(skills('old'), { branch: 'old' })
    expect(await index('/gh/acme/kit@old')).toBe(0)
    expect(await listed()).toEqual([])
    expect(await index('/gh/acme/kit')).toBe(0)
    expect(await listed()).toEqual(['kit'])
    expect(await index('/gh/acme/kit')).toBe(0)
    expect(await listed()).toEqual(['kit'])
  })

  test('is not listed as indexed where the operator does not serve it', async () => {
    await openAll('/gh/acme/tools', '/gh/acme/kit')
    const deny = [parseRepositoryRule('gh/acme/kit')].filter(rule => rule !== null)
    Object.assign(app.deps, { deny })
    expect(await names()).toEqual({ indexed: ['tools'], others: ['kit', 'later', 'plain'] })
  })
})

async function describeRepository(name: string) {
  const host = app.deps.hosts.find(({ segment }) => segment === 'gh')
  const answer = await host?.repository('acme', name)
  if (answer?.status !== 'ok') throw new Error(`no repository ${name}`)
  return answer.value
}

const HIDDEN: [string, Partial<Repository>][] = [
  ['private', { visibility: 'private' }],
  ['internal', { visibility: 'internal' }],
  ['disabled', { disabled: true }],
  ['blocked by law', { blocked: { reason: 'dmca', createdAt: '2026-01-01T00:00:00Z' } }],
  ['blocked by terms', { blocked: { reason: 'tos', createdAt: '2026-01-01T00:00:00Z' } }],
]

describe('what the host does not show to everyone', () => {
  test.each(HIDDEN)(
    'is on no page a minute after it was indexed, when it is %s, and comes back with the host',
    async (_, changes) => {
      await openAll('/gh/acme/tools', '/gh/acme/kit')
      expect((await names()).indexed).toEqual(['kit', 'tools'])
      const repository = await app.github.shown('acme', 'kit')
      const before = { ...repository }
      Object.assign(repository, changes)
      app.advanceClock(60)
      expect(await names()).toEqual({ indexed: ['tools'], others: ['later', 'plain'] })
      Object.assign(repository, before)
      app.advanceClock(60)
      expect((await names()).indexed).toEqual(['kit', 'tools'])
    },
  )

  test('is on no page, though the credential could see it', async () => {
    const organization = app.github.organization('acme')
    for (const { login } of app.github.world.accounts) {
      const account = await app.github.world.account(login)
      if (account?.type === 'User') organization.members.set(account, 'admin')
    }
    for (const token of app.github.world.tokens.values()) if (token.kind === 'personal') token.scopes.push('repo')
    await app.github.shown('acme', 'kit', { visibility: 'private' })
    await app.github.shown('acme', 'later', { visibility: 'internal' })
    await app.github.shown('acme', 'plain', { disabled: true })
    expect(await names()).toEqual({ indexed: [], others: ['tools'] })
    expect((await page()).owner.publicRepositories).toBe(2)
  })

  test('and is blocked is not listed from the first time on that somebody asked for it', async () => {
    await app.github.shown('acme', 'kit', { blocked: { reason: 'dmca', createdAt: '2026-01-01T00:00:00Z' } })
    expect((await app.get('/api/v1/mounts/gh/acme/kit')).status).toBe(404)
    expect((await names()).others).toEqual(['later', 'plain', 'tools'])
    await app.github.shown('acme', 'kit', { blocked: null })
    app.advanceClock(61)
    expect((await app.get('/api/v1/mounts/gh/acme/kit')).status).toBe(200)
    expect((await names()).others).toEqual(['kit', 'later', 'plain', 'tools'])
  })

  test('is gone with the repository', async () => {
    await openAll('/gh/acme/kit')
    app.github.world.remove(await app.github.shown('acme', 'kit'))
    app.advanceClock(60)
    expect(await names()).toEqual({ indexed: [], others: ['later', 'plain', 'tools'] })
  })
})

/** What is listed of the account, as it is stored. */
async function listed(): Promise<OwnerListing[]> {
  const account = await app.github.world.account('acme')
  const found = await createOwnerListings(app.docs).of(`gh-${account?.id}`)
  return found.sort((left, right) => (left.name < right.name ? -1 : 1))
}

describe('the listing of what the host does not show', () => {
  const HOUR = 3_600
  const hide = async () => {
    await openAll('/gh/acme/tools', '/gh/acme/kit')
    await app.github.shown('acme', 'kit', { visibility: 'private' })
    app.advanceClock(61)
    expect((await names()).indexed).toEqual(['tools'])
  }

  test('goes after two days, and the snapshots are known to be hidden', async () => {
    await hide()
    const since = app.deps.clock.now().toISOString().slice(0, 16)
    expect((await listed()).map(({ name, hiddenSince }) => [name, hiddenSince?.slice(0, 16)])).toEqual([
      ['kit', since],
      ['tools', undefined],
    ])
    const { id } = await app.github.shown('acme', 'kit')
    await app.deps.uses.written()
    const key = hiddenKey({ id: `gh-${id}`, visibility: 'public' })
    expect((await app.docs.read(key))?.value).toEqual({ since: expect.stringContaining(since) })

    app.advanceClock(47 * HOUR)
    expect((await names()).indexed).toEqual(['tools'])
    expect((await listed()).length).toBe(2)
    app.advanceClock(HOUR)
    expect((await names()).indexed).toEqual(['tools'])
    expect((await listed()).map(({ name }) => name)).toEqual(['tools'])
  })

  test('is as it was when the host shows it again, and comes back with the next visit after it went', async () => {
    await hide()
    await app.github.shown('acme', 'kit', { visibility: 'public' })
    app.advanceClock(61)
    expect((await names()).indexed).toEqual(['kit', 'tools'])
    expect((await listed()).map(({ hiddenSince }) => hiddenSince)).toEqual([undefined, undefined])

    await hide()
    app.advanceClock(49 * HOUR)
    await names()
    await app.github.shown('acme', 'kit', { visibility: 'public' })
    app.advanceClock(61)
    expect((await names()).indexed).toEqual(['tools'])
    expect((await app.get('/api/v1/mounts/gh/acme/kit')).status).toBe(200)
    expect((await names()).indexed).toEqual(['kit', 'tools'])
  })

  test('stays as it is while the host cannot be asked, and does not keep the page from being answered', async () => {
    await openAll('/gh/acme/tools')
    const before = await listed()
    app.advanceClock(700)
    app.github.faults.add({ status: 500, times: 9, match: { host: 'api', path: /^\/repos\// } })
    expect((await ask()).status).toBe(503)
    expect(await listed()).toEqual(before)
    app.github.faults.clear()
    app.advanceClock(5)

    await hide()
    app.advanceClock(60 * HOUR)
    app.github.faults.add({ status: 500, times: 9, match: { host: 'api', path: '/repos/acme/kit' } })
    expect(await names()).toEqual({ indexed: ['tools'], others: ['later', 'plain'] })
    expect((await listed()).length).toBe(2)
  })

  test('goes at once when the name is another repository, or the repository another owner has', async () => {
    await openAll('/gh/acme/tools', '/gh/acme/kit')
    const { gitDir } = await app.github.shown('acme', 'plain')
    app.github.world.rename(await app.github.shown('acme', 'kit'), { name: 'old-kit' })
    app.github.repository({ owner: 'acme', name: 'kit', gitDir })
    app.github.world.rename(await app.github.shown('acme', 'tools'), { owner: app.github.organization('other') })
    app.advanceClock(301)
    expect((await names()).indexed).toEqual([])
    expect(await listed()).toEqual([])
  })

  test('takes no place of what is shown, and no more questions than there are cards once it is known', async () => {
    await addMany(150)
    for (let number = 1; number <= 150; number++) {
      const { id, ownerId = '' } = await describeRepository(`many-${number}`)
      await app.docs.create(ownerListingKey(ownerId, id), {
        repositoryId: id,
        name: `many-${number}`,
        commit: app.commitOf('acme/plain'),
        license: { kind: 'none', name: null, source: null },
        counts: { skills: number, documents: 0 },
        skillNames: [],
      })
    }
    for (let number = 101; number <= 150; number++) await app.github.shown('acme', `many-${number}`, { visibility: 'private' })
    app.advanceClock(61)
    // A machine with much to do may not get all answers in time: what comes late is known at the next try.
    const patiently = () => vi.waitFor(names, { timeout: 20_000 })
    const numbersOf = (found: string[]) => found.map(name => Number(name.slice('many-'.length)))
    expect(numbersOf((await patiently()).indexed)).toEqual(Array.from({ length: 100 }, (_, index) => 100 - index))
    app.advanceClock(61)
    app.github.log.clear()
    expect((await patiently()).indexed.length).toBe(100)
    const questions = app.github.log.lines.filter(line => line.startsWith('GET /repos/'))
    expect(questions.length).toBe(100)
    // The most skills of all come first again when they come back.
    for (let number = 101; number <= 150; number++) await app.github.shown('acme', `many-${number}`, { visibility: 'public' })
    await app.github.shown('acme', 'many-100', { visibility: 'private' })
    app.advanceClock(61)
    expect(numbersOf((await patiently()).indexed)[0]).toBe(150)
  })
})

describe('what is listed of an account', () => {
  test('is read once for many visitors and pages, and seen a minute later when another process has written it', async () => {
    const docs = createMemoryDocStore()
    const lists: string[] = []
    const counted = await testApp(FILES, {
      github: { withToken: true },
      docs: {
        ...docs,
        list(prefix, options) {
          if (prefix.startsWith('ctl/owner/')) lists.push(prefix)
          return docs.list(prefix, options)
        },
      },
    })
    onTestFinished(() => counted.close())
    const indexedNames = async () => {
      const { json } = await counted.get('/api/v1/owners/gh/acme')
      return (json as Page).indexed?.map(({ repository }) => repository.name)
    }
    await counted.open('/gh/acme/kit')
    await Promise.all(Array.from({ length: 20 }, (_, page) => counted.get(`/api/v1/owners/gh/acme?page=${page + 1}`)))
    expect(await indexedNames()).toEqual(['kit'])
    expect(lists.length).toBe(1)

    await counted.open('/gh/acme/tools')
    expect(await indexedNames()).toEqual(['kit'])
    counted.advanceClock(60)
    expect(await indexedNames()).toEqual(['kit', 'tools'])
    await counted.open('/gh/acme/later')
    await counted.get('/api/v1/mounts/gh/acme/later')
    expect(await indexedNames()).toEqual(['kit', 'later', 'tools'])
  })

  test('and was changed while it was read is read again', async () => {
    const clock = handClock()
    const store = createOwnerListings(createMemoryDocStore())
    let slow: Promise<void> = Promise.resolve()
    const listings = rememberListings(
      {
        ...store,
        async of(ownerId) {
          const found = await store.of(ownerId)
          await slow
          return found
        },
      },
      clock,
    )
    const { repository, commit } = jobOf(1)
    const license = { kind: 'none', name: null, source: null } as const
    const folder = { counts: { skills: 1, documents: 0 }, license }
    const root = { folder, skills: [], documents: [], diagnostics: [] }
    let goOn = () => {}
    slow = new Promise(resolve => {
      goOn = resolve
    })
    const before = listings.of('test-o')
    await listings.keep({ repository: { ...repository, ownerId: 'test-o' }, commit, header: { root } })
    goOn()
    expect(await before).toEqual([])
    expect((await listings.of('test-o')).length).toBe(1)
  })

  test('is not remembered when it could not be read', async () => {
    const { listings } = app.deps
    const broken = rememberListings({ ...listings, of: () => Promise.reject(new Error('no store')) }, handClock())
    await expect(broken.of('gh-1')).rejects.toThrow('no store')
    await expect(broken.of('gh-1')).rejects.toThrow('no store')
  })
})

describe('a repository that moved', () => {
  test('to another name is listed under it', async () => {
    await openAll('/gh/acme/kit')
    app.github.world.rename(await app.github.shown('acme', 'kit'), { name: 'Kit2' })
    app.advanceClock(61)
    const { indexed = [], repositories } = await page()
    expect(indexed.map(({ address }) => address)).toEqual(['/gh/acme/Kit2'])
    expect(repositories.map(({ name }) => name)).not.toContain('Kit2')
  })

  test('to another owner is listed there once it is visited there', async () => {
    await openAll('/gh/acme/kit')
    app.github.world.rename(await app.github.shown('acme', 'kit'), { owner: app.github.organization('other') })
    app.advanceClock(301)
    expect((await names()).indexed).toEqual([])
    await openAll('/gh/other/kit')
    expect((await names('other')).indexed).toEqual(['kit'])
  })

  test('and whose name another one took is not taken for it', async () => {
    await openAll('/gh/acme/kit')
    const { gitDir } = await app.github.shown('acme', 'plain')
    app.github.world.rename(await app.github.shown('acme', 'kit'), { name: 'old-kit' })
    app.github.repository({ owner: 'acme', name: 'kit', gitDir })
    app.advanceClock(61)
    expect(await names()).toEqual({ indexed: [], others: ['kit', 'later', 'old-kit', 'plain', 'tools'] })
  })
})

describe('the repositories', () => {
  test('are as the host lists them, most recently pushed first', async () => {
    await app.github.shown('acme', 'tools', {
      description: 'For paper',
      stars: 7,
      archived: true,
      pushedAt: '2026-03-01T10:00:00Z',
    })
    await app.github.shown('acme', 'kit', { pushedAt: '2026-03-02T10:00:00Z' })
    await app.github.shown('acme', 'plain', { pushedAt: '2026-02-01T10:00:00Z', forkOf: await app.github.shown('acme', 'later') })
    await app.github.shown('acme', 'later', { pushedAt: '2026-01-01T10:00:00Z' })
    const { repositories } = await page()
    expect(repositories.map(({ name }) => name)).toEqual(['kit', 'tools', 'plain', 'later'])
    expect(repositories[1]).toEqual({
      address: '/gh/acme/tools',
      name: 'tools',
      description: 'For paper',
      fork: false,
      archived: true,
      stars: 7,
      pushedAt: '2026-03-01T10:00:00.000Z',
    })
    expect(repositories[2]).toMatchObject({ fork: true, archived: false, description: null })
  })

  test('are given page by page, each once, up to the hundredth page', async () => {
    await addMany(101 * 30)
    const seen = new Set<string>()
    for (const number of [1, 2, 99, 100]) {
      const { repositories, nextPage } = await page('acme', `?page=${number}`)
      for (const { name } of repositories) seen.add(name)
      expect([repositories.length, nextPage]).toEqual([30, number === 100 ? null : number + 1])
    }
    expect(seen.size).toBe(120)
  })

  test('are none behind the last page', async () => {
    expect(await page('acme', '?page=2')).toMatchObject({ owner: { login: 'acme' }, repositories: [], nextPage: null })
  })
})

test('the page is the same for everyone who asks, whatever they carry', async () => {
  await openAll('/gh/acme/kit')
  const token = app.github.personalToken(app.github.user('somebody'), ['repo'])
  const carried = [{}, { cookie: '__Host-session=mgs_x' }, { authorization: `Bearer ${token}` }, { 'accept-language': 'de' }]
  const answers = await Promise.all(carried.map(headers => app.get('/api/v1/owners/gh/acme', { headers })))
  expect(new Set(answers.map(({ status, body }) => `${status} ${body}`)).size).toBe(1)
  expect(app.github.log.all.map(({ headers }) => headers.authorization)).not.toContain(`Bearer ${token}`)
})

describe('errors', () => {
  test.each([
    '',
    '/',
    '/gh',
    '/gh/',
    '/gh//',
    '/acme',
    '/local/acme',
    '/hub/acme',
    '/GH/acme',
    '/gh/-acme',
    '/gh/ac.me',
    '/gh/ac me'.replace(' ', '%20'),
    '/gh/%2e%2e',
    '/gh/acme%2Ftools',
    '/gh/%ZZ',
    '/gh/%FF',
    '/gh/acme/tools',
    `/gh/${'a'.repeat(40)}`,
    '/~',
  ])('the path %j after /owners is 400 owner.invalid, and the host is not asked', async rest => {
    const answer = await app.get(`/api/v1/owners${rest}`)
    expect([answer.status, answer.json.error.code]).toEqual([400, 'owner.invalid'])
    expect(app.github.log.all).toEqual([])
  })

  test('an owner in another spelling is found: escaped, with a slash at the end', async () => {
    for (const owner of ['acme/', '%61cme', 'aCmE?page=1']) expect((await page(owner)).owner.login).toBe('acme')
  })

  test('an account that the host does not show is 404 owner.not_found', async () => {
    for (const url of ['/api/v1/owners/gh/nobody', '/api/v1/owners/gh/nobody?page=7']) {
      expect(await app.get(url)).toMatchObject({ status: 404, json: { error: { code: 'owner.not_found' } } })
    }
    expect(app.github.log.lines).toEqual(['GET /users/nobody 404'])
  })

  test('a limit of the host is 503 with the seconds to wait, while what is known goes on being served', async () => {
    await openAll('/gh/acme/kit')
    const before = (await ask()).body
    app.github.limits.set('personal', 0)
    app.github.limits.exhaust(null, { seconds: 300 })
    app.advanceClock(61)
    expect((await ask()).body).toBe(before)
    const refused = await ask('somebody')
    expect(refused).toMatchObject({ status: 503, json: { error: { code: 'mount.rate_limited' } } })
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
  })

  test.each([
    ['is broken', { status: 500 }],
    ['answers a page for people', { html: true as const }],
    ['resets', { reset: true as const }],
    ['answers without end', { status: 200, endless: true as const }],
    ['leads elsewhere', { redirect: 'http://127.0.0.1:9/' }],
    ['answers something else', { status: 200, body: '{"id":1}' }],
  ])('a host that %s is 503 mount.unavailable, whichever of the questions it is', async (_, fault) => {
    await openAll('/gh/acme/kit')
    for (const path of [/^\/users\/acme$/, /^\/users\/acme\/repos/, /^\/repos\/acme\/kit/]) {
      expect((await ask()).status).toBe(200)
      app.advanceClock(700)
      app.github.faults.add({ ...fault, times: 9, match: { host: 'api', path } })
      expect(await ask(), path.source).toMatchObject({ status: 503, json: { error: { code: 'mount.unavailable' } } })
      app.github.faults.clear()
      app.advanceClock(5)
    }
  })

  test('a host that is silent is 503 within six seconds', async () => {
    await openAll('/gh/acme/kit')
    app.advanceClock(700)
    app.github.faults.add({ delaySeconds: 2.6, times: 1, match: { host: 'api', path: '/users/acme' } })
    app.github.faults.add({ delaySeconds: 60, times: 99, match: { host: 'api', path: /^\/repos\/|^\/users\/acme\/repos/ } })
    const startedAt = performance.now()
    expect(await ask()).toMatchObject({ status: 503, json: { error: { code: 'mount.unavailable' } } })
    expect(performance.now() - startedAt).toBeLessThan(6_000)
  })

  test('a store that does not answer is 503 skill.unavailable', async () => {
    const { listings } = app.deps
    Object.assign(app.deps, { listings: { ...listings, of: () => Promise.reject(new Error('no store')) } })
    expect(await ask()).toMatchObject({ status: 503, json: { error: { code: 'skill.unavailable' } } })
  })
})

test('where there is no host with accounts there is no such route', async () => {
  const without = await testApp({})
  onTestFinished(() => without.close())
  for (const rest of ['/gh/acme', '/local/acme', '/gh', '']) {
    const answer = await without.get(`/api/v1/owners${rest}`)
    expect([answer.status, answer.json.error.code]).toEqual([404, 'request.not_found'])
  }
})
