import { expect, test } from 'vitest'
import { INDEXED_TEXT_BYTES, READABLE_FILE_BYTES } from '#core/limits.ts'
import type { RepoPath } from '#core/repo-path.ts'
import type { WantedFile } from '#indexer/pipeline/content-store.ts'
import { selectLinked } from '#indexer/pipeline/read-content.ts'
import type { TreeFile } from '#indexer/rules/tree.ts'

const COUNT = INDEXED_TEXT_BYTES / READABLE_FILE_BYTES

const file = (path: string, oid = path): TreeFile => ({
  path: path as RepoPath,
  mode: '100644',
  oid,
  sizeBytes: READABLE_FILE_BYTES,
})
const wanted = (file: TreeFile): WantedFile => ({
  file,
  keep: false,
  packaged: true,
  described: false,
  mayCopy: true,
  followed: false,
})
const many = (count: number, name: string) =>
  Array.from({ length: count }, (_, n) => file(`${name}${String(n).padStart(3, '0')}.txt`))

function select(linked: readonly TreeFile[], before: readonly TreeFile[] = [], held: readonly string[] = []) {
  const served = linked.map(file => ({ file, served: true }))
  const { selected, overBudget } = selectLinked(served, before.map(wanted), oid => held.includes(oid))
  return { paths: selected.map(({ file }) => file.path), overBudget }
}

test('linked files share the text limit with those read before, and the excess is counted', () => {
  expect(select(many(COUNT + 2, 'x'))).toMatchObject({ paths: { length: COUNT }, overBudget: 2 })
  expect(select(many(3, 'x'), many(COUNT - 1, 'y'))).toEqual({ paths: ['x000.txt'], overBudget: 2 })
})

test('equal files are read once and count once, for any number of links', () => {
  const same = many(COUNT + 2, 'x').map(({ path }) => file(path, 'same'))
  expect(select([...same, file('y.txt')], many(COUNT - 2, 'z'))).toEqual({ paths: ['x000.txt', 'y.txt'], overBudget: 0 })
  const read = many(COUNT, 'z')
  expect(select([file('x.txt', read[0]?.oid), file('y.txt', read[1]?.oid)], read, [read[1]?.oid ?? ''])).toEqual({
    paths: ['x.txt'],
    overBudget: 0,
  })
})

test('pictures do not count, and unservable and unreadable files are left out without a diagnostic', () => {
  const pictures = many(COUNT, 'x').map(({ path }) => file(`${path}.png`))
  expect(select([file('a.txt'), file('b.png'), { ...file('c.txt'), sizeBytes: null }], pictures)).toEqual({
    paths: ['a.txt'],
    overBudget: 0,
  })
  expect(selectLinked([{ file: file('a.txt'), served: false }], [], () => false)).toEqual({ selected: [], overBudget: 0 })
})
