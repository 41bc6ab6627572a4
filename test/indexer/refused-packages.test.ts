import { describe, expect, test } from 'vitest'
import { t } from '#words/t.ts'
import { indexFiles, MIT, skill, useRepositories } from './snapshot-scene.ts'

useRepositories()

async function packagesOf(files: Parameters<typeof indexFiles>[0]) {
  return (await indexFiles(files)).rows('packages')
}

describe('a skill is refused by clients of the skills extension of MCP alone', () => {
  test.each<[why: string, says: RegExp, text: string]>([
    ['with another name than its folder', /its name b is not that of its folder/, skill('b')],
    ['with a name that is not one', /its name is not 1 to 64/, skill('A b')],
    ['with a long description', /its description is not/, `---\nname: a\ndescription: ${'d'.repeat(1025)}\n---\nx\n`],
    ['with a number that JSON lacks', /a number that JSON lacks/, skill('a', 'x\n', 'n: [.inf]\n')],
    ['with a number in its metadata', /its metadata has a value/, skill('a', 'x\n', 'metadata:\n  version: 1.0\n')],
    [
      'with nested metadata',
      /its metadata has a value/,
      skill('a', 'x\n', 'metadata: { openclaw: { requires: { bins: [x] } } }\n'),
    ],
    ['with text behind the closing hyphens', /another line of hyphens/, '---\nname: a\ndescription: x\n---x\nx\n---\n'],
  ])('%s', async (_why, says, text) => {
    const row = (await packagesOf({ 'a/SKILL.md': text })).get('a/SKILL.md')
    const { key, values } = (row && 'mcpRefusal' in row && row.mcpRefusal) || { key: '' }
    expect(t.find(key, values)).toMatch(says)
    expect(row).toHaveProperty('archive')
  })
})

test('a skill that clients refuse has a warning, unless another one says it', async () => {
  const { rows } = await indexFiles({
    'a/SKILL.md': skill('a', 'x\n', 'metadata:\n  version: 1.0\n'),
    'b/SKILL.md': skill('another'),
    'c/SKILL.md': skill('c'),
    'd/SKILL.md': '---\nname: d\n---\nx\n',
    'e/SKILL.md': skill('true'),
  })
  const codesOf = (path: string) =>
    rows('skills')
      .get(path)
      ?.warnings.map(({ code }) => code)
  expect(codesOf('a/SKILL.md')).toEqual(['skill.not_in_mcp'])
  expect(codesOf('b/SKILL.md')).toEqual(['name.directory_mismatch'])
  expect(codesOf('c/SKILL.md')).toEqual([])
  expect(codesOf('d/SKILL.md')).toEqual(['description.missing'])
  expect(codesOf('e/SKILL.md')).toEqual(['name.directory_mismatch', 'skill.not_installable'])
})

test('a copy names the skill that is installed for both, if that can be', async () => {
  const NOTICE = 'x'.repeat(300_000)
  const packages = await packagesOf({
    'a/x/SKILL.md': skill('x'),
    '.agents/x/SKILL.md': skill('x'),
    'b/LICENSE': MIT,
    'b/NOTICE': NOTICE,
    'b/y/SKILL.md': skill('y'),
    '.agents/y/SKILL.md': skill('y'),
  })
  expect(packages.get('.agents/x/SKILL.md')).toMatchObject({ copyOf: 'a/x/SKILL.md' })
  expect(packages.get('a/x/SKILL.md')).not.toHaveProperty('copyOf')
  expect(packages.get('b/y/SKILL.md')).toHaveProperty('refusal')
  expect(packages.get('.agents/y/SKILL.md')).not.toHaveProperty('copyOf')
})
