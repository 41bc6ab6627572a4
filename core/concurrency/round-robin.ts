import { createFairGate, ONE_BY_ONE } from './fair-gate.ts'

const turns = createFairGate({ ...ONE_BY_ONE, limit: 1 })

/**
 * Resolves in a turn of the event loop that no other caller gets. Keys take turns; the callers of one key are served in order. For the steps of
 * work that comes in bursts: an answer takes some turns, and in each of them it waits for one such step, not for those of the whole burst.
 *
 * The number of callers that wait is not bounded here. Decision 0024.
 *
 * @param key identifies the client, or the kind of work
 * @throws the reason of `signal`
 */
export async function nextSlot(key: string, signal?: AbortSignal): Promise<void> {
  await turns(key, () => new Promise<void>(resolve => setImmediate(resolve)), signal)
  signal?.throwIfAborted()
}
