import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import type { StateStore } from '#core/ports/state-store.ts'
import { type ChangeFeed, openChangeFeed } from '#infra/change-feed.ts'
import { IMPATIENT_MS, PATIENT } from '#test/support/patient.ts'
import { type StoreDriver, temporaryFolder } from '#test/support/store-drivers.ts'
import { until } from '#test/support/until.ts'

const KEY = 'ctl/changes/prv/gh'
const Change = z.strictObject({ id: z.string() })
type Change = z.infer<typeof Change>

interface Process {
  feed: ChangeFeed<Change>
  heard: string[]
  missed(): number
  /** What it learns of the order: `id number`, with `!` for its own; `missed number`; `known number`. */
  order: string[]
}

/** What processes hear of each other over one store. They look when they are told to. */
export function changeFeedContract({ open }: StoreDriver<StateStore>): void {
  async function start() {
    const states = await open(await temporaryFolder())
    onTestFinished(() => states.close())
    return { states, process: (own = states, readMs?: () => number) => openProcess(own, readMs) }
  }

  /** @param readMs how long it waits for a read that begins now */
  async function openProcess(states: StateStore, readMs = () => PATIENT.answerMs): Promise<Process> {
    const heard: string[] = []
    const order: string[] = []
    let missed = 0
    const feed = openChangeFeed<Change>({
      states,
      key: KEY,
      schema: Change,
      onChange: ({ id }) => heard.push(id),
      onMissed: () => missed++,
      order: {
        note: ({ id }, number, isOwn) => order.push(`${id}${isOwn ? '!' : ''} ${number}`),
        missed: number => order.push(`missed ${number}`),
        known: last => order.push(`known ${last}`),
      },
      lookMs: 0,
      get readMs() {
        return readMs()
      },
    })
    onTestFinished(() => feed.close())
    await feed.look()
    return { feed, heard, missed: () => missed, order }
  }

  test('a change of one process reaches the others once and in order, and not the process itself', async () => {
    const { process } = await start()
    const [first, second, third] = [await process(), await process(), await process()]
    for (const id of ['a', 'b', 'c']) first.feed.tell({ id })
    await first.feed.close()
    await second.feed.look()
    await second.feed.look()
    second.feed.tell({ id: 'd' })
    await second.feed.close()
    await third.feed.look()
    expect(second.heard).toEqual(['a', 'b', 'c'])
    expect(third.heard).toEqual(['a', 'b', 'c', 'd'])
    expect([first.heard, first.missed(), second.missed(), third.missed()]).toEqual([[], 0, 0, 0])
  })

  test('changes reported at the same time are all kept', async () => {
    const { process } = await start()
    const tellers = await Promise.all(Array.from({ length: 5 }, () => process()))
    const listener = await process()
    for (let turn = 0; turn < 4; turn++) for (const [index, { feed }] of tellers.entries()) feed.tell({ id: `${index} ${turn}` })
    await until(async () => {
      await listener.feed.look()
      return listener.heard.length >= 20
    })
    expect(new Set(listener.heard).size).toBe(20)
    for (let index = 0; index < 5; index++)
      expect(listener.heard.filter(id => id.startsWith(`${index} `))).toEqual([0, 1, 2, 3].map(turn => `${index} ${turn}`))
  })

  test('changes that the store refuses for a while are reported later, in order', async () => {
    const { states, process } = await start()
    let refusals = 0
    const refusing: StateStore = {
      ...states,
      read: async key => {
        if (refusals > 0 && refusals--) throw new Error('the store is away')
        return await states.read(key)
      },
    }
    const listener = await process()
    const { feed } = await process(refusing)
    refusals = 2
    for (const id of ['a', 'b']) feed.tell({ id })
    await until(() => refusals === 0)
    feed.tell({ id: 'c' })
    await until(async () => {
      await listener.feed.look()
      return listener.heard.length >= 3
    })
    expect([listener.heard, listener.missed()]).toEqual([['a', 'b', 'c'], 0])
  })

  test('a look that begins during another one sees changes reported before it', async () => {
    const { states, process } = await start()
    const held = Promise.withResolvers<void>()
    const isRead = Promise.withResolvers<void>()
    let isHeld = false
    const late: StateStore = {
      ...states,
      read: async key => {
        const found = await states.read(key)
        if (isHeld) {
          isRead.resolve()
          await held.promise
        }
        return found
      },
    }
    const [first, second] = [await process(), await process(late)]
    isHeld = true
    const running = second.feed.look()
    await isRead.promise
    first.feed.tell({ id: 'a' })
    await first.feed.close()
    const next = second.feed.look()
    held.resolve()
    await Promise.all([running, next])
    expect(second.heard).toEqual(['a'])
  })

  test('a read without an answer blocks no later look', async () => {
    const { states, process } = await start()
    let isSilent = false
    const silent: StateStore = {
      ...states,
      read: key => {
        if (!isSilent) return states.read(key)
        isSilent = false
        return new Promise(() => {})
      },
    }
    // Every other read may take as long as it likes: its first one decides what a process hears.
    const [first, second] = [await process(), await process(silent, () => (isSilent ? IMPATIENT_MS : PATIENT.answerMs))]
    isSilent = true
    void second.feed.look()
    first.feed.tell({ id: 'a' })
    await first.feed.close()
    await second.feed.look()
    expect(isSilent).toBe(false)
    expect(second.heard).toEqual(['a'])
  })

  test('changes from before a process began are ignored: its caches are empty', async () => {
    const { process } = await start()
    const first = await process()
    first.feed.tell({ id: 'a' })
    await first.feed.close()
    const late = await process()
    await late.feed.look()
    expect([late.heard, late.missed()]).toEqual([[], 0])
  })

  test('a process that cannot look at its start treats what it cached until then as outdated', async () => {
    const { states, process } = await start()
    let isAway = true
    const away: StateStore = {
      ...states,
      read: async key => {
        if (isAway) throw new Error('the store is away')
        return await states.read(key)
      },
    }
    const [first, late, alone] = [await process(), await process(away), await process(away)]
    isAway = false
    await alone.feed.look()
    first.feed.tell({ id: 'a' })
    await first.feed.close()
    await late.feed.look()
    await late.feed.look()
    expect([late.heard, late.missed()]).toEqual([[], 1])
    // Nobody had told anything.
    await alone.feed.look()
    expect([alone.heard, alone.missed()]).toEqual([['a'], 0])
  })

  test('a process that was away for too long treats everything as outdated', async () => {
    const { process } = await start()
    const [first, away] = [await process(), await process()]
    for (let number = 0; number < 450; number++) first.feed.tell({ id: `${number}` })
    await first.feed.close()
    await away.feed.look()
    expect(away.missed()).toBe(1)
    expect(away.heard).toEqual([])
  })

  test('a change that is too large, or of another version, counts as a missed one', async () => {
    const { states, process } = await start()
    const [first, second] = [await process(), await process()]
    first.feed.tell({ id: 'x'.repeat(100_000) })
    await first.feed.close()
    await second.feed.look()
    expect([second.heard, second.missed()]).toEqual([[], 1])
    const stored = await states.read(KEY)
    expect(JSON.stringify(stored?.value).length).toBeLessThan(1_000)
    await states.replace(KEY, { last: 2, changes: [{ from: 'newer', change: { other: true } }] }, stored?.etag ?? '')
    await second.feed.look()
    expect(second.missed()).toBe(2)
    await states.replace(KEY, 'of another version', (await states.read(KEY))?.etag ?? '')
    await second.feed.look()
    expect(second.missed()).toBe(3)
  })

  test('a removed entry restarts the count, and misses are noticed', async () => {
    const { states, process } = await start()
    const [first, second] = [await process(), await process()]
    for (const id of ['a', 'b', 'c']) first.feed.tell({ id })
    await first.feed.close()
    await second.feed.look()
    await states.remove(KEY)
    const third = await process()
    third.feed.tell({ id: 'd' })
    await third.feed.close()
    await second.feed.look()
    expect(second.missed()).toBe(1)
  })

  test('all processes see the same numbers of changes, including their own and those before they began', async () => {
    const { states, process } = await start()
    const first = await process()
    for (const id of ['a', 'b']) first.feed.tell({ id })
    await first.feed.close()
    const second = await process()
    expect(second.order).toEqual(['known 2', 'missed 0', 'a 1', 'b 2'])
    second.feed.tell({ id: 'c' })
    await second.feed.close()
    const third = await process()
    third.feed.tell({ id: 'x'.repeat(100_000) })
    await third.feed.close()
    const fourth = await process()
    expect(fourth.order).toEqual(['known 4', 'missed 0', 'a 1', 'b 2', 'c 3', 'missed 4'])
    const stored = await states.read(KEY)
    await states.replace(KEY, 'of another version', stored?.etag ?? '')
    await fourth.feed.look()
    expect(fourth.order.slice(6)).toEqual(['known null'])
  })

  test('the reporter of a change sees its number at the next look', async () => {
    const { process } = await start()
    const [first, second] = [await process(), await process()]
    first.feed.tell({ id: 'a' })
    await until(async () => {
      await second.feed.look()
      return second.heard.length > 0
    })
    await first.feed.look()
    expect(first.order).toEqual(['known 0', 'missed 0', 'known 1', 'a! 1'])
    expect([first.heard, second.heard]).toEqual([[], ['a']])
  })
}
