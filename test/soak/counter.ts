import { z } from 'zod'
import type { StateStore } from '#core/ports/state-store.ts'

const KEY = 'ctl/soak/counter'

const Counter = z.object({ total: z.int(), by: z.record(z.string(), z.int()) })
type Counter = z.infer<typeof Counter>

/** Counts one in the document in which all processes count. Resolves when that is acknowledged. */
export async function count(states: StateStore, name: string): Promise<void> {
  for (;;) {
    const doc = await states.read(KEY)
    const { total, by } = doc === null ? { total: 0, by: {} } : Counter.parse(doc.value)
    const next = { total: total + 1, by: { ...by, [name]: (by[name] ?? 0) + 1 } }
    const written = doc === null ? await states.create(KEY, next) : await states.replace(KEY, next, doc.etag)
    if (written.status === 'written') return
  }
}

/** What a process said of its counts. */
export interface Counted {
  name: string
  acknowledged: number
  /** It was told that nobody knows. */
  unsure?: number
}

/** What does not add up; empty: every acknowledged count is there, and at most one of each process of which it heard nothing. */
export async function findMiscounts(states: StateStore, counted: readonly Counted[]): Promise<string[]> {
  const doc = await states.read(KEY)
  const { total, by }: Counter = doc === null ? { total: 0, by: {} } : Counter.parse(doc.value)
  const sum = Object.values(by).reduce((all, one) => all + one, 0)
  const problems = sum === total ? [] : [`the counter says ${total}, its parts ${sum}`]
  for (const { name, acknowledged, unsure = 0 } of counted) {
    const found = by[name] ?? 0
    // A process that was killed may have counted without hearing of it.
    if (found < acknowledged || found > acknowledged + unsure + 1)
      problems.push(`${name} counted ${acknowledged} times, the counter says ${found}`)
  }
  return problems
}
