import { createHiddenNotes } from '#api/snapshot/hidden-notes.ts'
import { createOwnerListings } from '#core/owner-listings.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import { headerKey, SWEEP_LEASE_KEY, splitKey } from '#core/snapshot/store-keys.ts'
import type { Stores } from '#indexer/sweep/repositories.ts'
import { type SweepOptions, sweepStore } from '#indexer/sweep/sweep.ts'
import { createMemoryBlobStore, createMemoryStateStore } from '#infra/memory-stores.ts'
import { makeSnapshot, readTexts, type SmallSnapshot, writeWhole } from './small-snapshots.ts'
import { handClock, jobOf } from './store-values.ts'

export const HOUR = 3_600
export const DAY = 24 * HOUR

/** Most snapshots are of this one. */
export const { repository } = jobOf(1)

export const commitOf = (number: number) => jobOf(number * 7 + 1).commit

/** Where its keys are. */
export const place = splitKey(headerKey(repository, commitOf(1)))?.place ?? ''

/** A store with a clock that moves when told; objects are as old as they are written. */
export interface Place {
  stores: Stores
  clock: ReturnType<typeof handClock>
  sweep(options?: Partial<SweepOptions>): ReturnType<typeof sweepStore>
  keys(): Promise<string[]>
}

export function placeOver(stores: Stores, clock = handClock(new Date().toISOString())): Place {
  return {
    stores,
    clock,
    sweep: options => {
      const onFailure = (_: string, error: unknown) => {
        throw error
      }
      return sweepStore(stores, clock, { days: 90, remove: true, signal: new AbortController().signal, onFailure, ...options })
    },
    keys: async () =>
      [...(await stores.blobs.list('')), ...(await stores.states.list(''))].filter(key => key !== SWEEP_LEASE_KEY),
  }
}

export function inMemory(clock = handClock()): Place {
  return placeOver({ blobs: createMemoryBlobStore(clock), states: createMemoryStateStore() }, clock)
}

/** A process opens a snapshot of the repository for the first time. */
export async function opened({ stores, clock }: Pick<Place, 'stores' | 'clock'>, repository: HostRepository): Promise<void> {
  const notes = createHiddenNotes(stores, clock)
  notes.opened({ host: repository.host, owner: repository.owner, repository: repository.name }, repository)
  await notes.written()
}

/** A process finds that the host hides the repository. */
export async function hidden({ stores, clock }: Pick<Place, 'stores' | 'clock'>, { id }: HostRepository): Promise<void> {
  const notes = createHiddenNotes(stores, clock)
  notes.hidden(id)
  await notes.written()
}

/** The snapshot number `number` of the repository, written whole. */
export async function written(
  { stores }: Place,
  number: number,
  texts = [`text ${number}`],
  earlier?: SmallSnapshot,
  of = repository,
) {
  const snapshot = await makeSnapshot(of, commitOf(number), texts, earlier)
  await writeWhole(stores.blobs, snapshot)
  return snapshot
}

/** Lists a repository under its owner, at the commit of the snapshot. */
export async function list({ stores }: Place, { repository, commit, header: { root } }: SmallSnapshot): Promise<void> {
  const folder = { ...root.folder, counts: { skills: 1, documents: 0 } }
  const owned = { ...repository, ownerId: 'test-owner' }
  await createOwnerListings(stores.states).keep({ repository: owned, commit, header: { root: { ...root, folder } } })
}

export const textsOf = ({ stores }: Place, snapshot: SmallSnapshot) =>
  readTexts(stores.blobs, snapshot.repository, snapshot.commit)
export const totalOf = (snapshots: object) => Object.values(snapshots).reduce((sum: number, number: number) => sum + number, 0)
