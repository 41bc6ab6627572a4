import { describe, expect, test } from 'vitest'
import type { RepoPath } from '#core/repo-path.ts'
import { buildTree } from '#indexer/rules/tree.ts'
import { applyManifests } from '#indexer/rules/withheld.ts'

/** Applies the manifests among the files; whatever is not text of a manifest is an empty file. */
function apply(files: Record<string, string>) {
  const paths = Object.keys(files)
  const tree = buildTree(
    paths.map((path, index) => ({ path, mode: '100644' as const, oid: String(index), sizeBytes: files[path]?.length ?? 0 })),
  )
  const policy = applyManifests(tree, oid => new TextEncoder().encode(files[paths[Number(oid)] ?? ''] ?? ''), 'handbook')
  return { ...policy, kept: paths.filter(path => policy.reasonOf(path as RepoPath) === null) }
}

const exclude = (...patterns: string[]) => `---\nexclude: ${JSON.stringify(patterns)}\n---\n`

describe('exclusions', () => {
  test.each<[string, Record<string, string>, string[]]>([
    ['a folder', { 'SKILLSET.md': exclude('drafts/'), 'drafts/a.md': '', 'a.md': '' }, ['SKILLSET.md', 'a.md']],
    [
      'a folder at any depth',
      { 'SKILLSET.md': exclude('drafts/'), 'x/drafts/a.md': '', 'x/a.md': '' },
      ['SKILLSET.md', 'x/a.md'],
    ],
    ['a file named like the folder pattern stays', { 'SKILLSET.md': exclude('drafts/'), drafts: '' }, ['SKILLSET.md', 'drafts']],
    ['a suffix', { 'SKILLSET.md': exclude('*.private.md'), 'x/a.private.md': '', 'x/a.md': '' }, ['SKILLSET.md', 'x/a.md']],
    ['anchored', { 'SKILLSET.md': exclude('/a.md'), 'a.md': '', 'x/a.md': '' }, ['SKILLSET.md', 'x/a.md']],
    [
      'relative to the manifest',
      { 'x/SKILLSET.md': exclude('/a.md'), 'a.md': '', 'x/a.md': '', 'x/y/a.md': '' },
      ['x/SKILLSET.md', 'a.md', 'x/y/a.md'],
    ],
    ['re-included in the same list', { 'SKILLSET.md': exclude('*.md', '!keep.md'), 'keep.md': '', 'a.md': '' }, ['keep.md']],
    [
      'a deeper manifest gives nothing back',
      { 'SKILLSET.md': exclude('*.md'), 'x/SKILLSET.md': exclude('!a.md'), 'x/a.md': '', 'x/a.txt': '' },
      ['x/a.txt'],
    ],
    [
      'case matters',
      { 'SKILLSET.md': exclude('drafts/'), 'Drafts/a.md': '', 'b/A.MD': '' },
      ['SKILLSET.md', 'Drafts/a.md', 'b/A.MD'],
    ],
    [
      'bytes matter: NFD is not NFC',
      { 'SKILLSET.md': exclude('\u00e9.md'), 'e\u0301.md': '', '\u00e9.md': '' },
      ['SKILLSET.md', 'e\u0301.md'],
    ],
    [
      'a wildcard is a byte, as for git: é has two',
      { 'SKILLSET.md': exclude('?.md', '[é].txt'), 'a.md': '', 'é.md': '', 'é.txt': '' },
      ['SKILLSET.md', 'é.md', 'é.txt'],
    ],
    [
      'odd names',
      { 'SKILLSET.md': exclude('a b.md', '\\#x.md', '\\!y.md'), 'a b.md': '', '#x.md': '', '!y.md': '', 'c++.md': '' },
      ['SKILLSET.md', 'c++.md'],
    ],
  ])('%s', (_name, files, kept) => {
    expect(apply(files).kept.sort()).toEqual(kept.sort())
  })

  test('a manifest keeps its effect when it is excluded itself', () => {
    const policy = apply({
      'SKILLSET.md': exclude('SKILLSET.md', 'drafts/'),
      'x/SKILLSET.md': exclude('secret/'),
      'x/secret/a.md': '',
      'drafts/a.md': '',
      'x/a.md': '',
    })
    expect(policy.kept).toEqual(['x/a.md'])
  })

  test('a manifest below an excluded folder is not even read', () => {
    expect(apply({ 'SKILLSET.md': exclude('drafts/'), 'drafts/SKILLSET.md': '---\nbroken' }).diagnostics).toEqual([])
  })
})

describe('a manifest that cannot be understood', () => {
  const files = {
    'SKILLSET.md': exclude('drafts/'),
    'a.md': '',
    'closed/SKILLSET.md': '---\nbroken',
    'closed/x/a.md': '',
    'open/a.md': '',
  }

  test('closes its folder and nothing else', () => {
    expect(apply(files).kept).toEqual(['SKILLSET.md', 'a.md', 'open/a.md'])
  })

  test('is reported, with the folder that it closes', () => {
    expect(apply(files).diagnostics).toMatchObject([
      { code: 'manifest.unreadable', path: 'closed/SKILLSET.md', boundary: 'closed' },
    ])
  })

  test('at the root closes everything', () => {
    expect(apply({ 'SKILLSET.md': '---\n- a\n---\n', 'x/a.md': '' }).kept).toEqual([])
  })
})
