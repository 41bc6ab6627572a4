import { describe, expect, test } from 'vitest'
import { type PlannedContent, planOf } from '#test/support/planned.ts'
import { MIT, skillText } from '../../../api/support/texts.ts'
import { APACHE } from './license-texts.ts'

const reuse = (path: string, license: string) =>
  `version = 1\n[[annotations]]\npath = "${path}"\nprecedence = "override"\nSPDX-License-Identifier = "${license}"\n`

/** The folders of copies, and that of the skill that each is a copy of. */
function copiesIn(files: Record<string, PlannedContent>): Record<string, string> {
  const { skills } = planOf({ LICENSE: MIT, ...files }).plan
  return Object.fromEntries(skills.flatMap(({ skill, copyOf }) => (copyOf ? [[skill.directory, copyOf.skill.directory]] : [])))
}

/** The same skill in two folders, one file of the second changed. */
function twice(changed: Record<string, PlannedContent> = {}, text = skillText('x')): Record<string, PlannedContent> {
  const files = { 'SKILL.md': text, 'a.md': 'A', 'deep/b.md': 'B' }
  const at = (folder: string, held: Record<string, PlannedContent>) =>
    Object.fromEntries(Object.entries(held).map(([name, content]) => [`${folder}/${name}`, content]))
  return { ...at('skills/x', files), ...at('.claude/skills/x', { ...files, ...changed }) }
}

/** The same skill in two folders, with further files in both. */
function both(more: Record<string, PlannedContent>): Record<string, PlannedContent> {
  const below = (folder: string) => Object.entries(more).map(([name, content]) => [`${folder}/${name}`, content])
  return { ...twice(), ...Object.fromEntries([...below('skills/x'), ...below('.claude/skills/x')]) }
}

describe('a skill is a copy of another one', () => {
  test('if all files of its folder are the same', () => {
    expect(copiesIn(twice())).toEqual({ '.claude/skills/x': 'skills/x' })
  })

  test('under any folder name, if it declares its name', () => {
    expect(copiesIn({ 'a/SKILL.md': skillText('x'), 'b/SKILL.md': skillText('x') })).toEqual({ b: 'a' })
    expect(copiesIn({ 'a/SKILL.md': 'Text.\n', 'b/SKILL.md': 'Text.\n' })).toEqual({})
  })

  test('if a manifest excludes the difference', () => {
    const differs = twice({ 'deep/b.md': 'other', 'more/c.md': 'C' })
    expect(copiesIn(differs)).toEqual({})
    const exclude = '---\nexclude: [/.claude/skills/x/more, deep]\n---\n'
    expect(copiesIn({ 'SKILLSET.md': exclude, ...differs })).toEqual({ '.claude/skills/x': 'skills/x' })
  })

  test('if its license is the same text in another folder', () => {
    expect(copiesIn({ ...twice(), '.claude/LICENSE': MIT })).toEqual({ '.claude/skills/x': 'skills/x' })
  })

  test('if its license has another notice', () => {
    const files = { ...twice(), '.claude/LICENSE': MIT, '.claude/NOTICE': 'Thanks.\n' }
    expect(copiesIn(files)).toEqual({ '.claude/skills/x': 'skills/x' })
  })

  test('if a file that it includes lies in its own folder, or the same one outside', () => {
    expect(copiesIn(twice({}, skillText('x', 'B.\n', 'include: [a.md, /shared.md]\n')))).toEqual({
      '.claude/skills/x': 'skills/x',
    })
  })

  test('of a listed one: a second path, which a link gives, is none', () => {
    const skill = { 'b/x/SKILL.md': skillText('x'), a: { link: 'b' } }
    expect(copiesIn(skill)).toEqual({})
    expect(copiesIn({ ...skill, 'c/c/x/SKILL.md': skillText('x') })).toEqual({ 'c/c/x': 'b/x' })
  })

  test('and all copies name the same one', () => {
    const copies = ['.agents/skills/x', '.claude/skills/x', 'plugins/office/skills/x', 'skills/x', 'tests/x']
    const files = Object.fromEntries(copies.map(folder => [`${folder}/SKILL.md`, skillText('x')]))
    expect(copiesIn(files)).toEqual(
      Object.fromEntries(copies.filter(folder => folder !== 'skills/x').map(folder => [folder, 'skills/x'])),
    )
  })
})

describe('a skill is no copy', () => {
  test.each<[string, Record<string, PlannedContent>]>([
    ['if a file has other bytes', twice({ 'deep/b.md': 'other' })],
    ['if a file is missing', twice({ 'c.md': 'C' })],
    ['if rules of another folder apply to it', { ...twice(), '.claude/SKILLSET.md': '---\n---\nObey.\n' }],
    ['if its license permits no copy', { ...twice(), '.claude/LICENSE': 'All rights reserved.\n' }],
    ['if a manifest of its own includes another file', both({ 'SKILLSET.md': '---\ninclude: [../shared.md]\n---\n' })],
    ['if a manifest above includes a file of one', { ...twice(), 'SKILLSET.md': '---\ninclude: [skills/x/a.md]\n---\n' }],
    [
      'if a manifest of its own has other rules and is excluded',
      {
        ...twice({ 'SKILLSET.md': '---\n---\nObey.\n' }),
        'skills/x/SKILLSET.md': '---\n---\nRelax.\n',
        'SKILLSET.md': '---\nexclude: [x/SKILLSET.md]\n---\n',
      },
    ],
    ['if its license is another one', { ...twice(), '.claude/LICENSE': APACHE }],
    [
      'if a file of it may not be copied',
      {
        ...twice(),
        'REUSE.toml': reuse('.claude/skills/x/deep/*.md', 'LicenseRef-Own'),
        'LICENSES/LicenseRef-Own.txt': 'All rights reserved.\n',
      },
    ],
    ['if an include leads to another file', twice({}, skillText('x', 'B.\n', 'include: [../shared.md]\n'))],
  ])('%s', (_name, files) => {
    expect(copiesIn(files)).toEqual({})
  })
})
