import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { rememberListings } from '#api/cards/list-on-visit.ts'
import { parseRepositoryRule } from '#api/operator/repository-rule.ts'
import { indexAddress } from '#cli/index-address.ts'
import { createOwnerListings } from '#core/owner-listings.ts'
import type { IndexJob } from '#core/ports/job-queue.ts'
import { runIndexJob } from '#indexer/jobs/run-index-job.ts'
import { openDiskStateStore } from '#infra/disk/state-store.ts'
import { createMemoryStateStore } from '#infra/memory-stores.ts'
import { taken } from '#test/support/queue-drivers.ts'
import { handClock, jobOf } from '#test/support/store-values.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { FILES, ownerPages, type Page, skills } from './support/owner-pages.ts'

let app: TestApp
const { page, names, addMany, openAll, described, listed } = ownerPages(() => app)

beforeEach(async () => {
  app = await testApp(FILES, { github: { withToken: true } })
})

afterEach(async () => {
  expect(app.github.mistakes).toEqual([])
  await app.close()
})

describe('an indexed repository', () => {
  test('comes first as a card, ordered by number of skills, and is left out of the repositories of every page', async () => {
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

  test('has the facts of its mount', async () => {
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

  test('is listed when the default branch reaches a commit that was indexed under another name', async () => {
    await openAll(`/gh/acme/later@${app.commitOf('acme/later')}`)
    expect((await names()).indexed).toEqual([])
    await openAll('/gh/acme/later')
    expect((await names()).indexed).toEqual(['later'])
  })

  test('under its branch name is that of the default branch', async () => {
    await openAll('/gh/acme/later@main')
    expect((await names()).indexed).toEqual(['later'])
  })

  test('follows the next commit of the default branch, and moves to the others when it has no skills', async () => {
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

  test('stays unchanged when a job of an older commit ends late', async () => {
    const late = app.commitOf('acme/later')
    await app.get('/api/v1/mounts/gh/acme/later')
    const lease = await taken(app.queue)
    expect(lease.job).toMatchObject({ commit: late, isDefault: true })
    const next = await app.repository('acme/later').commit(skills('z'), { branch: 'next' })
    const { repository } = lease.job
    await app.repository('acme/later').git('update-ref', 'refs/heads/main', next)
    const { blobs, states, deps } = app
    const run = (job: IndexJob) =>
      runIndexJob({ blobs, states, hosts: deps.hosts }, job, { signal: new AbortController().signal, onStage() {} })
    expect(await run({ repository, commit: next, isDefault: true })).toMatchObject({ status: 'indexed' })
    expect(await run(lease.job)).toMatchObject({ status: 'indexed' })
    expect(await listed()).toMatchObject([{ name: 'later', commit: next, counts: { skills: 1 } }])
  })

  test('is listed by `mountglass index`, even if it was indexed before', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mountglass-owners-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const env = { ...app.github.settings(), MOUNTGLASS_LOCAL_REPOSITORIES: app.repositories.root }
    const { ownerId = '' } = await described('kit')
    const listed = async () => {
      const states = await openDiskStateStore(join(folder, 'documents.sqlite'))
      const found = (await createOwnerListings(states).of(ownerId)).map(({ name }) => name)
      await states.close()
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

  test('is not listed if the operator denies it', async () => {
    await openAll('/gh/acme/tools', '/gh/acme/kit')
    const deny = [parseRepositoryRule('gh/acme/kit')].filter(rule => rule !== null)
    Object.assign(app.deps, { deny })
    expect(await names()).toEqual({ indexed: ['tools'], others: ['later', 'plain'] })
  })
})

describe('the listing of an account', () => {
  test('is fetched once for many visitors and pages, and a change by another process is visible a minute later', async () => {
    const states = createMemoryStateStore()
    const lists: string[] = []
    // Its time stands still, however long the requests take.
    const clock = handClock()
    const countedStates: typeof states = {
      ...states,
      list(prefix, options) {
        lists.push(prefix)
        return states.list(prefix, options)
      },
    }
    const listings = rememberListings(createOwnerListings(countedStates), clock)
    const counted = await testApp(FILES, { github: { withToken: true }, states, deps: deps => ({ ...deps, listings }) })
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
    clock.advance(60)
    expect(await indexedNames()).toEqual(['kit', 'tools'])
    await counted.open('/gh/acme/later')
    await counted.get('/api/v1/mounts/gh/acme/later')
    expect(await indexedNames()).toEqual(['kit', 'later', 'tools'])
  })

  test('is fetched again if it changed meanwhile', async () => {
    const clock = handClock()
    const store = createOwnerListings(createMemoryStateStore())
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

  test('is not cached if it could not be read', async () => {
    const { listings } = app.deps
    const broken = rememberListings({ ...listings, of: () => Promise.reject(new Error('no store')) }, handClock())
    await expect(broken.of('gh-1')).rejects.toThrow('no store')
    await expect(broken.of('gh-1')).rejects.toThrow('no store')
  })
})

describe('a repository that moved', () => {
  test('to another name is listed under the new name', async () => {
    await openAll('/gh/acme/kit')
    app.github.world.rename(await app.github.shown('acme', 'kit'), { name: 'Kit2' })
    app.advanceClock(61)
    const { indexed = [], repositories } = await page()
    expect(indexed.map(({ address }) => address)).toEqual(['/gh/acme/Kit2'])
    expect(repositories.map(({ name }) => name)).not.toContain('Kit2')
  })

  test('to another owner is listed there after a visit there', async () => {
    await openAll('/gh/acme/kit')
    app.github.world.rename(await app.github.shown('acme', 'kit'), { owner: app.github.organization('other') })
    app.advanceClock(301)
    expect((await names()).indexed).toEqual([])
    await openAll('/gh/other/kit')
    expect((await names('other')).indexed).toEqual(['kit'])
  })

  test('is not confused with another repository that took its old name', async () => {
    await openAll('/gh/acme/kit')
    const { gitDir } = await app.github.shown('acme', 'plain')
    app.github.world.rename(await app.github.shown('acme', 'kit'), { name: 'old-kit' })
    app.github.repository({ owner: 'acme', name: 'kit', gitDir })
    app.advanceClock(61)
    expect(await names()).toEqual({ indexed: [], others: ['kit', 'later', 'old-kit', 'plain', 'tools'] })
  })
})
