import { FormatError } from '../snapshot/damage.ts'
import { ByteReader, ByteWriter } from './bytes.ts'

/** Blocks of terms and of words are stored in columns of similar data: they compress better, and one column can be scanned without the others. */

/** Joins the columns, with the lengths of all but the last in front, and clears them. */
export function takeColumns(columns: readonly ByteWriter[]): Uint8Array {
  const block = new ByteWriter(columns.reduce((bytes, { length }) => bytes + length, 5 * columns.length))
  for (const { length } of columns.slice(0, -1)) block.varint(length)
  for (const column of columns) {
    block.bytes(column.data, 0, column.length)
    column.cut(0)
  }
  return block.finish()
}

/** @throws FormatError */
export function openColumns(block: Uint8Array, count: number): ByteReader[] {
  const lengths = new ByteReader(block)
  const ends = Array.from({ length: count - 1 }, () => lengths.varint())
  let start = lengths.position
  return [...ends, null].map(length => {
    const end = length === null ? block.length : start + length
    if (end > block.length) throw new FormatError('a column is longer than its block')
    const column = new ByteReader(block, start, end)
    start = end
    return column
  })
}
