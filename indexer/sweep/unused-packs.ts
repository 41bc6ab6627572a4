import { z } from 'zod'
import type { StateStore } from '#core/ports/state-store.ts'
import type { UnusedPacks } from './sweep-plan.ts'

/** The document of a repository's unused packs. */
const UnusedPacksDocument = z.object({
  packs: z.record(z.string(), z.object({ since: z.iso.datetime(), sizeBytes: z.int().min(0).nullable() })),
})
type UnusedPacksDocument = z.infer<typeof UnusedPacksDocument>

/** What a damaged document said is found again. */
export async function readUnusedPacks(states: StateStore, key: string): Promise<{ packs: UnusedPacks; etag: string | null }> {
  const stored = await states.read(key)
  const { packs } = UnusedPacksDocument.safeParse(stored?.value).data ?? { packs: {} }
  return {
    packs: new Map(
      Object.entries(packs).map(([name, { since, sizeBytes }]) => [name, { since: new Date(since), sizeBytes }] as const),
    ),
    etag: stored?.etag ?? null,
  }
}

/** Writes what is unused, unless somebody else did since it was read: then that is as good. */
export async function writeUnusedPacks(states: StateStore, key: string, packs: UnusedPacks, etag: string | null): Promise<void> {
  if (packs.size === 0) return etag === null ? undefined : states.remove(key)
  const value: UnusedPacksDocument = {
    packs: Object.fromEntries(
      [...packs].map(([name, { since, sizeBytes }]) => [name, { since: since.toISOString(), sizeBytes }]),
    ),
  }
  await (etag === null ? states.create(key, value) : states.replace(key, value, etag))
}
