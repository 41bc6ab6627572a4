import { canonicalJson } from '#core/snapshot/canonical-json.ts'
import { encodeText } from '#core/text.ts'

/** A run of rows of a sorted table, stored as one gzip member. */
export interface Shard {
  firstKey: string
  rows: number
  /** JSON array of `[key, row]`. */
  bytes: Uint8Array
}

/** A shard of larger rows is cut early. */
const SHARD_BYTES = 256 * 1024

/** Cuts sorted rows into shards of about `meanRows`. Borders depend on the keys alone: an added row changes one shard, not all later ones. */
export function* cutShards(rows: Iterable<readonly [string, unknown]>, meanRows: number): Generator<Shard> {
  let firstKey = ''
  let shard: string[] = []
  let shardBytes = 0
  for (const [key, row] of rows) {
    if (shard.length === 0) firstKey = key
    const json = canonicalJson([key, row])
    shard.push(json)
    shardBytes += json.length
    if (isBorder(key, meanRows) || shard.length >= 4 * meanRows || shardBytes >= SHARD_BYTES) {
      yield encodeShard(firstKey, shard)
      shard = []
      shardBytes = 0
    }
  }
  if (shard.length > 0) yield encodeShard(firstKey, shard)
}

function encodeShard(firstKey: string, rows: readonly string[]): Shard {
  return { firstKey, rows: rows.length, bytes: encodeText(`[${rows.join(',')}]`) }
}

function isBorder(key: string, meanRows: number): boolean {
  let hash = 0x811c9dc5
  for (let index = 0; index < key.length; index++) hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193)
  return ((hash >>> 8) ^ hash) % meanRows === 0
}
