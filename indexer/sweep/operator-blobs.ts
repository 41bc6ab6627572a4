import { z } from 'zod'
import { UNUSED_PACK_HOURS } from '#core/limits.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { OPERATOR_BLOBS_PREFIX, OPERATOR_KEY, OPERATOR_UNUSED_KEY, operatorBlobKey } from '#core/snapshot/store-keys.ts'
import { keysOf, type Stores } from './repositories.ts'
import type { Tally } from './sweep-tally.ts'

/** The fields that a sweep reads of the entry that names the published content. */
const Entry = z.object({ content: z.string().regex(/^[0-9a-f]{64}$/) })
/** The fields that a sweep reads of the published content. */
const Content = z.object({ media: z.array(z.object({ name: z.string() })) })
/** When a sweep first found each key unused. */
const Unused = z.object({ since: z.record(z.string(), z.iso.datetime()) })

const HOUR_MS = 3_600_000
/** Unused keys noted at once. More are noted once these are removed. */
const NOTED = 1_000

/**
 * Removes what an operator published earlier: contents and media that the content of today does not name. Like packs they go in two steps: a
 * sweep notes them, and a sweep a day later removes them, since a publication uploads first and names afterwards. Without `remove` it counts
 * them. Everything stays while nothing is published here, which another state store may know better, or while what is published cannot be read.
 */
export async function sweepOperatorBlobs(
  stores: Stores,
  now: Date,
  { remove, signal }: { remove: boolean; signal: AbortSignal },
  tally: Tally,
): Promise<void> {
  const { blobs, states } = stores
  const named = await namedKeys(stores)
  if (named === null) return
  const stored = await states.read(OPERATOR_UNUSED_KEY)
  const noted = new Map(Object.entries(Unused.safeParse(stored?.value).data?.since ?? {}))
  const waiting: Record<string, string> = {}
  for await (const key of keysOf(blobs, OPERATOR_BLOBS_PREFIX)) {
    signal.throwIfAborted()
    if (named.has(key)) continue
    const since = noted.get(key)
    const isDue = since !== undefined && Date.parse(since) <= now.getTime() - UNUSED_PACK_HOURS * HOUR_MS
    if (isDue) tally.bytes += await removeUnlessNamed(stores, key, remove)
    if (isDue) tally.published++
    else if (Object.keys(waiting).length < NOTED) waiting[key] = earlier(since, now)
  }
  tally.waitingPublished += Object.keys(waiting).length
  if (remove) await note(states, waiting, stored?.etag ?? null)
}

/** Keys that are published now; `null` when that cannot be told. */
async function namedKeys({ blobs, states }: Stores): Promise<ReadonlySet<string> | null> {
  const stored = await states.read(OPERATOR_KEY)
  const entry = Entry.safeParse(stored?.value).data
  const key = entry && operatorBlobKey(`${entry.content}.json`)
  const blob = key === undefined ? null : await blobs.read(key)
  const content = blob && Content.safeParse(parseJson(blob.bytes)).data
  return key && content ? new Set([key, ...content.media.map(({ name }) => operatorBlobKey(name))]) : null
}

/**
 * A publication may begin to name the key at any time. Either the read after the removal sees it, and the blob is created again, or the publication
 * finds the blob missing after it wrote its entry.
 */
async function removeUnlessNamed(stores: Stores, key: string, remove: boolean): Promise<number> {
  const { blobs } = stores
  const bytes = (await blobs.read(key))?.bytes ?? null
  if (bytes === null || !remove) return bytes?.length ?? 0
  await blobs.remove(key)
  const named = await namedKeys(stores)
  if (named !== null && !named.has(key)) return bytes.length
  await blobs.create(key, bytes)
  return 0
}

/** A time in the future comes from a wrong clock and counts as now. */
function earlier(since: string | undefined, now: Date): string {
  return since === undefined || Date.parse(since) > now.getTime() ? now.toISOString() : since
}

async function note(states: StateStore, since: Record<string, string>, etag: string | null): Promise<void> {
  if (Object.keys(since).length === 0) return etag === null ? undefined : await states.remove(OPERATOR_UNUSED_KEY)
  const value = { since }
  await (etag === null ? states.create(OPERATOR_UNUSED_KEY, value) : states.replace(OPERATOR_UNUSED_KEY, value, etag))
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return null
  }
}
