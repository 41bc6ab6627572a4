import { describe, expect, test } from 'vitest'
import { withMessage } from '#core/finding-messages.ts'
import type { RepoPath } from '#core/repo-path.ts'
import { readManifest } from '#indexer/rules/manifest.ts'
import type { TreeFile } from '#indexer/rules/tree.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

function read(text: string | Uint8Array | null, file: Partial<TreeFile> = {}) {
  const content = typeof text === 'string' ? bytes(text) : text
  const path = 'skills/SKILLSET.md' as RepoPath
  return readManifest(
    { path, mode: '100644', oid: 'a'.repeat(40), sizeBytes: content?.length ?? 10, ...file },
    content,
    'handbook',
  )
}

test('name and description are text, rules are the body without blank lines around it', () => {
  const answer = read('---\nname: Writing\ndescription: How we write.\nlanguage: EN-us\n---\n\n\nFirst.\n\n  Second.  \n\n \n')
  expect(answer).toMatchObject({
    kind: 'manifest',
    manifest: {
      name: 'Writing',
      description: 'How we write.',
      language: 'en-US',
      folder: 'skills',
      rules: { text: 'First.\n\n  Second.  ' },
    },
    diagnostics: [],
  })
})

test.each([
  ['LF', '---\nname: a\n---\n\nRules ✍️.\n'],
  ['CRLF', '---\r\nname: a\r\n---\r\n\r\nRules ✍️.\r\n\r\n'],
  ['a byte order mark', '\uFEFF---\nname: ä\n---\nRules ✍️.'],
])('rules begin at their offset: %s', (_name, text) => {
  const answer = read(text)
  if (answer.kind !== 'manifest' || !answer.manifest.rules) throw new Error('no rules')
  const { offsetBytes, text: rules } = answer.manifest.rules
  expect(rules).toBe('Rules ✍️.')
  expect(new TextDecoder().decode(bytes(text).subarray(offsetBytes, offsetBytes + bytes(rules).length))).toBe(rules)
})

test.each(['\t', '\r', '\u00a0', '\u3000'])(
  'a line of white space alone is blank before the rules and behind them: %j',
  space => {
    const answer = read(`---\nname: a\n---\n${space}\r\nFirst.\n${space}\n${space}`)
    expect(answer).toMatchObject({ manifest: { rules: { text: 'First.' } } })
  },
)

test('a blank body has no rules', () => {
  expect(read('---\nname: a\n---\n \n\n')).toMatchObject({ manifest: { rules: null } })
})

test('a manifest without a name is called after its folder, at the root after the repository', () => {
  expect(read('---\n---\n')).toMatchObject({ manifest: { name: 'skills' } })
  expect(read('---\n---\n', { path: 'SKILLSET.md' as RepoPath })).toMatchObject({ manifest: { name: 'handbook', folder: '' } })
})

test('a file of that name without front matter is a document', () => {
  expect(read('# A catalogue\n')).toMatchObject({
    kind: 'document',
    diagnostics: [{ code: 'manifest.no_front_matter', severity: 'info' }],
  })
})

describe('anything that leaves exclusions in doubt closes the folder', () => {
  test.each<[string, string | Uint8Array | null, Partial<TreeFile>]>([
    ['a missing blob', null, {}],
    ['larger than 64 KiB', null, { sizeBytes: 65_537 }],
    ['a symlink', '---\n---\n', { mode: '120000' }],
    ['not UTF-8', new Uint8Array([0x2d, 0x2d, 0x2d, 0x0a, 0xff]), {}],
    ['a NUL', '---\nname: a\0\n---\n', {}],
    ['an LFS pointer', 'version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n', {}],
    ['no closing fence', '---\nname: a\n', {}],
    ['broken YAML', '---\nname: a: b\n---\n', {}],
    ['not a mapping', '---\n- a\n---\n', {}],
    ['a duplicate key', '---\nname: a\nname: b\n---\n', {}],
    ['an exclude list that is a word', '---\nexclude: drafts/\n---\n', {}],
    ['an exclude list that is a map', '---\nexclude: { a: b }\n---\n', {}],
    ['an exclude list of lists', '---\nexclude: [[a]]\n---\n', {}],
    ['a pattern with a line break', '---\nexclude: ["a\\nb"]\n---\n', {}],
    ['201 patterns', `---\nexclude: [${'a,'.repeat(201)}]\n---\n`, {}],
    ['a pattern of 501 characters', `---\nexclude: ["${'a'.repeat(501)}"]\n---\n`, {}],
  ])('%s', (_name, text, file) => {
    expect(read(text, file)).toMatchObject({
      kind: 'unreadable',
      diagnostics: [{ code: 'manifest.unreadable', severity: 'error', boundary: 'skills' }],
    })
  })
})

test.each([
  ['an invalid language', 'language: english', { language: null }, 'language'],
  ['translations that are a list', 'translations: [a]', { translations: {} }, 'translations'],
  [
    'an invalid tag',
    'translations: { zh_CN: { name: ä }, "*": { name: b } }',
    { translations: { 'zh-CN': { name: 'ä' } } },
    'translations',
  ],
  ['a name that is too long', `name: ${'a'.repeat(101)}`, { name: 'skills' }, 'name'],
  ['a description that is a list', 'description: [a]', { description: '' }, 'description'],
])('a wrong field is dropped with a diagnostic: %s', (_name, yaml, manifest, field) => {
  expect(read(`---\n${yaml}\n---\n`)).toMatchObject({
    kind: 'manifest',
    manifest,
    diagnostics: [{ code: 'manifest.invalid_field', severity: 'warning', field }],
  })
})

test.each(['include: { a: b }', 'include: [[a.md]]'])('a malformed include is an error of required reading: %s', yaml => {
  expect(read(`---\n${yaml}\n---\n`)).toMatchObject({
    kind: 'manifest',
    manifest: { include: null },
    diagnostics: [{ code: 'include.missing', severity: 'error', field: 'include' }],
  })
})

test.each([
  ['excludes', 'exclude'],
  ['Exclude', 'exclude'],
  ['ignore', 'exclude'],
  ['licence', 'license'],
  ['desciption', 'description'],
  ['lang', 'language'],
  ['title', 'name'],
  ['tranlsations', 'translations'],
])('the unknown field %s may mean %s', (field, meant) => {
  expect(read(`---\n${field}: x\n---\n`).diagnostics).toMatchObject([
    { code: 'manifest.unknown_field', case: 'similar', field, values: { name: meant } },
  ])
})

test.each(['owner', 'x', 'version', '__proto__', 'a'.repeat(5_000)])('the unknown field %.20s means none', field => {
  expect(read(`---\n${field}: x\n---\n`).diagnostics).toEqual([expect.not.objectContaining({ case: 'similar' })])
})

test.each([
  ['name: x\nexclude: [\n', '`exclude`: '],
  ['name: x\nexclude: [\n', 'on line 4'],
  ['name: "x\ndescription: y\nexclude: [a]\n', '`name`: a quote is not closed on line 2'],
  ['name: x\ndescription:\n  - a\n  b: c\nexclude: [a]\n', 'on line 5'],
  ['name: x\nname: y\n', 'on line 3'],
  ['name: a: b\n', 'on line 2'],
])('a fault of the YAML names its line: %j', (yaml, line) => {
  expect(read(`---\n${yaml}---\n`).diagnostics.map(withMessage)).toMatchObject([{ message: expect.stringContaining(line) }])
})

test('an unknown key is dropped with a diagnostic', () => {
  expect(read('---\nowner: me\n---\n')).toMatchObject({
    kind: 'manifest',
    diagnostics: [{ code: 'manifest.unknown_field', severity: 'info', field: 'owner' }],
  })
})

test('a name shows no hidden character', () => {
  expect(read('---\nname: "a\\u202Eb\\u200B\\U000E0041c\\td"\n---\n')).toMatchObject({ manifest: { name: 'abc d' } })
})

test('of unknown fields some are named, and the others counted', () => {
  const keys = Array.from({ length: 2_000 }, (_, index) => `k${index}`)
  const answer = read(`---\nname: a\n${keys.map(key => `${key}:\n`).join('')}---\n`)
  expect(answer.diagnostics.map(({ field }) => field)).toEqual([...keys.slice(0, 20), undefined])
  expect(answer.diagnostics.at(-1)).toMatchObject({
    code: 'manifest.unknown_field',
    severity: 'info',
    case: 'more',
    values: { n: 1980 },
  })
})
