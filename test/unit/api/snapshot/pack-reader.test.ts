import { expect, test } from 'vitest'
import { createPackReader } from '#api/snapshot/pack-reader.ts'

const PACK = Uint8Array.from({ length: 400_000 }, (_, index) => index % 251)

function countingReader() {
  const gets: string[] = []
  const packs = createPackReader({
    async readRange(key, offset, length) {
      gets.push(`${key} ${offset}+${length}`)
      return key === 'gone' ? null : PACK.slice(offset, offset + length)
    },
  })
  return { packs, gets }
}

test('parts that lie close together are one read, in any order, and each gets its own bytes', async () => {
  const { packs, gets } = countingReader()
  const places = [
    [20_000, 10],
    [0, 100],
    [50, 3_617],
    [70_000, 1],
    [0, 100],
  ] as const
  const parts = await Promise.all(places.map(([offset, length]) => packs.read('a', offset, length)))
  expect(gets).toEqual(['a 0+20010', 'a 70000+1'])
  for (const [index, [offset, length]] of places.entries()) {
    expect(Buffer.compare(parts[index] ?? PACK, PACK.subarray(offset, offset + length))).toBe(0)
  }
})

test('a gap of 16 KiB is not read, one byte less is', async () => {
  const { packs, gets } = countingReader()
  await Promise.all([packs.read('a', 0, 10), packs.read('a', 10 + 16_384, 10), packs.read('a', 2 * 16_384 + 19, 10)])
  expect(gets).toEqual(['a 0+10', 'a 16394+16403'])
})

test('of more than five reads the nearest are joined, over gaps below 48 KiB', async () => {
  const { packs, gets } = countingReader()
  const offsets = [0, 30_000, 50_000, 110_000, 150_000, 220_000, 330_000]
  const parts = await Promise.all(offsets.map(offset => packs.read('a', offset, 10)))
  expect(gets).toEqual(['a 0+50010', 'a 110000+10', 'a 150000+10', 'a 220000+10', 'a 330000+10'])
  for (const [index, offset] of offsets.entries()) expect(parts[index]).toEqual(PACK.subarray(offset, offset + 10))

  gets.length = 0
  await Promise.all([0, 60_000, 120_000, 180_000, 240_000, 300_000, 360_000].map(offset => packs.read('a', offset, 10)))
  expect(gets).toHaveLength(7)
})

test('parts of different packs, and of different turns, are different reads', async () => {
  const { packs, gets } = countingReader()
  await Promise.all([packs.read('a', 0, 10), packs.read('b', 0, 10)])
  await packs.read('a', 5, 10)
  expect(gets).toEqual(['a 0+10', 'b 0+10', 'a 5+10'])
})

test('a pack that ends early refuses the parts behind its end alone', async () => {
  const { packs } = countingReader()
  const [whole, cut, behind] = await Promise.allSettled([
    packs.read('a', 399_000, 1_000),
    packs.read('a', 399_500, 501),
    packs.read('a', 400_100, 1),
  ])
  expect(whole.status).toBe('fulfilled')
  expect([cut, behind]).toEqual([cutShort, cutShort])
})

test('a pack that is not there refuses all', async () => {
  const { packs } = countingReader()
  await expect(packs.read('gone', 0, 10)).rejects.toThrow('the pack is missing')
})

const cutShort = { status: 'rejected', reason: new Error('the pack is cut short') }
