import { z } from 'zod'
import { forEachOf } from '#core/concurrency/map-few.ts'
import { HIDDEN_HOURS } from '#core/limits.ts'
import { listedHeaderKey, OWNERS_PREFIX } from '#core/snapshot/store-keys.ts'
import { keysOf, type Stores } from './repositories.ts'
import { exists } from './state.ts'
import { isLaterVersion } from './sweep-plan.ts'
import type { Tally } from './sweep-tally.ts'

const Listed = z.object({ commit: z.string(), hiddenSince: z.iso.datetime().optional() })
const AT_ONCE = 8
const HOUR_MS = 3_600_000

/** Removes repositories from the listings of their owners if they are no longer indexed, or were hidden `HIDDEN_HOURS` ago. Without `remove` it counts them. */
export async function sweepListings(
  { blobs, states }: Stores,
  now: Date,
  { remove, signal }: { remove: boolean; signal: AbortSignal },
  tally: Tally,
): Promise<void> {
  await forEachOf(keysOf(states, OWNERS_PREFIX), AT_ONCE, async key => {
    signal.throwIfAborted()
    const stored = await states.read(key)
    if (stored === null) return
    const listed = Listed.safeParse(stored.value).data
    const header = listed && listedHeaderKey(key, listed.commit)
    // An entry that this version cannot read may belong to a later one.
    if (header === null || (listed === undefined && isLaterVersion(versionsOf(key)))) return
    const isHidden = listed?.hiddenSince !== undefined && Date.parse(listed.hiddenSince) < now.getTime() - HIDDEN_HOURS * HOUR_MS
    if (header !== undefined && !isHidden && (await exists(blobs, header))) return
    // Buckets have no conditional delete: an entry written after this read is lost, and the next visit writes it again.
    if ((await states.read(key))?.etag !== stored.etag) return
    if (remove) await states.remove(key)
    tally.entries++
  })
}

function versionsOf(key: string): string {
  return key.split('/').at(-2) ?? ''
}
