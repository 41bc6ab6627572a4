import type { ListOptions } from '#core/ports/blob-store.ts'
import { requireCount, requirePrefix } from '#core/ports/store-arguments.ts'
import type { Bucket } from './bucket.ts'

/** `list` of both stores. */
export async function listKeys(bucket: Bucket, prefix: string, { after = '', limit }: ListOptions = {}): Promise<string[]> {
  requirePrefix(prefix)
  if (limit !== undefined) requireCount('limit', limit)
  return await bucket.list(prefix, after, limit ?? Number.POSITIVE_INFINITY)
}
