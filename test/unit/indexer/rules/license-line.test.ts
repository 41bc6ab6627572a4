import { expect, test } from 'vitest'
import { createLicenseResolver } from '#indexer/rules/license/index.ts'
import { parseSkill } from '#indexer/rules/skill.ts'
import { textOf } from './license-texts.ts'
import { pathOf, sourcesOf, type Tree } from './license-tree.ts'

/* The line of a file that declares a license: pages lead there. */

function lineIn(text: string): number | undefined {
  return parseSkill(pathOf('a/SKILL.md'), text, 'tools').licenseLine
}

test.each([
  ['---\nname: a\ndescription: b\nlicense: MIT\n---\nText\n', 4],
  ['\ufeff---\r\nname: a\r\nlicense: MIT\r\n---\r\n', 3],
  ['---\n"license": MIT\n---\n', 2],
  // Of a value that is no YAML by itself, and of a block that is not closed
  ['---\ndescription: Use when: always\nlicense: MIT\n---\n', 3],
  ['---\nlicense: MIT\nname: a\n\nText\n', 2],
  ['---\nmetadata:\n  license: MIT\n---\nlicense: MIT\n', undefined],
  ['license: MIT\n', undefined],
  ['---\n{ name: a, license: MIT }\n---\n', undefined],
])('the front matter %j declares it on line %s', (text, line) => {
  expect(lineIn(text)).toBe(line)
})

function licenseIn(tree: Tree, lines: Record<string, number> = {}) {
  const sources = sourcesOf(tree)
  const skillIn = (folder: string) => {
    const skill = sources.skillIn(pathOf(folder))
    return skill === null || skill === 'unread' ? skill : { ...skill, line: lines[folder] }
  }
  return createLicenseResolver({ ...sources, skillIn }).resolve(pathOf('skill'), pathOf('skill')).license
}

test('a license has the line of the front matter or plugin file that declares it, and none of a license file', () => {
  const skills = { skill: 'MIT' }
  expect(licenseIn({ skills }, { skill: 4 })).toEqual({ kind: 'open', name: 'MIT', source: 'skill/SKILL.md', line: 4 })
  expect(licenseIn({ skills })).toEqual({ kind: 'open', name: 'MIT', source: 'skill/SKILL.md' })
  expect(licenseIn({ skills: { skill: null }, files: { LICENSE: textOf('MIT') } })).not.toHaveProperty('line')
  const plugin = (text: string) =>
    licenseIn({ skills: { skill: null }, files: { 'skill/.claude-plugin/plugin.json': text } }).line
  expect(plugin('{\n  "name": "x",\n  "license": "MIT"\n}')).toBe(3)
  expect(plugin('{ "name": "x", "license": "MIT" }')).toBe(1)
  expect(plugin('{\n"license": "MIT",\n"author": { "license": "MIT" } }')).toBe(undefined)
})

test('of a withheld file neither its path nor its line is told', () => {
  const license = licenseIn({ skills: { skill: 'MIT' }, withheld: ['skill/SKILL.md'] }, { skill: 4 })
  expect(license).toEqual({ kind: 'open', name: 'MIT', source: null })
})
