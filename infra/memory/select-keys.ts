import type { ListOptions } from '#core/ports/blob-store.ts'
import { requireCount, requirePrefix } from '#core/ports/store-arguments.ts'

/** The keys of one page of a listing, in byte order. */
export function selectKeys(keys: Iterable<string>, prefix: string, { after = '', limit }: ListOptions): string[] {
  requirePrefix(prefix)
  if (limit !== undefined) requireCount('limit', limit)
  // Keys are ASCII, so code units compare as bytes do.
  return [...keys]
    .filter(key => key.startsWith(prefix) && key > after)
    .sort()
    .slice(0, limit)
}
