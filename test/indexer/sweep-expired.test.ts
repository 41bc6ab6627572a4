import { expect, test } from 'vitest'
import { openRecords } from '#api/people/records.ts'
import { grantKey, personKey, spentKey } from '#core/snapshot/store-keys.ts'
import { sweepExpired } from '#indexer/sweep/expired-entries.ts'
import { emptyTally } from '#indexer/sweep/sweep-tally.ts'
import { createMemoryStateStore } from '#infra/memory-stores.ts'
import { personRecord } from '#test/support/person-record.ts'

const NOW = new Date('2026-11-24T00:00:00Z')

test('expired grants and markers are removed, and people and running jobs stay', async () => {
  const states = createMemoryStateStore()
  const [over, running] = [{ exp: '2026-11-23T23:59:59.000Z' }, { exp: '2026-11-24T00:00:01.000Z' }]
  for (const key of [grantKey('a', '1'), spentKey('1')]) await states.create(key, over)
  for (const key of [grantKey('a', '2'), spentKey('2')]) await states.create(key, running)
  await states.create(grantKey('a', '3'), { unknown: true })
  await states.create(personKey('a'), { v: 1, uk: 'a' })
  const { people } = openRecords({ ...states, remove: () => Promise.reject(new Error('away')) })
  await people.update(['b'], () => personRecord({ uk: 'b' }))
  await expect(people.remove('b')).rejects.toThrow()
  const signal = new AbortController().signal
  const counted = emptyTally()
  await sweepExpired({ states }, NOW, { remove: false, signal }, counted)
  expect([counted.entries, (await states.list('ctl/')).length]).toEqual([3, 7])
  const tally = emptyTally()
  await sweepExpired({ states }, NOW, { remove: true, signal }, tally)
  expect(tally.entries).toBe(3)
  expect(await states.list('ctl/')).toEqual([grantKey('a', '2'), grantKey('a', '3'), personKey('a'), spentKey('2')])
})
