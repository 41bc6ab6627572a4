import { mapFew } from '#core/concurrency/map-few.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import { keysAt, splitKey } from '#core/snapshot/store-keys.ts'
import type { Stores } from './repositories.ts'
import { exists, readStoredHeader } from './state.ts'
import type { RepositoryPlan, RepositoryState, UnusedPacks } from './sweep-plan.ts'
import type { Tally } from './sweep-tally.ts'
import { writeUnusedPacks } from './unused-packs.ts'

/**
 * Removes what a plan lists. The order allows an interruption anywhere: a header goes first, since a snapshot is ready as long as its header
 * exists; the next sweep finds the rest.
 */
export async function executePlan(
  stores: Stores,
  place: string,
  state: RepositoryState & { unusedEtag: string | null },
  plan: RepositoryPlan,
  tally: Tally,
): Promise<void> {
  const { blobs, states } = stores
  const at = keysAt(place)
  // Repositories are swept concurrently and share the tally, so no value is added across an `await`.
  await mapFew(plan.headers, async ({ header, reason }) => {
    await blobs.remove(header.key)
    tally.snapshots[reason]++
    tally.bytes += header.sizeBytes
  })
  await mapFew(plan.entries, async key => {
    await states.remove(key)
    tally.entries++
  })
  const waiting = plan.packs.length === 0 ? plan.unusedPacks : await removePacks(blobs, place, state, plan, tally)
  if (!isSame(waiting, state.unusedPacks)) await writeUnusedPacks(states, at.unusedPacks, waiting, state.unusedEtag)
  countWaiting(waiting, tally)
  if (plan.hiddenEntry !== null) {
    await states.remove(plan.hiddenEntry)
    tally.entries++
  }
  tally.keptSnapshots += plan.keptHeaders
  if (plan.hasUnreadableHeader) tally.unreadableHeaders++
}

/** Counts what `executePlan` would remove. */
export async function countPlan(blobs: BlobStore, place: string, plan: RepositoryPlan, tally: Tally): Promise<void> {
  for (const { header, reason } of plan.headers) {
    tally.snapshots[reason]++
    tally.bytes += header.sizeBytes
  }
  const sizes = await mapFew(
    plan.packs,
    async ({ name, sizeBytes }) => sizeBytes ?? (await sizeOf(blobs, keysAt(place).pack(name))),
  )
  tally.bytes += sizes.reduce((sum, sizeBytes) => sum + sizeBytes, 0)
  tally.packs += plan.packs.length
  tally.entries += plan.entries.length + (plan.hiddenEntry === null ? 0 : 1)
  countWaiting(plan.unusedPacks, tally)
  tally.keptSnapshots += plan.keptHeaders
  if (plan.hasUnreadableHeader) tally.unreadableHeaders++
}

/**
 * Removes packs that were unused a day ago and still are. A job may publish a header that lists one of them at any time:
 *
 * - before the headers are listed here: the pack stays;
 * - between the two listings: the second one finds the header and removes it, so the snapshot is built again;
 * - later: the pack is gone already, and the job finds that when it checks its packs after publishing.
 *
 * After an interruption in between, the next sweep finds a header whose packs are gone.
 *
 * @returns the unused packs that wait for a later sweep
 */
async function removePacks(
  blobs: BlobStore,
  place: string,
  state: RepositoryState,
  plan: RepositoryPlan,
  tally: Tally,
): Promise<UnusedPacks> {
  const at = keysAt(place)
  const seen = new Set(state.headers.map(({ key }) => key))
  const publishedBefore = await readNewHeaders(blobs, place, seen)
  // A header that cannot be read may list any of these packs.
  if (publishedBefore === null) return new Map([...plan.unusedPacks, ...notedOf(plan, state)])
  const used = new Set(publishedBefore.flatMap(({ packs }) => packs))
  const removed = new Set<string>()
  for (const { name, sizeBytes } of plan.packs) {
    if (used.has(name)) continue
    const key = at.pack(name)
    const bytes = sizeBytes ?? (await sizeOf(blobs, key))
    await blobs.remove(key)
    removed.add(name)
    tally.packs++
    tally.bytes += bytes
  }

  for (const { key } of publishedBefore) seen.add(key)
  for (const { key, packs } of (await readNewHeaders(blobs, place, seen)) ?? []) {
    const lost = packs.filter(name => removed.has(name))
    const stillExist = await mapFew(lost, name => exists(blobs, at.pack(name)))
    if (!stillExist.includes(false)) continue
    await blobs.remove(key)
    tally.snapshots.incomplete++
  }
  return plan.unusedPacks
}

function notedOf(
  plan: RepositoryPlan,
  { unusedPacks }: RepositoryState,
): [string, NonNullable<ReturnType<UnusedPacks['get']>>][] {
  return plan.packs.flatMap(({ name }) => {
    const noted = unusedPacks.get(name)
    return noted ? [[name, noted]] : []
  })
}

/** Headers whose keys are not in `before`, with the names of their packs; `null` when one of them cannot be read. */
async function readNewHeaders(
  blobs: BlobStore,
  place: string,
  before: ReadonlySet<string>,
): Promise<{ key: string; packs: string[] }[] | null> {
  const keys = (await blobs.list(keysAt(place).headers)).filter(key => !before.has(key))
  const headers = await mapFew(keys, async key => {
    const part = splitKey(key)?.part
    return part?.kind === 'header' ? await readStoredHeader(blobs, place, part.snapshot) : null
  })
  const found = headers.filter(header => header !== null)
  if (found.some(({ content }) => typeof content === 'string')) return null
  return found.map(({ key, content }) => ({ key, packs: typeof content === 'string' ? [] : content.map(({ name }) => name) }))
}

async function sizeOf(blobs: BlobStore, key: string): Promise<number> {
  return (await blobs.read(key))?.bytes.length ?? 0
}

function countWaiting(packs: UnusedPacks, tally: Tally): void {
  tally.waitingPacks += packs.size
  for (const { sizeBytes } of packs.values()) tally.waitingBytes += sizeBytes ?? 0
}

function isSame(left: UnusedPacks, right: UnusedPacks): boolean {
  const same = ([name, { since, sizeBytes }]: [string, { since: Date; sizeBytes: number | null }]) => {
    const other = right.get(name)
    return other?.since.getTime() === since.getTime() && other.sizeBytes === sizeBytes
  }
  return left.size === right.size && [...left].every(same)
}
