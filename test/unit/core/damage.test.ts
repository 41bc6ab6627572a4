import { gunzipSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { decodeHead } from '#core/search/head.ts'
import { openItemsBlock } from '#core/search/items-block.ts'
import { DamagedBytes, isDamage, parseStoredJson } from '#core/snapshot/damage.ts'
import { SnapshotHeader } from '#core/snapshot/format.ts'

test.for<[string, () => unknown]>([
  ['bytes that are no gzip', () => gunzipSync(Buffer.from('{}'))],
  ['gzip that is cut', () => gunzipSync(gzipSync('text').subarray(0, 12))],
  ['gzip whose checksum does not match', () => gunzipSync(withoutChecksum(gzipSync('text')))],
  ['gzip that unpacks to more than the limit', () => gunzipSync(gzipSync('x'.repeat(1_000)), { maxOutputLength: 10 })],
  ['text that is no JSON', () => parseStoredJson('{')],
  ['JSON that the schema refuses', () => SnapshotHeader.parse({})],
  ['bytes that are no UTF-8', () => openItemsBlock(Uint8Array.of(0xff))],
  ['bytes that are no head', () => decodeHead(Uint8Array.of(5))],
  ['bytes that are missing', () => throwIt(new DamagedBytes('the pack is missing'))],
])('%s are damage', ([, read]) => {
  expect(isDamage(thrownBy(read))).toBe(true)
  expect(isDamage(new Error('cannot read a shard', { cause: thrownBy(read) }))).toBe(true)
})

test.for<[string, () => unknown]>([
  ['a property of undefined', () => (undefined as unknown as { length: number }).length],
  ['an array that is too long', () => new Uint8Array(-1)],
  ['endless recursion', () => recurse()],
  ['an argument of the wrong kind', () => gunzipSync(7 as unknown as Uint8Array)],
  ['a text of ours that is no JSON', () => JSON.parse('{')],
  ['a text that is no number', () => BigInt('x')],
  ['an error of the system', () => throwIt(Object.assign(new Error('read EIO'), { code: 'EIO' }))],
])('%s is no damage', ([, read]) => {
  expect(isDamage(thrownBy(read))).toBe(false)
})

function thrownBy(read: () => unknown): unknown {
  try {
    read()
  } catch (error) {
    return error
  }
  throw new Error('it threw nothing')
}

/** The checksum is in the eighth to the fifth byte from the end. */
function withoutChecksum(packed: Buffer): Buffer {
  return packed.fill(0, packed.length - 8, packed.length - 4)
}

function throwIt(error: Error): never {
  throw error
}

function recurse(): number {
  return 1 + recurse()
}
