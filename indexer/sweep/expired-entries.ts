import { z } from 'zod'
import { forEachOf } from '#core/concurrency/map-few.ts'
import { GRANTS_PREFIX, PEOPLE_PREFIX, PROBE_ENTRY_PREFIXES, SPENT_PREFIX } from '#core/snapshot/store-keys.ts'
import { keysOf, type Stores } from './repositories.ts'
import type { Tally } from './sweep-tally.ts'

/** What grants, markers of redeemed codes, probes and records whose removal was interrupted say of themselves. */
const Expiring = z.object({ exp: z.iso.datetime() })
const PREFIXES = [PEOPLE_PREFIX, GRANTS_PREFIX, SPENT_PREFIX, ...PROBE_ENTRY_PREFIXES]
const AT_ONCE = 8

/**
 * Removes expired entries: grants that no app can use any more, markers of codes that can no longer be presented, probes of processes that ended
 * meanwhile, and the marks of interrupted removals of people. Without `remove` it counts them.
 */
export async function sweepExpired(
  { states }: Pick<Stores, 'states'>,
  now: Date,
  { remove, signal }: { remove: boolean; signal: AbortSignal },
  tally: Tally,
): Promise<void> {
  for (const prefix of PREFIXES) {
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
