import { z } from 'zod'
import { forEachOf } from '#core/concurrency/map-few.ts'
import { HIDDEN_HOURS } from '#core/limits.ts'
import { listedHeaderKey, OWNERS_PREFIX } from '#core/snapshot/store-keys.ts'
import { keysOf, type Stores } from './repositories.ts'
import { isObject } from './state.ts'
import { isLaterVersion } from './sweep-plan.ts'
import type { Tally } from './sweep-tally.ts'

const Listed = z.object({ commit: z.string(), hiddenSince: z.iso.datetime().optional() })
const AT_ONCE = 8
const HOUR_MS = 3_600_000

/** Takes off the listings of owners what is no longer indexed, or was hidden long ago. Without `remove`, what would go now is counted. */
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
    // What this build cannot make out belongs to a later one.
    if (header === null || (listed === undefined && isLaterVersion(versionsOf(key)))) return
    const isHidden = listed?.hiddenSince !== undefined && Date.parse(listed.hiddenSince) < now.getTime() - HIDDEN_HOURS * HOUR_MS
    if (header !== undefined && !isHidden && (await isObject(blobs, header))) return
    // Documents are removed without a condition, since buckets know none: what is written behind this look is written again at the next visit.
    if ((await states.read(key))?.etag !== stored.etag) return
    if (remove) await states.remove(key)
    tally.documents++
  })
}

function versionsOf(key: string): string {
  return key.split('/').at(-2) ?? ''
}
