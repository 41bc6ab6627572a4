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

test('reads of a missing pack fail', async () => {
  const { packs } = countingReader()
  await expect(packs.read('gone', 0, 10)).rejects.toThrow('the pack is missing')
})

const cutShort = { status: 'rejected', reason: new Error('the pack is cut short') }
