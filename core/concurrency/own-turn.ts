let last: Promise<void> = Promise.resolve()

/**
 * Resolves in a turn of the event loop that no other caller gets; callers are served in order. For the steps of work that comes in bursts: an
 * answer takes some turns, and in each of them it waits for one such step, not for those of the whole burst.
 */
export function ownTurn(): Promise<void> {
  last = last.then(() => new Promise(resolve => setImmediate(resolve)))
  return last
}
