import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { findMoves } from '#core/changes/moves.ts'
import { MOVE_BYTES, MOVE_PAIRS } from '#core/limits.ts'
import { compareBytes } from '#core/text.ts'
import { createRandom } from '#test/support/random.ts'

interface Item {
  path: string
  name: string
  text: string
}

const item = (path: string, name: string, text: string): Item => ({ path, name, text })
const lines = (...of: readonly string[]) => of.map(line => `${line}\n`).join('')

function movable({ path, name, text }: Item) {
  return { path, name, sha256: createHash('sha256').update(text).digest('hex'), bytes: Buffer.byteLength(text) }
}

/** Moves as `old > new`, and the paths whose texts were read. */
async function moves(removed: readonly Item[], added: readonly Item[]) {
  const read: string[] = []
  const reader = (items: readonly Item[]) => async (path: string) => {
    read.push(path)
    return items.find(one => one.path === path)?.text ?? ''
  }
  const found = await findMoves(removed.map(movable), added.map(movable), { before: reader(removed), after: reader(added) })
  return { found: found.map(({ from, to }) => `${from} > ${to}`), read }
}

/** Ten lines of which some are the same in every text, so that a likeness is a tenth of their number. */
const alike = (same: number, mark: string) =>
  lines(...Array.from({ length: 10 }, (_, at) => (at < same ? `same ${at}..` : `${mark} ${at}..`)))

describe('an item moves', () => {
  test.each([
    ['with the same name from 0.6 on', 'a', 'a', 6, true],
    ['with the same name not below', 'a', 'a', 5, false],
    ['with another name from 0.8 on', 'a', 'b', 8, true],
    ['with another name not below', 'a', 'b', 7, false],
  ])('%s', async (_, oldName, newName, same, isMove) => {
    const { found } = await moves([item('old', oldName, alike(same, 'left'))], [item('new', newName, alike(same, 'rigt'))])
    expect(found).toEqual(isMove ? ['old > new'] : [])
  })

  test('with its name, although another name has a more similar text', async () => {
    const { found } = await moves(
      [item('old', 'a', alike(10, 'left'))],
      [item('renamed', 'b', alike(10, 'left')), item('kept', 'a', alike(6, 'rigt'))],
    )
    expect(found).toEqual(['old > kept'])
  })

  test('to the most similar text, then by path, and each item once', async () => {
    const text = alike(10, 'left')
    const { found } = await moves(
      [item('x', 'x', alike(9, 'left')), item('z', 'z', text), item('y', 'y', text)],
      [item('3', '3', text), item('1', '1', text), item('2', '2', alike(8, 'rigt'))],
    )
    expect(found).toEqual(['y > 1', 'z > 3', 'x > 2'])
  })

  test('with an identical text rather than with the same lines in another order', async () => {
    const [text, turned] = [lines('one', 'two'), lines('two', 'one')]
    const { found } = await moves([item('old', 'a', text)], [item('1', 'a', turned), item('2', 'a', text)])
    expect(found).toEqual(['old > 2'])
  })

  test.each([1, 2])('without a read where one name has identical texts at %i places', async count => {
    const places = (side: string) => Array.from({ length: count }, (_, at) => item(`${side}/${at}`, 'a', 'text\n'))
    const { found, read } = await moves(places('old'), places('new'))
    expect([found.length, read]).toEqual([count, []])
  })
})

describe('moves among many items', () => {
  /** The rule word by word: each pair is compared. */
  function expected(removed: readonly Item[], added: readonly Item[]): string[] {
    const likeness = (left: string, right: string) => {
      const rest: string[] = right.match(/[^\n]*\n/g) ?? []
      const lines: string[] = left.match(/[^\n]*\n/g) ?? []
      const common = lines.filter(line => {
        const at = rest.indexOf(line)
        if (at >= 0) rest.splice(at, 1)
        return at >= 0
      })
      return (2 * Buffer.byteLength(common.join(''))) / Buffer.byteLength(left + right)
    }
    const pairs = removed
      .flatMap(from => added.map(to => ({ from, to, isSame: from.name === to.name, likeness: likeness(from.text, to.text) })))
      .filter(pair => pair.likeness >= (pair.isSame ? 0.6 : 0.8))
      .sort(
        (left, right) =>
          Number(right.isSame) - Number(left.isSame) ||
          right.likeness - left.likeness ||
          compareBytes(left.from.path, right.from.path) ||
          compareBytes(left.to.path, right.to.path),
      )
    const taken = new Set<Item>()
    return pairs.flatMap(({ from, to }) => {
      if (taken.has(from) || taken.has(to)) return []
      taken.add(from).add(to)
      return [`${from.path} > ${to.path}`]
    })
  }

  /** Texts of which many share lines, and some are edited copies. Umlauts take two bytes. */
  function generate(seed: number): { removed: Item[]; added: Item[] } {
    const random = createRandom('moves', seed)
    const pick = (count: number) => Math.floor(random() * count)
    const text = (of: number) => Array.from({ length: 3 + pick(12) }, () => `line ${'ä'.repeat(pick(4))} ${pick(of)}\n`)
    const drafts = Array.from({ length: 12 }, (_, at) => ({ name: `name-${pick(9)}`, text: text(at % 2 ? 6 : 60) }))
    const edited = (of: readonly string[]) =>
      of.flatMap(line => (pick(8) > 0 ? [line] : pick(2) ? [] : [line, `new ${pick(9)}\n`]))
    const side = (mark: string) =>
      drafts.map((draft, at) =>
        item(`${mark}/${pick(99)}-${at}`, pick(3) ? draft.name : `${mark}-${at}`, edited(draft.text).join('')),
      )
    return { removed: side('old'), added: side('new') }
  }

  test.each(Array.from({ length: 60 }, (_, seed) => seed))(
    'those move that a comparison of each with each finds (%i)',
    async seed => {
      const { removed, added } = generate(seed)
      const { found } = await moves(removed, added)
      expect(found.toSorted()).toEqual(expected(removed, added).toSorted())
      const mirrored = (await moves(added, removed)).found.map(move => move.split(' > ').reverse().join(' > '))
      expect(mirrored.toSorted()).toEqual(found.toSorted())
    },
  )

  test('only those with one of a similar size are read', async () => {
    const { read } = await moves(
      [item('small', 'a', 'a\n'), item('large', 'b', 'b\n'.repeat(100))],
      [item('near', 'c', 'c\n'.repeat(90)), item('huge', 'd', 'd\n'.repeat(1_000))],
    )
    expect(read).toEqual(['large', 'near'])
  })

  const many = (mark: string, count: number, text: (at: number) => string) =>
    Array.from({ length: count }, (_, at) => item(`${mark}/${at}`, `${mark}-${at}`, text(at)))

  test('those with other names are not compared pairwise', async () => {
    const count = 2 * Math.ceil(Math.sqrt(MOVE_PAIRS))
    const unlike = (mark: string) => many(mark, count, at => `${lines('a heading', `${mark} ${at}`.repeat(9))}`)
    const { found, read } = await moves(
      [...unlike('old'), item('from', 'x', alike(10, ''))],
      [...unlike('new'), item('to', 'y', alike(9, ''))],
    )
    expect(found).toEqual(['from > to'])
    expect(read.length).toBeGreaterThan(2 * count)
  })

  test('of too many similar items are found for identical ones only', async () => {
    const count = Math.ceil(Math.sqrt(MOVE_PAIRS)) + 2
    const similar = (mark: string) => many(mark, count, at => `${alike(10, '')}${at === 0 ? 'one' : `${mark} ${at}`}\n`)
    expect((await moves(similar('old'), similar('new'))).found).toEqual(['old/0 > new/0'])
  })

  test('of too many bytes are found for identical items, and for others that fit', async () => {
    const half = MOVE_BYTES / 2
    const large = item('old/large', 'a', 'x'.repeat(half))
    const { found, read } = await moves(
      [large, item('old/small', 'b', alike(10, ''))],
      [item('new/large', 'c', large.text), item('new/small', 'd', alike(9, ''))],
    )
    expect(found).toEqual(['old/large > new/large', 'old/small > new/small'])
    expect(read).toEqual(['old/small', 'new/small'])
  })

  test('identical ones at several places leave what may be read to those that were edited', async () => {
    const text = 'x'.repeat(MOVE_BYTES / 4)
    const copies = (side: string) => [item(`${side}/1`, 'a', text), item(`${side}/2`, 'a', text), item(`${side}/3`, 'a', text)]
    const { found } = await moves(
      [...copies('old'), item('old/edited', 'b', alike(10, ''))],
      [...copies('new'), item('new/edited', 'b', alike(9, ''))],
    )
    expect(found).toEqual(['old/1 > new/1', 'old/2 > new/2', 'old/3 > new/3', 'old/edited > new/edited'])
  })
})
