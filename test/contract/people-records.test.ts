import { expect, test } from 'vitest'
import { openRecords } from '#api/people/records.ts'
import type { StateStore, WriteOutcome } from '#core/ports/state-store.ts'
import { personKey } from '#core/snapshot/store-keys.ts'
import { createMemoryStateStore } from '#infra/memory-stores.ts'
import { PERSON, personRecord } from '#test/support/person-record.ts'
import { createRandom } from '#test/support/random.ts'
import { describeDrivers, LOCAL_STATE_STORES } from '#test/support/store-drivers.ts'
import { peopleRecordsContract } from './people-records-contract.ts'

describeDrivers('records of people', LOCAL_STATE_STORES, peopleRecordsContract)

/** A store that says of a third of its writes that they failed: half of these were done. */
function careless(states: StateStore): StateStore {
  const random = createRandom('careless')
  const write = async (work: () => Promise<WriteOutcome>): Promise<WriteOutcome> => {
    const chance = random()
    if (chance < 1 / 6) return { status: 'conflict' }
    const outcome = await work()
    return chance < 1 / 3 ? { status: 'conflict' } : outcome
  }
  return {
    ...states,
    create: (key, value) => write(() => states.create(key, value)),
    replace: (key, value, etag) => write(() => states.replace(key, value, etag)),
  }
}

test('an idempotent change is done once, although the store reports a failure', async () => {
  const states = createMemoryStateStore()
  const processes = [openRecords(careless(states)), openRecords(careless(states))]
  const added = Array.from({ length: 60 }, (_, index) => String(index))
  const at = '2026-11-24T00:00:00Z'
  const change = (id: string) =>
    processes[Number(id) % 2]?.people.update([PERSON], record => {
      const known = record ?? personRecord()
      if (known.sessions.some(session => session.id === id)) return known
      return { ...known, sessions: [...known.sessions, { id, h: '', createdAt: at, seenAt: at, exp: at }] }
    })
  await Promise.all(added.map(change))
  const kept = await openRecords(states).people.read(PERSON)
  expect(kept?.sessions.map(({ id }) => id).sort()).toEqual(added.sort())
})

test('a store that does not answer is auth.unavailable, and a record that is damaged is a fault', async () => {
  const states = createMemoryStateStore()
  const away = { ...states, read: () => Promise.reject(new Error('away')) }
  await expect(openRecords(away).people.read(PERSON)).rejects.toMatchObject({ code: 'auth.unavailable' })
  await expect(openRecords(away).people.update([PERSON], () => personRecord())).rejects.toMatchObject({ status: 503 })
  await states.create(personKey(PERSON), { v: 2 })
  await expect(openRecords(states).people.read(PERSON)).rejects.toThrow('expected 1')
})
