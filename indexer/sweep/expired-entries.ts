import { z } from 'zod'
import { forEachOf } from '#core/concurrency/map-few.ts'
import { HIDDEN_HOURS, PROBE_MINUTES } from '#core/limits.ts'
import {
  GRANTS_PREFIX,
  listedHeaderKey,
  OWNERS_PREFIX,
  PEOPLE_PREFIX,
  PROBE_ENTRY_PREFIXES,
  PROBE_PREFIXES,
  SPENT_PREFIX,
} from '#core/snapshot/store-keys.ts'
import { keysOf, type Stores } from './repositories.ts'
import { exists } from './state.ts'
import { isLaterVersion } from './sweep-plan.ts'
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

const Listed = z.object({ commit: z.string(), hiddenSince: z.iso.datetime().optional() })

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

/**
 * Removes objects with which a process asked whether its store takes writes, and which it did not remove because it ended or may not remove
 * objects. Without `remove` it counts them. Their entries are expired ones.
 */
export async function sweepProbes(
  { blobs }: Pick<Stores, 'blobs'>,
  now: Date,
  { remove, signal }: { remove: boolean; signal: AbortSignal },
  tally: Tally,
): Promise<void> {
  const leftBefore = now.getTime() - PROBE_MINUTES * 60_000
  for (const prefix of PROBE_PREFIXES) {
    await forEachOf(keysOf(blobs, prefix), AT_ONCE, async key => {
      signal.throwIfAborted()
      const found = await blobs.read(key)
      if (found === null || found.createdAt.getTime() > leftBefore) return
      if (remove) await blobs.remove(key)
      tally.probes++
      tally.bytes += found.bytes.length
    })
  }
}
