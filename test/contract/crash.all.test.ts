import { describe, expect, onTestFinished, test } from 'vitest'
import { createMemoryBlobStore, createMemoryStateStore } from '#infra/memory-stores.ts'
import { systemClock } from '#infra/system/system.ts'
import { count, findMiscounts } from '#test/soak/counter.ts'
import { makePlace, type PlaceKind, SERVERS_OF } from '#test/soak/place.ts'
import { runRace, tell } from '#test/soak/race.ts'
import { lookAtWrites, runWriters } from '#test/soak/writers.ts'
import { entryKey, objectKey } from '#test/soak/written-keys.ts'
import { hasServer, testServer } from '#test/support/servers/servers.ts'
import { bytesOf } from '#test/support/store-values.ts'

// The short form of `npm run soak`.

const hasServers = (place: PlaceKind) => SERVERS_OF[place].every(hasServer)

const RACES: readonly { place: PlaceKind; kills: number; pauses: number; pauseSeconds: number }[] = [
  // pg-boss takes longer to notice that a worker is silent.
  { place: 'disk + postgres', kills: 5, pauses: 1, pauseSeconds: 17 },
  { place: 'disk', kills: 4, pauses: 2, pauseSeconds: 4 },
  { place: 's3', kills: 4, pauses: 2, pauseSeconds: 4 },
]

describe.concurrent('4 processes that run 24 jobs while they are killed and suspended', () => {
  test.for(RACES.filter(({ place }) => hasServers(place)))(
    'over $place: no fence twice, one header for each job, and every count',
    async ({ place: kind, ...race }, context) => {
      const place = await makePlace(kind, testServer, context.onTestFinished)
      const report = await runRace(place, { processes: 4, jobs: 24, ...race, seed: 1 }, context.onTestFinished)
      context.expect(report).toMatchObject({ problems: [], duplicateFences: 0, doubleManifests: 0, manifestsPresent: 24 })
      // Jobs of those who died were begun again.
      context.expect(report.runs).toBeGreaterThan(24)
    },
  )
})

const WRITERS: readonly { place: PlaceKind; writers: number }[] = [
  { place: 'disk', writers: 40 },
  { place: 's3', writers: 40 },
  { place: 'disk + postgres', writers: 16 },
]

describe('writers that are killed in the middle of their work', () => {
  test.for(WRITERS.filter(({ place }) => hasServers(place)))(
    '$writers of them over $place corrupt nothing and lose nothing that was acknowledged',
    async ({ place: kind, writers }) => {
      const place = await makePlace(kind, testServer, onTestFinished)
      const report = await runWriters(place, { writers, atOnce: 4, milliseconds: 150, seed: 1 }, onTestFinished)
      expect(report).toMatchObject({ problems: [], kills: writers, corrupt: 0, lost: 0 })
      expect(report.acknowledged).toBeGreaterThan(writers)
    },
  )
})

describe('the checks detect the faults that they look for', () => {
  test('a fence or a header that two workers have', () => {
    const one = { lines: ['ready', 'taken a 1', 'header a created', 'ended a 1 finished', 'taken b 1'] }
    const two = { lines: ['ready', 'taken b 2', 'header b created', 'taken a 2', 'header a exists'] }
    expect(tell([one, two])).toMatchObject({ duplicateFences: 0, doubleManifests: 0 })
    expect(tell([one, { lines: ['taken a 1', 'header b created', 'header a created'] }])).toMatchObject({
      duplicateFences: 1,
      doubleManifests: 1,
    })
  })

  test('a count that is lost, or made twice', async () => {
    const states = createMemoryStateStore()
    for (const name of ['one', 'one', 'two']) await count(states, name)
    const counted = (one: number, two: number) => [
      { name: 'one', acknowledged: one },
      { name: 'two', acknowledged: two },
    ]
    expect(await findMiscounts(states, counted(2, 1))).toEqual([])
    expect(await findMiscounts(states, counted(1, 0)), 'killed before they heard of it').toEqual([])
    expect(await findMiscounts(states, counted(3, 1))).toHaveLength(1)
    expect(await findMiscounts(states, counted(0, 1))).toHaveLength(1)
  })

  test('a write that is lost or damaged', async () => {
    const [blobs, states] = [createMemoryBlobStore(systemClock), createMemoryStateStore()]
    const [first, second] = [objectKey('a', 1), objectKey('a', 2)]
    await blobs.create(first, bytesOf(first))
    await states.create(entryKey('a'), 1)
    const look = (...lines: string[]) => lookAtWrites({ blobs, states }, new Map([['a', lines]]))
    expect(await look(`object ${first}`, 'document 1')).toMatchObject({ problems: [], corrupt: 0, lost: 0 })
    expect(await look(`object ${first}`, `object ${second}`, 'document 1', 'document 2')).toMatchObject({ lost: 2, corrupt: 0 })
    await blobs.create(second, bytesOf(first))
    expect(await look(`object ${second}`)).toMatchObject({ lost: 0, corrupt: 1 })
  })
})
