import { expect, test } from 'vitest'
import { locate } from '#core/followed-path.ts'
import { LINK_HOPS, TREE_DEPTH_SEGMENTS } from '#core/limits.ts'
import { baseNameOf, parentOf, type RepoPath } from '#core/repo-path.ts'

interface Entry {
  mode: string
  oid: string
  target?: RepoPath
}

/** Where a path leads among files, and symlinks with their texts; `null`: a text that cannot be read. */
function find(
  path: string,
  links: Readonly<Record<string, string | null>>,
  entries: Readonly<Record<string, Partial<Entry>>> = {},
) {
  const folders = new Map<string, Map<string, Entry>>([['', new Map()]])
  const paths = ['a.md', 'deep/er/b.md', 'other/c.md', ...Object.keys(links), ...Object.keys(entries)] as RepoPath[]
  for (const one of paths) {
    for (let folder = parentOf(one); !folders.has(folder); folder = parentOf(folder)) folders.set(folder, new Map())
    const entry = { mode: one in links ? '120000' : '100644', oid: one, ...entries[one] }
    folders.get(parentOf(one))?.set(baseNameOf(one), entry)
  }
  const found = locate(path as RepoPath, { filesIn: folder => folders.get(folder), textOf: oid => links[oid] })
  return found === null ? null : 'folder' in found ? `${found.folder}/` : found.path
}

const chain = (length: number) => Object.fromEntries(Array.from({ length }, (_, n) => [`l${n}`, n === 0 ? 'a.md' : `l${n - 1}`]))

test.each<[string, string, Record<string, string | null>, string | null]>([
  ['a file', 'deep/er/b.md', {}, 'deep/er/b.md'],
  ['a folder', 'deep', {}, 'deep/'],
  ['nothing', 'deep/none.md', {}, null],
  ['a path below a file', 'a.md/b.md', {}, null],
  ['a link', 'l', { l: 'deep/er/b.md' }, 'deep/er/b.md'],
  ['a link through a folder that is one', 'l/b.md', { l: 'deep/er/' }, 'deep/er/b.md'],
  ['the folder above what a link leads to, not above the link', 'l/../er/b.md', { l: 'deep/er' }, 'deep/er/b.md'],
  ['the root', 'deep/l', { 'deep/l': '..' }, '/'],
  ['out of the tree', 'deep/l', { 'deep/l': '../../a.md' }, null],
  ['an absolute path', 'l', { l: '/a.md' }, null],
  ['an empty text', 'l', { l: '' }, null],
  ['itself', 'l', { l: 'l' }, null],
  ['a text that cannot be read', 'l/b.md', { l: null }, 'l'],
  ['as many links in a row as are followed', `l${LINK_HOPS - 1}`, chain(LINK_HOPS), 'a.md'],
  ['one more', `l${LINK_HOPS}`, chain(LINK_HOPS + 1), null],
  ['a text of more segments than any path needs', 'l', { l: `${'./'.repeat(2 * TREE_DEPTH_SEGMENTS)}a.md` }, null],
])('%s', (_what, path, links, found) => {
  expect(find(path, links)).toBe(found)
})

test('a link that another link aliases is resolved from its own folder', () => {
  const links = { 'deep/er/link.md': '../../other/c.md', 'x/link.md': '../../other/c.md' }
  expect(find('x/link.md', links)).toBe(null)
  expect(find('x/link.md', links, { 'x/link.md': { target: 'deep/er/link.md' as RepoPath } })).toBe('other/c.md')
})

test('a submodule is found as a submodule', () => {
  expect(find('module', {}, { module: { mode: '160000' } })).toBe('module')
})
