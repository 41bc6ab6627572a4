import { z } from 'zod'
import { forEachOf } from '#core/concurrency/map-few.ts'
import { GRANTS_PREFIX, PEOPLE_PREFIX, SPENT_PREFIX } from '#core/snapshot/store-keys.ts'
import { keysOf, type Stores } from './repositories.ts'
import type { Tally } from './sweep-tally.ts'

/** What grants, markers of redeemed codes and records whose removal was interrupted say of themselves. */
const Expiring = z.object({ exp: z.iso.datetime() })
const AT_ONCE = 8

/**
 * Removes grants that no app can use any more, markers of codes that no one can present any more, and what is left of a person whose removal was
 * interrupted. Each says when it is over. Without `remove` it counts them.
 */
export async function sweepExpired(
  { states }: Pick<Stores, 'states'>,
  now: Date,
  { remove, signal }: { remove: boolean; signal: AbortSignal },
  tally: Tally,
): Promise<void> {
  for (const prefix of [PEOPLE_PREFIX, GRANTS_PREFIX, SPENT_PREFIX]) {
    await forEachOf(keysOf(states, prefix), AT_ONCE, async key => {
      signal.throwIfAborted()
      const stored = await states.read(key)
      const entry = stored && Expiring.safeParse(stored.value).data
      if (!entry || Date.parse(entry.exp) > now.getTime()) return
      // There is no conditional removal: a person who approves the app anew right after this read approves it once more.
      if ((await states.read(key))?.etag !== stored.etag) return
      if (remove) await states.remove(key)
      tally.entries++
    })
  }
}
