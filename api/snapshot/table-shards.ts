import { z } from 'zod'
import { DamagedBytes, parseStoredJson } from '#core/snapshot/damage.ts'
import { type RowOf, TABLES, type TableIndex, type TableName } from '#core/snapshot/format.ts'
import { compareBytes } from '#core/text.ts'
import { lastIndexWhere } from './bisect.ts'

/* Which shards of a table hold which keys, and the rows of a shard. Pure. */

/** A row of a table with its key. */
export type TableRow<Name extends TableName> = readonly [key: string, row: RowOf<Name>]

const SHARD_SCHEMAS = Object.fromEntries(
  Object.entries(TABLES).map(([name, table]) => [name, z.array(z.tuple([z.string(), table.row as z.ZodType]))]),
)

/** @throws an error of `isDamage` when the bytes are not the shard with this first key and this number of rows */
export function parseShard<Name extends TableName>(
  table: Name,
  bytes: Uint8Array,
  firstKey: string,
  rows: number,
): TableRow<Name>[] {
  const shard = SHARD_SCHEMAS[table]?.parse(parseStoredJson(Buffer.from(bytes).toString('utf8'))) as TableRow<Name>[]
  if (shard.length !== rows || shard[0]?.[0] !== firstKey)
    throw new DamagedBytes(`the shard does not have ${rows} rows from ${JSON.stringify(firstKey)} on`)
  return shard
}

/** @throws RangeError when there is no shard with the number */
export function shardAt(index: TableIndex, number: number): TableIndex['shards'][number] {
  const shard = index.shards[number]
  if (!shard) throw new RangeError(`there is no shard ${number}`)
  return shard
}

/** The number of rows of a shard. */
export function rowsOfShard(index: TableIndex, number: number): number {
  const [, rowsBefore] = shardAt(index, number)
  return (index.shards[number + 1]?.[1] ?? index.rows) - rowsBefore
}

/** The only shard that can hold the key; -1 when the key lies before all shards. */
export function shardOfKey(index: TableIndex, key: string): number {
  return lastIndexWhere(index.shards.length, number => compareBytes(shardAt(index, number)[0], key) <= 0)
}

/**
 * The shards that can hold rows from `start` on whose keys have the prefix: enough for `limit` rows, wherever in the first shard they begin.
 * Shards are neighbours in a pack, so one shard too many costs less than a second round of reads.
 */
export function shardsOfRange(index: TableIndex, start: string, prefix: string, limit: number): number[] {
  const numbers: number[] = []
  let rowsAfterFirst = 0
  for (let number = Math.max(0, shardOfKey(index, start)); number < index.shards.length && rowsAfterFirst < limit; number++) {
    if (numbers.length > 0) {
      if (!shardAt(index, number)[0].startsWith(prefix)) break
      rowsAfterFirst += rowsOfShard(index, number)
    }
    numbers.push(number)
  }
  return numbers
}

/** The index of the first row whose key is `key` or greater. */
export function firstRowFrom(rows: readonly (readonly [string, unknown])[], key: string): number {
  return lastIndexWhere(rows.length, at => compareBytes(rows[at]?.[0] ?? '', key) < 0) + 1
}
