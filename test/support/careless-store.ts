import type { StateStore, WriteOutcome } from '#core/ports/state-store.ts'
import { createRandom } from './random.ts'

/** A store that says of a share of its writes that they met a conflict although they were done, and of as many that were not done. */
export function carelessStates(states: StateStore, share: number, seed: string | number = 1): StateStore {
  const random = createRandom('careless', seed)
  const write = async (work: () => Promise<WriteOutcome>): Promise<WriteOutcome> => {
    const chance = random()
    if (chance < share) return { status: 'conflict' }
    const outcome = await work()
    return chance < 2 * share ? { status: 'conflict' } : outcome
  }
  return {
    ...states,
    create: (key, value) => write(() => states.create(key, value)),
    replace: (key, value, etag) => write(() => states.replace(key, value, etag)),
  }
}
