import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createUsageLog } from '#api/snapshot/usage-log.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { readMarkKey } from '#core/snapshot/store-keys.ts'
import { createMemoryStateStore } from '#infra/memory/state-store.ts'
import type { Repository } from '#test/support/fake-github/world.ts'
import { handClock, jobOf } from '#test/support/store-values.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'

const SKILL = { 'package.json': '{"license":"MIT"}', 'skills/a/SKILL.md': '---\nname: a\ndescription: d\n---\nDo.\n' }
const DAY = 86_400

/** What is noted, in the order of its keys: of a repository, its snapshots, its refs, and that it is hidden. */
async function notes(states: StateStore): Promise<[what: string, value: unknown][]> {
  const keys = await states.list('ctl/kept/')
  return Promise.all(
    keys.map(async key => [
      /^ctl\/kept\/pub\/[0-9a-f]{3}\/[^/]+\/([a-z]+)/.exec(key)?.[1] ?? key,
      (await states.read(key))?.value,
    ]),
  )
}

describe('what visitors open', () => {
  let app: TestApp

  beforeEach(async () => {
    app = await testApp({ 'acme/tools': SKILL }, { github: { withToken: true } })
  })
  afterEach(() => app.close())

  const noted = async () => {
    await app.deps.usage.written()
    return notes(app.states)
  }
  const ask = (address: string) => app.get(`/api/v1/mounts${address}`)
  const today = () => app.deps.clock.now().toISOString().slice(0, 10)
  const shown = (changes: Partial<Repository>) => app.github.shown('acme', 'tools', changes)

  test('is noted with its day and the ref that led there, once it is ready', async () => {
    await ask('/gh/acme/tools')
    expect(await noted()).toEqual([])
    await app.index()
    await ask('/gh/acme/tools')
    const commit = app.commitOf('acme/tools')
    expect(await noted()).toEqual([
      ['read', { day: today() }],
      ['ref', { ref: 'main', commit, seenAt: expect.stringContaining(today()) }],
    ])
  })

  test('by the hash of a commit is a use of the snapshot alone', async () => {
    await app.open(`/gh/acme/tools@${app.commitOf('acme/tools')}`)
    await ask(`/gh/acme/tools@${app.commitOf('acme/tools')}`)
    expect((await noted()).map(([what]) => what)).toEqual(['read'])
  })

  test.each(['browse', 'find', 'skills', 'files'])('is noted by %s too', async endpoint => {
    await app.open('/gh/acme/tools')
    const query = { browse: '', find: '?query=a', skills: '?path=skills/a/SKILL.md', files: '?path=skills/a/SKILL.md' }[endpoint]
    expect((await app.get(`/api/v1/${endpoint}/gh/acme/tools${query}`)).status).toBe(200)
    expect((await noted()).map(([what]) => what)).toEqual(['read', 'ref'])
  })

  test('is not written twice a day, and again on the next day and when the ref has moved', async () => {
    await app.open('/gh/acme/tools')
    await ask('/gh/acme/tools')
    const [before, key] = [await noted(), (await app.states.list('ctl/kept/'))[0] ?? '']
    const etag = (await app.states.read(key))?.etag
    for (let times = 0; times < 3; times++) await ask('/gh/acme/tools')
    expect(await noted()).toEqual(before)
    expect((await app.states.read(key))?.etag).toBe(etag)

    app.advanceClock(DAY)
    await ask('/gh/acme/tools')
    expect((await noted())[0]).toEqual(['read', { day: today() }])

    const next = await app.repository('acme/tools').commit({ 'docs/b.md': '# B\n' })
    app.advanceClock(61)
    await app.open('/gh/acme/tools')
    await ask('/gh/acme/tools')
    const after = await noted()
    expect(after.map(([what]) => what)).toEqual(['read', 'read', 'ref'])
    expect(after[2]?.[1]).toMatchObject({ commit: next })
  })

  test('of two processes is written by one of them, and an earlier sight of a ref does not replace a later one', async () => {
    await app.open('/gh/acme/tools')
    await ask('/gh/acme/tools')
    const before = await noted()
    const earlier = { now: () => new Date(app.deps.clock.now().getTime() - DAY * 1000) }
    const other = createUsageLog(app.states, earlier, 0)
    const host = app.deps.hosts.find(({ segment }) => segment === 'gh')
    const repository = await host?.repository('acme', 'tools')
    if (repository?.status !== 'ok') throw new Error('no repository')
    const name = { host: 'gh', owner: 'acme', repository: 'tools' }
    other.opened({ name, repository: repository.value, commit: app.commitOf('acme/tools'), ref: 'main' })
    await other.written()
    expect(await notes(app.states)).toEqual(before)
  })

  test('is noted as hidden when the host shows it no more, and as shown when it comes back', async () => {
    await app.open('/gh/acme/tools')
    await ask('/gh/acme/tools')
    await shown({ visibility: 'private' })
    app.advanceClock(301)
    const since = app.deps.clock.now().toISOString().slice(0, 16)
    expect((await ask('/gh/acme/tools')).status).toBe(404)
    expect((await noted())[0]).toEqual(['hidden', { since: expect.stringContaining(since) }])

    app.advanceClock(DAY)
    expect((await ask('/gh/acme/tools')).status).toBe(404)
    expect((await noted())[0]).toEqual(['hidden', { since: expect.stringContaining(since) }])

    await shown({ visibility: 'public' })
    app.advanceClock(31)
    expect((await ask('/gh/acme/tools')).status).toBe(200)
    expect((await noted()).map(([what]) => what)).toEqual(['read', 'ref'])
  })

  test('and cannot be asked about is not hidden, and what was never opened is not noted', async () => {
    await app.open('/gh/acme/tools')
    await ask('/gh/acme/tools')
    const before = await noted()
    app.advanceClock(700)
    app.github.faults.add({ status: 500, times: 9, match: { host: 'api', path: /^\/repos\// } })
    app.github.faults.add({ status: 500, times: 9, match: { host: 'web' } })
    expect((await ask('/gh/acme/tools')).status).toBe(503)
    expect((await ask('/gh/acme/nothing')).status).toBe(503)
    app.github.faults.clear()
    app.advanceClock(10)
    expect((await ask('/gh/acme/nothing')).status).toBe(404)
    expect(await noted()).toEqual(before)
  })
})

describe('notes', () => {
  const { repository, commit } = jobOf(1)
  const use = { name: { host: 'test', owner: 'acme', repository: 'tools-1' }, repository, commit, ref: null }

  test('that a store does not take are made at a later use', async () => {
    const states = createMemoryStateStore()
    let broken = true
    const usage = createUsageLog(
      { ...states, create: (key, value) => (broken ? Promise.reject(new Error('no store')) : states.create(key, value)) },
      handClock(),
      0,
    )
    usage.opened(use)
    await usage.written()
    expect(await states.list('')).toEqual([])
    broken = false
    usage.opened(use)
    await usage.written()
    expect(await states.list('')).toEqual([readMarkKey(repository, commit)])
  })

  test('that a damaged document stands for are written over', async () => {
    const states = createMemoryStateStore()
    await states.create(readMarkKey(repository, commit), { day: 'yesterday' })
    const usage = createUsageLog(states, handClock('2026-03-01T12:00:00.000Z'), 0)
    usage.opened(use)
    await usage.written()
    expect((await states.read(readMarkKey(repository, commit)))?.value).toEqual({ day: '2026-03-01' })
  })

  test('that wait are bounded, and dropped when the process ends', async () => {
    const states = createMemoryStateStore()
    const usage = createUsageLog(states, handClock(), 0)
    for (let number = 0; number < 6_000; number++) usage.opened({ ...use, commit: jobOf(number).commit })
    await usage.written()
    // The first is being written while the others wait.
    expect((await states.list('')).length).toBe(5_001)
    for (let number = 6_000; number < 6_100; number++) usage.opened({ ...use, commit: jobOf(number).commit })
    await usage.close()
    const left = (await states.list('')).length
    usage.opened({ ...use, commit: jobOf(9_999).commit })
    await usage.written()
    expect((await states.list('')).length).toBe(left)
    expect(left).toBeLessThan(5_101)
  })
})
