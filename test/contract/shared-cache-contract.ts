import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import type { StateStore } from '#core/ports/state-store.ts'
import { type StoreDriver, temporaryFolder } from '#test/support/store-drivers.ts'
import { MISSING, ok } from './git-host-asking.ts'
import { openReplica, type ReplicaOptions, type SharedScene } from './shared-cache-scene.ts'

/** What processes know of GitHub's answers to each other, over one store. */
export function sharedCacheContract({ open }: StoreDriver<StateStore>, scene: SharedScene): void {
  const { github, create, api, git } = scene

  beforeEach(scene.begin)
  afterEach(scene.end)

  async function start() {
    const states = await open(await temporaryFolder())
    onTestFinished(() => states.close())
    return { states, replica: (options?: ReplicaOptions) => openReplica(github, states, options) }
  }

  async function createTools() {
    const repository = await create()
    const commit = await repository.commit({ a: 'a' })
    return { repository, commit, owner: repository.owner, name: repository.name }
  }

  /** As webhooks name it. */
  async function named(owner: string, name: string) {
    const { id } = await github.shown(owner, name)
    return { id: `gh-${id}`, fullName: `${owner}/${name}` }
  }

  test('an answer of one process saves the question of the others, with its etags, and no longer than for the first', async () => {
    const { replica } = await start()
    const { owner, name, commit, repository } = await createTools()
    const [first, second, third] = [await replica(), await replica(), await replica()]
    expect(await first.look(owner, name)).toEqual(ok(commit))
    expect(api()).toEqual([200, 200])
    github.clock.advance(50)
    for (const one of [second, third, await replica()]) expect(await one.look(owner, name)).toEqual(ok(commit))
    expect(api()).toEqual([200, 200])
    const next = await repository.commit({ a: 'b' })
    github.clock.advance(11)
    // A process that has just begun knows the etag, too, and the others its answer.
    for (const one of [await replica(), second, first]) expect(await one.look(owner, name)).toEqual(ok(next))
    expect(api()).toEqual([200, 200, 200])
    github.clock.advance(61)
    for (const one of [third, second, first]) expect(await one.look(owner, name)).toEqual(ok(next))
    expect(api()).toEqual([200, 200, 200, 304])
  })

  test('missing repositories and refs are asked for once', async () => {
    const { replica } = await start()
    const { owner, name } = await createTools()
    const [first, second] = [await replica(), await replica()]
    for (const one of [first, second]) expect(await one.look(owner, 'none')).toEqual(MISSING)
    expect(git()).toBe(1)
    for (const one of [first, second]) expect(await one.look(owner, name, 'no-branch')).toEqual(MISSING)
    const asked = git()
    expect(await (await replica()).look(owner, name, 'no-branch')).toEqual(MISSING)
    expect(git()).toBe(asked)
    github.clock.advance(31)
    expect(await second.look(owner, 'none')).toEqual(MISSING)
    expect(git()).toBe(asked + 1)
  })

  test('an answer from before a webhook is not used by a process that received the webhook, nor by one that starts later', async () => {
    const { replica } = await start()
    const { owner, name, commit, repository } = await createTools()
    const [first, second, third] = [await replica(), await replica(), await replica()]
    expect(await first.look(owner, name)).toEqual(ok(commit))
    const next = await repository.commit({ a: 'b' })
    const { id } = await named(owner, name)
    await second.hear({ refs: [{ id, ref: 'refs/heads/main' }] })
    // It heard it itself, and the change has no number yet.
    expect(await second.look(owner, name)).toEqual(ok(next))
    await second.told()
    expect(await (await replica()).look(owner, name)).toEqual(ok(next))
    await third.lookAtChanges()
    expect(await third.look(owner, name)).toEqual(ok(next))
    await first.lookAtChanges()
    expect(await first.look(owner, name)).toEqual(ok(next))
    expect(await (await replica()).look(owner, name)).toEqual(ok(next))
    // The repository, and its branch: before the webhook, by the one that heard it, and by the first that was told of it.
    expect(api()).toEqual([200, 200, 200, 200])
    github.log.clear()
    for (const one of [first, third]) expect(await one.look(owner, name)).toEqual(ok(next))
    expect(api()).toEqual([])
  })

  test.each(['repository', 'account'] as const)(
    'a %s that a webhook names is not shown from earlier answers of others',
    async kind => {
      const { replica } = await start()
      const { owner, name, commit } = await createTools()
      const [first, second, third] = [await replica(), await replica(), await replica()]
      expect(await first.look(owner, name)).toEqual(ok(commit))
      const changed = await named(owner, name)
      await github.shown(owner, name, { visibility: 'private' })
      await second.hear(kind === 'repository' ? { repositories: [changed] } : { accounts: [owner] })
      await second.told()
      for (const one of [first, second, third]) await one.lookAtChanges()
      for (const one of [second, third, await replica(), first]) expect(await one.look(owner, name)).toEqual(MISSING)
    },
  )

  test('damaged entries are ignored and replaced, and none holds or is called by a name that is not public', async () => {
    const { states, replica } = await start()
    const { owner, name, commit } = await createTools()
    const hidden = await create()
    await hidden.commit({ a: 'a' })
    await github.shown(hidden.owner, hidden.name, { visibility: 'private' })
    const token = github.personalToken(github.user('acme'))
    const seesMore = await replica({ token })
    expect(await seesMore.look(owner, name)).toEqual(ok(commit))
    expect(await seesMore.look(hidden.owner, hidden.name)).toEqual(MISSING)
    const keys = await states.list('ctl/answers/')
    expect(keys.length).toBeGreaterThanOrEqual(3)
    const stored = await Promise.all(keys.map(async key => JSON.stringify([key, await states.read(key)])))
    expect(stored.join()).toContain(name)
    expect(stored.join()).not.toContain(`"${hidden.name}"`)
    expect(stored.join()).not.toContain(`/${hidden.name}`)
    expect(stored.join()).not.toContain(token)
    for (const [index, key] of keys.entries()) {
      const { etag } = (await states.read(key)) ?? { etag: '' }
      await states.replace(key, index % 2 === 0 ? { answers: [{ id: 1 }] } : 'no answers', etag)
    }
    github.log.clear()
    for (const one of [await replica({ token }), await replica({ token })])
      expect(await one.look(owner, name)).toEqual(ok(commit))
    expect(api()).toEqual([200, 200])
  })

  test('processes with another token share nothing', async () => {
    const { replica } = await start()
    const { owner, name, commit } = await createTools()
    for (const token of [null, github.personalToken(github.user('reader'), [])])
      expect(await (await replica({ token })).look(owner, name)).toEqual(ok(commit))
    expect(api()).toEqual([200, 200, 200, 200])
  })

  test('a repository that a fine-grained token sees is listed by one of them, and no longer than with one process', async () => {
    const { replica } = await start()
    const token = github.fineGrainedToken(github.user('reader'), 'public')
    const [first, second, third] = [await replica({ token }), await replica({ token }), await replica({ token })]
    const listings = () => github.log.rest.filter(({ path }) => path.startsWith('/user/repos')).length
    for (const one of [first, second]) expect(await one.describeToken()).toContain('public repositories only')
    expect(listings()).toBe(1)
    github.clock.advance(19)
    expect(await third.describeToken()).toContain('public repositories only')
    expect(listings()).toBe(1)
    github.clock.advance(2)
    for (const one of [await replica({ token }), second]) expect(await one.describeToken()).toContain('public repositories only')
    expect(listings()).toBe(2)
  })

  test('a commit proven by one is not proven again, and is dropped with its repository', async () => {
    const { replica } = await start()
    const { owner, name, commit, repository } = await createTools()
    await repository.commit({ a: 'b' })
    const [first, second] = [await replica(), await replica()]
    for (const one of [first, second, await replica()]) expect(await one.look(owner, name, commit)).toEqual(ok(commit))
    expect(github.log.rest.filter(({ path }) => path.includes('/compare/'))).toHaveLength(1)
    await github.shown(owner, name, { visibility: 'private' })
    github.clock.advance(61)
    for (const one of [first, second, await replica()])
      expect((await one.look(owner, name, commit)).status).toMatch(/^(missing|gone)$/)
  })
}
