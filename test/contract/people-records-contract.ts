import { expect, test } from 'vitest'
import { openRecords, type PersonRecord } from '#api/people/records.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { personKey } from '#core/snapshot/store-keys.ts'
import { type StoreDriver, temporaryFolder } from '#test/support/store-drivers.ts'

const PERSON = 'a1b2c3d4e5f60718293a4b5c'

export function personRecord(part: Partial<PersonRecord> = {}): PersonRecord {
  return { v: 1, uk: PERSON, since: 's', host: null, cred: null, sessions: [], tokens: [], ...part }
}

function tokenOf(id: string): PersonRecord['tokens'][number] {
  const at = '2026-11-24T00:00:00Z'
  const repository = { address: '/gh/acme/tools', repoId: 'gh-1' }
  return { id, h: '', ...repository, label: id, createdAt: at, expiresAt: at, lastUsedAt: null }
}

/** Adds a token, unless it is there: a write whose answer was lost is repeated. */
const adding = (id: string) => (record: PersonRecord | null) => {
  const known = record ?? personRecord()
  return known.tokens.some(token => token.id === id) ? known : { ...known, tokens: [...known.tokens, tokenOf(id)] }
}

/** What holds for the records of people in every store. */
export function peopleRecordsContract({ open }: StoreDriver<StateStore>): void {
  test('a record is created, changed, read by every process, and removed', async () => {
    const states = await open(await temporaryFolder())
    const [one, other] = [openRecords(states), openRecords(states)]
    expect(await one.people.read(PERSON)).toBeNull()
    await one.people.update([PERSON], adding('1'))
    await other.people.update([PERSON], adding('2'))
    expect((await one.people.read(PERSON))?.tokens.map(({ id }) => id)).toEqual(['1', '2'])
    await other.people.remove(PERSON)
    expect(await one.people.read(PERSON)).toBeNull()
    await states.close()
  })

  test('a change that leaves the record as it is writes nothing', async () => {
    const states = await open(await temporaryFolder())
    const { people } = openRecords(states)
    expect(await people.update([PERSON], () => null)).toBeNull()
    await people.update([PERSON], adding('1'))
    const before = await states.read(personKey(PERSON))
    expect(await people.update([PERSON], adding('1'))).toEqual(before?.value)
    expect(await states.read(personKey(PERSON))).toEqual(before)
    await states.close()
  })

  test('of changes that two processes make at once none is lost', async () => {
    const states = await open(await temporaryFolder())
    const processes = [openRecords(states), openRecords(states)]
    const ids = Array.from({ length: 40 }, (_, index) => String(index))
    await Promise.all(ids.map((id, index) => processes[index % 2]?.people.update([PERSON], adding(id))))
    const kept = (await openRecords(states).people.read(PERSON))?.tokens.map(({ id }) => id)
    expect(kept?.sort()).toEqual(ids.sort())
    await states.close()
  })

  test('a removed record is not brought back by a change that was under way', async () => {
    const states = await open(await temporaryFolder())
    const { people } = openRecords(states)
    await people.update([PERSON], adding('1'))
    const asked: (PersonRecord | null)[] = []
    let removal: Promise<void> | null = null
    const after = await people.update([PERSON], record => {
      asked.push(record)
      if (record === null) return null
      removal ??= states.remove(personKey(PERSON))
      return { ...record, tokens: [] }
    })
    await removal
    // Either the change came first and was removed, or it saw that there was nothing left to change.
    expect(after === null ? asked.at(-1) : after.tokens).toEqual(after === null ? null : [])
    expect(await people.read(PERSON)).toBeNull()
    await states.close()
  })
}
