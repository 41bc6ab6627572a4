import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { NO_METRICS } from '#core/ports/metrics.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { changesKey } from '#core/snapshot/store-keys.ts'
import { createMemoryStateStore } from '#infra/memory-stores.ts'
import { openSharingGitHub } from '#infra/open.ts'
import { answered } from '#test/support/answered.ts'
import { PATIENT } from '#test/support/patient.ts'
import { LOCAL_STATE_STORES } from '#test/support/store-drivers.ts'
import { MISSING, ok } from './git-host-asking.ts'
import { sharedCacheContract } from './shared-cache-contract.ts'
import { openReplica, serveShared } from './shared-cache-scene.ts'

const scene = await serveShared()
afterAll(scene.close)

for (const driver of LOCAL_STATE_STORES.filter(({ driver: name }) => !name.includes('counted')))
  describe(`answers over a store: ${driver.driver}`, () => sharedCacheContract(driver, scene))

test('a process that starts looks at the changes first, and so reuses the answers of others', async () => {
  scene.begin()
  const { github, api, create } = scene
  const states = createMemoryStateStore()
  const slow: StateStore = {
    ...states,
    read: async key => {
      if (key === changesKey('gh')) for (let turn = 0; turn < 10; turn++) await nextTurn()
      return await states.read(key)
    },
  }
  const repository = await create()
  const commit = await repository.commit({ a: 'a' })
  const lookFrom = async () => {
    const closing: (() => Promise<void>)[] = []
    const { origins, clock } = github
    const options = {
      url: origins.web,
      apiUrl: origins.api,
      token: null,
      webhookSecret: 'secret',
      timeouts: PATIENT,
    }
    const host = await openSharingGitHub(
      { ...options, clock: { now: () => new Date(clock.now()) }, onWarning() {} },
      { states: slow, database: null },
      NO_METRICS,
      closing,
    )
    closing.push(() => host.close())
    const found = answered(await host.repository(repository.owner, repository.name))
    expect(await host.resolve(found, null)).toEqual(ok(commit))
    for (const close of closing) await close()
  }
  await lookFrom()
  expect(api()).toEqual([200, 200])
  await lookFrom()
  expect(api()).toEqual([200, 200])
})

describe('a store', () => {
  async function start(broken: Partial<StateStore>) {
    scene.begin()
    const calls: string[] = []
    const states = createMemoryStateStore()
    const counted: StateStore = {
      ...states,
      read: async key => {
        if (key.startsWith('ctl/answers/')) calls.push(key)
        return key.startsWith('ctl/answers/') && broken.read ? await broken.read(key) : await states.read(key)
      },
      create: async (key, value) => (broken.create ? await broken.create(key, value) : await states.create(key, value)),
    }
    const repository = await scene.create()
    const commit = await repository.commit({ a: 'a' })
    return { ...scene, states, counted, calls, commit, owner: repository.owner, name: repository.name }
  }

  test.each<[string, Partial<StateStore>]>([
    ['does not answer', { read: () => new Promise(() => {}) }],
    ['fails', { read: () => Promise.reject(new Error('the store is down')) }],
  ])('that %s delays one visitor for a moment, fails none, and is then not asked for a while', async (_, broken) => {
    const { github, counted, calls, commit, owner, name } = await start(broken)
    const replica = await openReplica(github, counted, { storePatienceMs: 20 })
    expect(await replica.look(owner, name)).toEqual(ok(commit))
    expect(await replica.look(owner, 'none')).toEqual(MISSING)
    expect(calls).toHaveLength(1)
    github.clock.advance(6)
    expect(await replica.look(owner, 'none-else')).toEqual(MISSING)
    expect(calls).toHaveLength(2)
  })

  test('that cannot be written fails no visitor', async () => {
    const { github, counted, commit, owner, name } = await start({ create: () => Promise.reject(new Error('read-only')) })
    const replica = await openReplica(github, counted)
    expect(await replica.look(owner, name)).toEqual(ok(commit))
  })

  test('is not filled by names that visitors make up', async () => {
    const { github, states, counted, owner } = await start({})
    const replica = await openReplica(github, counted)
    for (let turn = 0; turn < 40; turn++) expect(await replica.look(owner, `none-${turn}`)).toEqual(MISSING)
    // The clock stands still: they are of one second.
    expect((await states.list('ctl/answers/')).length).toBeLessThanOrEqual(5)
  })
})
