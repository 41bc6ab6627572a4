import { expect, test } from 'vitest'
import { readRows } from '#infra/github/json-rows.ts'

/** The text in pieces of so many bytes. */
async function* inPieces(text: string, bytes: number): AsyncGenerator<Uint8Array> {
  const all = Buffer.from(text)
  for (let at = 0; at < all.length; at += bytes) yield all.subarray(at, at + bytes)
}

async function read(text: string, bytes: number): Promise<{ rows: unknown[]; rest: unknown }> {
  const rows: unknown[] = []
  const rest = await readRows(inPieces(text, bytes), row => rows.push(row))
  return { rows, rest }
}

const TREE = {
  sha: 'a',
  url: 'https://example.org/{not}/[a]/"row"',
  tree: [
    { path: 'plain.md', size: 1 },
    { path: '","size":2},{"path":"forged', size: 3 },
    { path: 'ends with a backslash\\', size: 4 },
    { path: '}]{[', inner: { list: [{ deep: '"' }], more: [] }, size: 5 },
    { path: 'ü, 日本, 🧵 \u0000', size: 6 },
  ],
  nested: { tree: [{ kept: true }] },
  truncated: false,
  other: [],
}

test.each([JSON.stringify(TREE), JSON.stringify(TREE, null, 2)])(
  'rows are read one by one, with any content and in any chunks',
  async text => {
    for (let bytes = 1; bytes < 60; bytes++) {
      const { rows, rest } = await read(text, bytes)
      expect(rows).toEqual(TREE.tree)
      expect(rest).toEqual({ ...TREE, tree: [] })
    }
  },
)

test.each([
  ['nothing', ''],
  ['an end too early', JSON.stringify(TREE).slice(0, -20)],
  ['an end within a row', JSON.stringify(TREE).slice(0, 90)],
  ['a row that is no JSON', '{"tree":[{"path":x}]}'],
  ['too many ends', '{"tree":[]}]}'],
  ['no JSON', '<!doctype html><p>{"tree":[{}]}'],
])('%s is a fault', async (_, text) => {
  for (const bytes of [1, 7, 1_000]) await expect(read(text, bytes)).rejects.toThrow(SyntaxError)
})
