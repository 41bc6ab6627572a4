import { expect, onTestFinished, test } from 'vitest'
import { createOwnerListings, type IndexedDefault, type OwnerListing } from '#core/owner-listings.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { ownerListingKey, ownerPrefix } from '#core/snapshot/store-keys.ts'
import { type StoreDriver, temporaryFolder } from '#test/support/store-drivers.ts'
import { jobOf } from '#test/support/store-values.ts'

const OPEN = { kind: 'open', name: 'MIT', source: 'LICENSE' } as const

/** A repository of the account as it was indexed. */
function indexed(number: number, skills: number, repository: Partial<IndexedDefault['repository']> = {}): IndexedDefault {
  const job = jobOf(number)
  const names = Array.from({ length: skills }, (_, index) => `skill-${index}`)
  return {
    repository: { ...job.repository, ownerId: 'gh-7', ...repository },
    commit: job.commit,
    header: {
      root: {
        folder: { counts: { skills, documents: 1 }, license: OPEN, image: { path: 'cover.png' } },
        skills: names.map(name => ({
          path: `${name}/SKILL.md`,
          directory: name,
          name,
          description: '',
          warnings: [],
          translations: {},
          license: OPEN,
        })),
        documents: [],
        diagnostics: [],
      },
    },
  }
}

/** What every driver must do. */
export function ownerListingsContract({ open }: StoreDriver<StateStore>): void {
  async function openListings() {
    const states = await open(await temporaryFolder())
    onTestFinished(() => states.close())
    return { states, listings: createOwnerListings(states) }
  }

  test('are of all accounts for the operator, up to a bound', async () => {
    const { listings } = await openListings()
    await listings.keep(indexed(1, 7))
    await listings.keep(indexed(3, 1, { ownerId: 'gh-71' }))
    const { listings: all, isComplete } = await listings.all(10)
    expect(all.map(({ repository }) => repository.id).sort()).toEqual([1, 3].map(number => jobOf(number).repository.id).sort())
    expect(isComplete).toBe(true)
    const some = await listings.all(1)
    expect([some.listings.length, some.isComplete]).toEqual([1, false])
  })

  test('have what a card needs of every repository, and of one account alone', async () => {
    const { listings } = await openListings()
    await listings.keep(indexed(1, 7))
    await listings.keep(indexed(2, 1))
    await listings.keep(indexed(3, 1, { ownerId: 'gh-71' }))
    const found = await listings.of('gh-7')
    expect(found.map(({ repositoryId }) => repositoryId).sort()).toEqual([1, 2].map(number => jobOf(number).repository.id).sort())
    expect(found.find(({ counts }) => counts.skills === 7)).toEqual({
      repositoryId: jobOf(1).repository.id,
      owner: jobOf(1).repository.owner,
      name: jobOf(1).repository.name,
      commit: jobOf(1).commit,
      image: { path: 'cover.png' },
      license: OPEN,
      counts: { skills: 7, documents: 1 },
      skillNames: ['skill-0', 'skill-1', 'skill-2', 'skill-3', 'skill-4'],
    })
  })

  test('follow the next index, and drop repositories without skills and private ones', async () => {
    const { listings } = await openListings()
    const skills = async () => (await listings.of('gh-7')).map(({ counts }) => counts.skills)
    await listings.keep(indexed(1, 7))
    await listings.keep(indexed(1, 2))
    expect(await skills()).toEqual([2])
    await listings.keep(indexed(1, 0))
    expect(await skills()).toEqual([])
    await listings.keep(indexed(1, 0))
    await listings.keep(indexed(1, 2))
    await listings.keep(indexed(1, 2, { visibility: 'private' }))
    expect(await skills()).toEqual([])
  })

  test('need no right to remove where nothing was listed', async () => {
    const { states } = await openListings()
    const refuse = async () => Promise.reject(new Error('may not be removed'))
    const listings = createOwnerListings({ ...states, remove: refuse })
    await listings.keep(indexed(1, 0))
    await listings.keep(indexed(1, 2, { visibility: 'private' }))
    expect(await listings.of('gh-7')).toEqual([])
  })

  test('are not written again while nothing changes', async () => {
    const { states, listings } = await openListings()
    await listings.keep(indexed(1, 7))
    const key = ownerListingKey('gh-7', jobOf(1).repository.id)
    const before = await states.read(key)
    await listings.keep(indexed(1, 7))
    expect((await states.read(key))?.etag).toBe(before?.etag)
  })

  test('are noted as hidden, as shown again, and taken off', async () => {
    const { listings } = await openListings()
    await listings.keep(indexed(1, 7))
    const only = async () => (await listings.of('gh-7'))[0] as OwnerListing
    const before = await only()
    await listings.hide('gh-7', before, new Date('2026-03-01T12:00:00.000Z'))
    expect(await only()).toEqual({ ...before, hiddenSince: '2026-03-01T12:00:00.000Z' })
    await listings.show('gh-7', await only())
    expect(await only()).toEqual(before)
    await listings.hide('gh-7', before, new Date('2026-03-01T12:00:00.000Z'))
    await listings.keep(indexed(1, 7))
    expect(await only()).toEqual(before)
    await listings.drop('gh-7', before)
    expect(await listings.of('gh-7')).toEqual([])
  })

  test('that another process changed meanwhile stay unchanged', async () => {
    const { listings } = await openListings()
    await listings.keep(indexed(1, 7))
    const [before] = (await listings.of('gh-7')) as [OwnerListing]
    await listings.keep(indexed(1, 2))
    const after = await listings.of('gh-7')
    await listings.hide('gh-7', before, new Date())
    await listings.show('gh-7', before)
    await listings.drop('gh-7', before)
    expect(await listings.of('gh-7')).toEqual(after)
    await listings.drop('gh-7', { ...before, repositoryId: 'test-unknown' })
  })

  test('of a host without accounts are empty', async () => {
    const { states, listings } = await openListings()
    const { ownerId: _, ...repository } = indexed(1, 7).repository
    await listings.keep({ ...indexed(1, 7), repository })
    expect(await states.list('')).toEqual([])
  })

  test('skip entries that they cannot parse', async () => {
    const { states, listings } = await openListings()
    await listings.keep(indexed(1, 7))
    await damage(states, `${ownerPrefix('gh-7')}gh-9`)
    expect((await listings.of('gh-7')).length).toBe(1)
  })
}

async function damage(states: StateStore, key: string): Promise<void> {
  await states.create(key, { repositoryId: 9 })
}
