import { z } from 'zod'
import { textOfBytes } from '#core/search/bytes.ts'
import { isDamage } from '#core/snapshot/damage.ts'
import { TokensRow } from '#core/snapshot/format.ts'
import type { EarlierSnapshot } from './earlier-snapshot.ts'

const Shard = z.array(z.tuple([z.string(), TokensRow]))
const SHARD_BYTES = 1024 * 1024

/** The tokens of texts that an earlier commit counted, by the key of their bytes. Texts of shards that cannot be read are counted again. */
export async function loadTokenCounts(earlier: EarlierSnapshot): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  for (const [, , location] of earlier.header.tables.tokens.shards) {
    const bytes = await earlier.member(location, SHARD_BYTES)
    for (const [key, { tokens }] of bytes === null ? [] : rowsOf(bytes, earlier)) counts.set(key, tokens)
  }
  return counts
}

function rowsOf(bytes: Uint8Array, earlier: EarlierSnapshot): z.infer<typeof Shard> {
  try {
    return Shard.parse(JSON.parse(textOfBytes(bytes)))
  } catch (error) {
    if (!(isDamage(error) || error instanceof SyntaxError)) throw error
    earlier.lost(error)
    return []
  }
}
