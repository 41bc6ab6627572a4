import { describe, expect, test } from 'vitest'
import type { RepoPath } from '#core/repo-path.ts'
import { parseSkill } from '#indexer/rules/skill.ts'

const parse = (text: string, path = 'skills/pdf-forms/SKILL.md') => parseSkill(path as RepoPath, text, 'handbook')
const codes = (text: string, path?: string) => parse(text, path).warnings.map(warning => warning.code)

const GOOD = '---\nname: pdf-forms\ndescription: Fill forms.\n---\n\n# PDF forms\n\nDo this.\n'

test('a good skill has no warnings and keeps its body to the byte', () => {
  expect(parse(GOOD)).toMatchObject({
    name: 'pdf-forms',
    description: 'Fill forms.',
    directory: 'skills/pdf-forms',
    body: '\n# PDF forms\n\nDo this.\n',
    warnings: [],
    internal: false,
  })
})

test('the byte order mark is removed and CRLF stays', () => {
  const skill = parse('\uFEFF---\r\nname: pdf-forms\r\ndescription: d\r\n---\r\nA\r\nB\r\n')
  expect(skill.body).toBe('A\r\nB\r\n')
  expect(skill.warnings).toEqual([expect.objectContaining({ code: 'encoding.bom' })])
})

describe('warnings', () => {
  test.each([
    ['front_matter.missing', '# Title\n\nText.\n'],
    ['front_matter.unterminated', '---\nname: pdf-forms\nText.\n'],
    ['front_matter.invalid', '---\n- name\n---\nText.\n'],
    ['front_matter.repaired', '---\nname: a\nname: b\n---\nText.\n'],
    ['front_matter.padded', '--- \nname: pdf-forms\ndescription: d\n---\nText.\n'],
    ['front_matter.late', '<!-- Copyright -->\n---\nname: pdf-forms\ndescription: d\n---\nText.\n'],
    ['front_matter.late', '\n---\nname: pdf-forms\n---\nText.\n'],
    ['front_matter.late', `${'<!---->'.repeat(10_000)}# Title\n---\nname: pdf-forms\n---\nText.\n`],
    ['front_matter.missing', `${'<!---->'.repeat(10_000)}Text.\n`],
    ['front_matter.comment', '---\nname: pdf-forms\ndescription: Posts to #releases\n---\nText.\n'],
    ['front_matter.repaired', '---\nname: pdf-forms\ndescription: Use when: it rains\n---\nText.\n'],
    ['name.missing', '---\ndescription: d\n---\nText.\n'],
    ['name.missing', '---\nname: [a]\ndescription: d\n---\nText.\n'],
    ['name.invalid', '---\nname: PDF Forms\ndescription: d\n---\nText.\n'],
    ['name.invalid', '---\nname: pdf--forms\ndescription: d\n---\nText.\n'],
    ['name.too_long', `---\nname: ${'a'.repeat(65)}\ndescription: d\n---\nText.\n`],
    ['name.directory_mismatch', '---\nname: other\ndescription: d\n---\nText.\n'],
    ['description.missing', '---\nname: pdf-forms\n---\nText.\n'],
    ['description.too_long', `---\nname: pdf-forms\ndescription: ${'d'.repeat(1025)}\n---\nText.\n`],
    ['compatibility.too_long', `---\nname: pdf-forms\ndescription: d\ncompatibility: ${'c'.repeat(501)}\n---\nText.\n`],
    ['translations.invalid', '---\nname: pdf-forms\ndescription: d\ntranslations: [de]\n---\nText.\n'],
    ['body.empty', '---\nname: pdf-forms\ndescription: d\n---\n \n'],
    ['body.long', `---\nname: pdf-forms\ndescription: d\n---\n${'x\n'.repeat(501)}`],
    ['body.long', `---\nname: pdf-forms\ndescription: d\n---\n${'x'.repeat(20_001)}`],
  ])('%s', (code, text) => {
    expect(codes(text)).toContain(code)
  })

  test('numbers and dates are names like any other', () => {
    expect(parse('---\nname: 3000\ndescription: 2026-11-20\n---\nText.\n', 'skills/3000/SKILL.md')).toMatchObject({
      name: '3000',
      description: '2026-11-20',
      warnings: [],
    })
  })

  test('a skill at the root matches no folder and is called after the repository', () => {
    expect(parse('---\ndescription: d\n---\nText.\n', 'SKILL.md').name).toBe('handbook')
    expect(codes('---\nname: anything\ndescription: d\n---\nText.\n', 'SKILL.md')).toEqual([])
  })
})

test('without a usable front matter the folder names the skill and its first paragraph describes it', () => {
  expect(parse('# Title\n\n![badge](x.png)\n\nFirst *real* paragraph\non two lines.\n\nSecond.\n')).toMatchObject({
    name: 'pdf-forms',
    description: 'First real paragraph on two lines.',
  })
})

test('known fields are words, lists of words and maps of words, others are dropped', () => {
  const skill = parse(
    '---\nname: pdf-forms\ndescription: d\nlicense: MIT\nallowed-tools: [Read, Write]\nmetadata: { version: 1.10, nested: { b: 1, a: 2 } }\nversion: 2\nhooks: [{ x: y }]\n---\nText.\n',
  )
  expect(skill.frontMatter).toEqual({
    license: 'MIT',
    'allowed-tools': ['Read', 'Write'],
    metadata: { version: '1.10', nested: '{"a":"2","b":"1"}' },
    hooks: ['{"x":"y"}'],
  })
})

test('a long value is cut at 2 KiB, between characters', () => {
  const value = parse(`---\nname: pdf-forms\ndescription: d\nwhen_to_use: ${'é'.repeat(2000)}\n---\nText.\n`).frontMatter
    .when_to_use
  expect(value).toBe('é'.repeat(1024))
})

test.each([
  ['a list', 'include: [a.md, /b.md]'],
  ['words', 'include: a.md /b.md'],
  ['below metadata', 'metadata: { include: a.md /b.md }'],
  ['a list below metadata', 'metadata: { include: [a.md, /b.md] }'],
])('includes are declared as %s', (_name, yaml) => {
  expect(parse(`---\nname: pdf-forms\ndescription: d\n${yaml}\n---\nText.\n`).include).toEqual(['a.md', '/b.md'])
})

test.each(['true', 'yes', 'on', '1', 'TRUE'])('metadata.internal: %s keeps a skill out of listings', value => {
  expect(parse(`---\nname: pdf-forms\ndescription: d\nmetadata: { internal: ${value} }\n---\nText.\n`).internal).toBe(true)
})
