import fc from 'fast-check'
import { expect, test } from 'vitest'
import { HIDDEN_HOURS, RETENTION_DAYS } from '#core/limits.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import { HiddenRepository } from '#core/snapshot/hidden-repository.ts'
import { headerKey, hiddenKey, lastIndexedKey, SWEEP_LEASE_KEY } from '#core/snapshot/store-keys.ts'
import { keysOf, type Stores, storedRepositories } from '#indexer/sweep/repositories.ts'
import { sweepStore } from '#indexer/sweep/sweep.ts'
import { createMemoryBlobStore, createMemoryStateStore } from '#infra/memory-stores.ts'
import { runs } from '#test/support/runs.ts'
import { makeSnapshot, readTexts, type SmallSnapshot } from '#test/support/small-snapshots.ts'
import { stepped } from '#test/support/stepped-stores.ts'
import { handClock, jobOf } from '#test/support/store-values.ts'
import { hidden, opened } from '#test/support/sweep-places.ts'

const HOUR_MS = 3_600_000
const DAYS = 30

/** What happens to a store. Numbers are taken modulo of what there is. */
type Event =
  | { what: 'index'; repository: number; goesOn: boolean; dies: boolean }
  | { what: 'open'; snapshot: number }
  | { what: 'hide'; repository: number }
  | { what: 'wait'; hours: number }
  | { what: 'sweep'; killedAt: number | null }

const REPOSITORIES: HostRepository[] = ['test-1', 'test-10', 'test-2'].map(id => ({ ...jobOf(1).repository, id }))

const event = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      what: fc.constant('index' as const),
      repository: fc.nat(2),
      goesOn: fc.boolean(),
      dies: fc.integer({ max: 3 }).map(number => number === 0),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ what: fc.constant('open' as const), snapshot: fc.nat() }),
  },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('hide' as const), repository: fc.nat(2) }) },
  {
    weight: 4,
    arbitrary: fc.record({ what: fc.constant('wait' as const), hours: fc.integer({ min: 200, max: DAYS * 24 - 1 }) }),
  },
  { weight: 2, arbitrary: fc.record({ what: fc.constant('wait' as const), hours: fc.integer({ min: 20, max: 30 }) }) },
  { weight: 4, arbitrary: fc.record({ what: fc.constant('sweep' as const), killedAt: fc.option(fc.nat(60), { freq: 2 }) }) },
)

/** A store and what is known of it by having seen everything. */
class World {
  readonly clock = handClock()
  readonly stores: Stores = { blobs: createMemoryBlobStore(this.clock), states: createMemoryStateStore() }
  /** When each snapshot was published. */
  readonly published = new Map<SmallSnapshot, number>()
  readonly hiddenAt = new Map<string, number>()
  commits = 0

  async apply(event: Event): Promise<void> {
    switch (event.what) {
      case 'index':
        return await this.index(REPOSITORIES[event.repository] as HostRepository, event.goesOn, event.dies)
      case 'open':
        return await this.open([...this.published.keys()][event.snapshot % Math.max(1, this.published.size)])
      case 'hide':
        return await this.hide(REPOSITORIES[event.repository] as HostRepository)
      case 'wait':
        return this.clock.advance(event.hours * 3600)
      case 'sweep':
        return await this.sweep(event.killedAt)
    }
  }

  now = () => this.clock.now().getTime()

  async index(repository: HostRepository, goesOn: boolean, dies: boolean): Promise<void> {
    const { blobs, states } = this.stores
    const earlier = goesOn ? await this.newest(repository) : undefined
    const number = this.commits++
    // Texts come back, so that packs of dead jobs and of snapshots that went do as well.
    const snapshot = await makeSnapshot(repository, jobOf(number).commit, [`text ${number % 2}`], earlier)
    await snapshot.writePacks(blobs)
    if (dies) return
    await snapshot.publish(blobs)
    await snapshot.lookAgain(blobs)
    this.published.set(snapshot, this.now())
    // Who reads a repository is shown it.
    if (this.now() - (this.hiddenAt.get(repository.id) ?? this.now()) > HOUR_MS) this.hiddenAt.delete(repository.id)
    const key = lastIndexedKey(repository)
    const stored = await states.read(key)
    const { commit } = snapshot
    await (stored ? states.replace(key, { commit }, stored.etag) : states.create(key, { commit }))
  }

  async newest(repository: HostRepository): Promise<SmallSnapshot | undefined> {
    const all = [...this.published.keys()].filter(one => one.repository.id === repository.id)
    const last = all.at(-1)
    return last && (await this.stores.blobs.read(headerKey(repository, last.commit))) ? last : undefined
  }

  async open(snapshot: SmallSnapshot | undefined): Promise<void> {
    if (!snapshot || (await readTexts(this.stores.blobs, snapshot.repository, snapshot.commit)) === null) return
    await opened(this, snapshot.repository)
    this.hiddenAt.delete(snapshot.repository.id)
  }

  async hide(repository: HostRepository): Promise<void> {
    const { id } = repository
    await hidden(this, repository)
    // An earlier sight stands, unless a sweep was done with it.
    const stored = await this.stores.states.read(hiddenKey({ id, visibility: 'public' }))
    this.hiddenAt.set(id, Date.parse(HiddenRepository.parse(stored?.value).since))
  }

  async sweep(killedAt: number | null = null): Promise<void> {
    const stores = killedAt === null ? this.stores : killedAfter(this.stores, killedAt)
    const options = { days: DAYS, remove: true, signal: new AbortController().signal }
    const onFailure = (_: string, error: unknown) => {
      if (killedAt === null) throw error
    }
    await sweepStore(stores, this.clock, { ...options, onFailure }).catch(error => {
      if (killedAt === null) throw error
    })
    // The lease of a sweep that was killed is over by the next one.
    if (killedAt !== null) this.clock.advance(60)
  }

  /** Everything that is there reads whole, and what was published lately is there. */
  async check(): Promise<void> {
    for (const [snapshot, publishedAt] of this.published) {
      const { repository, commit, texts } = snapshot
      const found = await readTexts(this.stores.blobs, repository, commit)
      const hiddenAt = this.hiddenAt.get(repository.id)
      const isHidden = hiddenAt !== undefined && this.now() - hiddenAt >= HIDDEN_HOURS * HOUR_MS
      const isKept = this.now() - publishedAt < DAYS * 24 * HOUR_MS && !isHidden
      expect(found, `${repository.id} ${commit}`).toEqual(found === null && !isKept ? null : texts)
      if (found === null) this.published.delete(snapshot)
    }
  }

  async left(): Promise<string[]> {
    const { blobs, states } = this.stores
    return [...(await blobs.list('')), ...(await states.list(''))].filter(key => key !== SWEEP_LEASE_KEY)
  }
}

/** The stores of a process that is killed after so many steps. */
function killedAfter(stores: Stores, steps: number): Stores {
  return stepped(stores, async step => {
    if (step >= steps) throw new Error('killed')
  }).stores
}

test('for any sequence of indexing, opening and sweeping, used objects read whole, and unused ones are removed in the end', async () => {
  const cases = runs(100)
  const left = { snapshots: 0 }
  await fc.assert(
    fc.asyncProperty(fc.array(event, { minLength: 12, maxLength: 40 }), async events => {
      const world = new World()
      for (const one of events) {
        await world.apply(one)
        if (one.what === 'sweep') await world.check()
      }
      await world.check()
      left.snapshots += world.published.size
      world.clock.advance(RETENTION_DAYS.default * 24 * 3600)
      for (let day = 0; day < 3; day++) {
        await world.sweep()
        world.clock.advance(25 * 3600)
      }
      expect(await world.left()).toEqual([])
    }),
    { numRuns: cases },
  )
  expect(left.snapshots).toBeGreaterThan(cases < 100 ? cases / 5 : 100)
})

test('a store is swept repository by repository, for any keys', async () => {
  const id = fc.stringMatching(/^[a-z0-9](?:[a-z0-9-]{0,3}[a-z0-9])?$/)
  const hash = fc.constantFrom('000', '001', 'fff')
  const commit = fc.constantFrom('a'.repeat(40), 'b'.repeat(40))
  const place = fc.tuple(fc.constantFrom('pub', 'prv'), hash, id).map(parts => parts.join('/'))
  const objects = fc.tuple(place, commit, fc.constantFrom('c', 'p')).map(([at, sha, kind]) => {
    return kind === 'p' ? `${at}/p/${sha}` : `${at}/c/${sha}/r1f1s1`
  })
  const documents = fc.tuple(place, commit, fc.constantFrom('damage', 'job', 'last', 'hidden')).map(([at, sha, kind]) => {
    const keys = {
      damage: `ctl/kept/${at}/damage/${sha}.r1`,
      job: `ctl/job/${at}/${sha}.r1`,
      last: `ctl/last/${at}/r1`,
      hidden: `ctl/kept/${at}/hidden`,
    }
    return keys[kind as keyof typeof keys]
  })
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(objects), fc.uniqueArray(documents), async (blobKeys, docKeys) => {
      const stores = { blobs: createMemoryBlobStore(handClock()), states: createMemoryStateStore() }
      for (const key of blobKeys) await stores.blobs.create(key, new Uint8Array())
      for (const key of docKeys) await stores.states.create(key, 1)
      const seen = new Map<string, string[]>()
      for await (const { place: at, found } of storedRepositories(stores)) {
        expect(seen.has(at)).toBe(false)
        seen.set(at, found.map(({ key }) => key).sort())
      }
      const expected = new Map<string, string[]>()
      for (const key of [...blobKeys, ...docKeys].sort()) {
        const at = /(?:pub|prv)\/[0-9a-f]{3}\/[^/]+/.exec(key)?.[0] ?? ''
        expected.set(at, [...(expected.get(at) ?? []), key])
      }
      expect([...seen].sort()).toEqual([...expected].sort())
    }),
  )
})

test('keys are read to the last, page by page', async () => {
  const states = createMemoryStateStore()
  for (let number = 0; number < 2_500; number++) await states.create(`a/${number}`, 1)
  const pages: number[] = []
  const counted = {
    async list(prefix: string, options: Parameters<typeof states.list>[1]) {
      const page = await states.list(prefix, options)
      pages.push(page.length)
      return page
    },
  }
  const keys: string[] = []
  for await (const key of keysOf(counted, 'a/')) keys.push(key)
  expect(keys).toEqual(await states.list('a/'))
  expect(pages).toEqual([1_000, 1_000, 500])
})
