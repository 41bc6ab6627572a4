import { expect, test } from 'vitest'
import { RULE_CHAIN_BYTES, RULE_CHAIN_MANIFESTS } from '#core/limits.ts'
import type { RepoPath } from '#core/repo-path.ts'
import type { Manifest } from '#indexer/rules/manifest.ts'
import { manifestMetadata, manifestsAbove, ruleChain } from '#indexer/rules/rule-chain.ts'

function manifest(folder: string, rules: string | null = 'Rule.', more: Partial<Manifest> = {}): Manifest {
  return {
    path: (folder === '' ? 'SKILLSET.md' : `${folder}/SKILLSET.md`) as RepoPath,
    folder: folder as RepoPath,
    oid: 'a',
    name: folder,
    description: '',
    language: null,
    translations: {},
    image: undefined,
    license: undefined,
    licenseLine: undefined,
    include: [],
    exclude: [],
    declared: {},
    tokens: 0,
    rules: rules === null ? null : { text: rules, offsetBytes: 0, linesBefore: 0 },
    ...more,
  }
}

const foldersOf = (manifests: readonly Manifest[]) => manifests.map(({ folder }) => folder)

test.each([
  ['', ['']],
  ['a', ['', 'a']],
  ['a/b', ['', 'a', 'a/b']],
  ['a/b/c', ['', 'a', 'a/b']],
  ['a/x', ['', 'a']],
  ['ab', ['']],
])('the manifests that apply to %j, root first', (folder, expected) => {
  const manifests = new Map(['', 'a', 'a/b', 'x'].map(at => [at as RepoPath, manifest(at)]))
  expect(foldersOf(manifestsAbove(manifests, folder as RepoPath))).toEqual(expected)
})

test('manifests without rules add nothing', () => {
  const { rules, diagnostics } = ruleChain([manifest(''), manifest('a', null), manifest('a/b')])
  expect({ folders: foldersOf(rules), diagnostics }).toEqual({ folders: ['', 'a/b'], diagnostics: [] })
})

const MANY = Array.from({ length: RULE_CHAIN_MANIFESTS + 1 }, (_, depth) => manifest('a/'.repeat(depth)))
test.each<[string, Manifest[], number, boolean]>([
  ['as many manifests as a chain may hold', MANY.slice(1), RULE_CHAIN_MANIFESTS, true],
  ['one more', MANY, RULE_CHAIN_MANIFESTS, false],
  ['one more that has no rules', [...MANY.slice(1), manifest('z', null)], RULE_CHAIN_MANIFESTS, true],
  ['as many bytes as a chain may hold', [manifest('', 'é'.repeat(RULE_CHAIN_BYTES / 2))], 1, true],
  ['a byte more', [manifest('', 'é'.repeat(RULE_CHAIN_BYTES / 2)), manifest('a', 'x')], 1, false],
  ['too much at once', [manifest('', 'x'.repeat(RULE_CHAIN_BYTES + 1))], 0, false],
  [
    'a short one behind one that is too long is missing too',
    [manifest('', 'x'.repeat(RULE_CHAIN_BYTES + 1)), manifest('a')],
    0,
    false,
  ],
])('rules are whole or missing: %s', (_name, chain, length, isComplete) => {
  const { rules, diagnostics } = ruleChain(chain)
  expect(rules).toEqual(chain.filter(({ rules }) => rules !== null).slice(0, length))
  const path = chain.filter(({ rules }) => rules !== null)[length]?.path
  expect(diagnostics).toMatchObject(isComplete ? [] : [{ code: 'rules.missing', severity: 'error', path }])
})

test('a manifest has its own fields; only its language is inherited from the nearest one that declares one', () => {
  const chain = [
    manifest('', '', { language: 'en', name: 'Root', description: 'All.', translations: { de: { name: 'Wurzel' } } }),
    manifest('a', '', { language: 'ja' }),
    manifest('a/b', '', { name: 'B' }),
  ]
  expect(manifestMetadata(chain[2] as Manifest, chain)).toEqual({
    path: 'a/b/SKILLSET.md',
    name: 'B',
    description: '',
    language: 'ja',
    translations: {},
  })
  expect(manifestMetadata(manifest('x'), [manifest(''), manifest('x')]).language).toBeNull()
})
