import { forEachOf } from '#core/concurrency/map-few.ts'
import { PROBE_MINUTES } from '#core/limits.ts'
import { PROBE_PREFIXES } from '#core/snapshot/store-keys.ts'
import { keysOf, type Stores } from './repositories.ts'
import type { Tally } from './sweep-tally.ts'

const AT_ONCE = 8

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
