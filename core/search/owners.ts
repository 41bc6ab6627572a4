import { encodeText } from '../text.ts'

/**
 * The record that `SnapshotHeader.searchOwners` names: for every row of `searchItems` the number of the skill that owns it,
 * its own number for a skill, -1 for a document. JSON.
 */
export function formatOwners(owners: readonly number[]): Uint8Array {
  return encodeText(JSON.stringify(owners))
}

/** @throws SyntaxError or TypeError when the bytes are no such record */
export function parseOwners(bytes: Uint8Array): number[] {
  const owners: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'))
  if (!Array.isArray(owners) || !owners.every(Number.isInteger)) throw new TypeError('not a list of item numbers')
  return owners
}
