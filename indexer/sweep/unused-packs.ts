import { z } from 'zod'
import type { StateStore } from '#core/ports/state-store.ts'
import type { UnusedPacks } from './sweep-plan.ts'

/** The state store entry with the unused packs of a repository. */
const UnusedPacksEntry = z.object({
  packs: z.record(z.string(), z.object({ since: z.iso.datetime(), sizeBytes: z.int().min(0).nullable() })),
})
type UnusedPacksEntry = z.infer<typeof UnusedPacksEntry>

/** The noted packs; none when the entry is damaged: the sweep notes them again. */
export async function readUnusedPacks(states: StateStore, key: string): Promise<{ packs: UnusedPacks; etag: string | null }> {
  const stored = await states.read(key)
  const { packs } = UnusedPacksEntry.safeParse(stored?.value).data ?? { packs: {} }
  return {
    packs: new Map(
      Object.entries(packs).map(([name, { since, sizeBytes }]) => [name, { since: new Date(since), sizeBytes }] as const),
    ),
    etag: stored?.etag ?? null,
  }
}

/** Writes the unused packs; does nothing if another sweep wrote the entry meanwhile. */
export async function writeUnusedPacks(states: StateStore, key: string, packs: UnusedPacks, etag: string | null): Promise<void> {
  if (packs.size === 0) return etag === null ? undefined : states.remove(key)
  const value: UnusedPacksEntry = {
    packs: Object.fromEntries(
      [...packs].map(([name, { since, sizeBytes }]) => [name, { since: since.toISOString(), sizeBytes }]),
    ),
  }
  await (etag === null ? states.create(key, value) : states.replace(key, value, etag))
}
