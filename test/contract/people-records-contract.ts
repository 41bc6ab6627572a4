import { expect, test } from 'vitest'
import { openRecords, type PersonRecord } from '#api/people/records.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { personKey } from '#core/snapshot/store-keys.ts'
import { PERSON, personRecord } from '#test/support/person-record.ts'
import { type StoreDriver, temporaryFolder } from '#test/support/store-drivers.ts'

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

  test('a change without effect writes nothing', async () => {
    const states = await open(await temporaryFolder())
    const { people } = openRecords(states)
    expect(await people.update([PERSON], () => null)).toBeNull()
    await people.update([PERSON], adding('1'))
    const before = await states.read(personKey(PERSON))
    expect(await people.update([PERSON], adding('1'))).toEqual(before?.value)
    expect(await states.read(personKey(PERSON))).toEqual(before)
    await states.close()
  })

  test('changes of two processes at once are all kept', async () => {
    const states = await open(await temporaryFolder())
    const processes = [openRecords(states), openRecords(states)]
    const ids = Array.from({ length: 40 }, (_, index) => String(index))
    await Promise.all(ids.map((id, index) => processes[index % 2]?.people.update([PERSON], adding(id))))
    const kept = (await openRecords(states).people.read(PERSON))?.tokens.map(({ id }) => id)
    expect(kept?.sort()).toEqual(ids.sort())
    await states.close()
  })

  test('a removed record is not restored by changes in progress', async () => {
    const states = await open(await temporaryFolder())
    const [one, other] = [openRecords(states), openRecords(states)]
    const people = Array.from({ length: 40 }, (_, index) => `${PERSON.slice(2)}${index + 10}`)
    await Promise.all(
      people.map(async person => {
        await one.people.update([person], () => personRecord({ uk: person }))
        let removal: Promise<void> | null = null
        const after = await one.people.update([person], record => {
          if (record === null) return null
          removal ??= other.people.remove(person)
          return { ...record, tokens: [tokenOf('1')] }
        })
        await removal
        // Either the change came first and was removed, or it saw that there was nothing left to change.
        expect(after === null || after.tokens.length === 1).toBe(true)
      }),
    )
    for (const person of people) expect(await one.people.read(person)).toBeNull()
    expect(await states.list('ctl/')).toEqual([])
    await states.close()
  })

  test('a record whose removal was interrupted counts as missing, and may be created again', async () => {
    const states = await open(await temporaryFolder())
    const { people } = openRecords({ ...states, remove: () => Promise.reject(new Error('away')) })
    await people.update([PERSON], adding('1'))
    await expect(people.remove(PERSON)).rejects.toMatchObject({ code: 'auth.unavailable' })
    const again = openRecords(states).people
    expect(await again.read(PERSON)).toBeNull()
    expect(JSON.stringify((await states.read(personKey(PERSON)))?.value)).not.toContain(PERSON)
    expect((await again.update([PERSON], adding('2')))?.tokens.map(({ id }) => id)).toEqual(['2'])
    await states.close()
  })
}
