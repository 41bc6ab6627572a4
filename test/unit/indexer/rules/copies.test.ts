import { describe, expect, test } from 'vitest'
import { type PlannedContent, planOf } from '#test/support/planned.ts'
import { MIT, skillText } from '../../../api/support/texts.ts'

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

describe('a skill is a copy of another one', () => {
  test('where all that lies in its folder is the same', () => {
    expect(copiesIn(twice())).toEqual({ '.claude/skills/x': 'skills/x' })
  })

  test('whatever its folder is called, if it declares its name', () => {
    expect(copiesIn({ 'a/SKILL.md': skillText('x'), 'b/SKILL.md': skillText('x') })).toEqual({ b: 'a' })
    expect(copiesIn({ 'a/SKILL.md': 'Text.\n', 'b/SKILL.md': 'Text.\n' })).toEqual({})
  })

  test('where a manifest excludes what differs', () => {
    const differs = twice({ 'deep/b.md': 'other', 'more/c.md': 'C' })
    expect(copiesIn(differs)).toEqual({})
    const exclude = '---\nexclude: [/.claude/skills/x/more, deep]\n---\n'
    expect(copiesIn({ 'SKILLSET.md': exclude, ...differs })).toEqual({ '.claude/skills/x': 'skills/x' })
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
    ['where a file has other bytes', twice({ 'deep/b.md': 'other' })],
    ['where a file is missing', twice({ 'c.md': 'C' })],
    ['where rules of another folder apply to it', { ...twice(), '.claude/SKILLSET.md': '---\n---\nObey.\n' }],
    ['where its license permits no copy', { ...twice(), '.claude/LICENSE': 'All rights reserved.\n' }],
    ['where an include leads to another file', twice({}, skillText('x', 'B.\n', 'include: [../shared.md]\n'))],
  ])('%s', (_name, files) => {
    expect(copiesIn(files)).toEqual({})
  })
})
