import { expect, test } from 'vitest'
import { byKind, changedParts, groupAlike } from '#core/change-groups.ts'
import type { Cause, ChangeFacts, ChangeItem, SkillPart } from '#core/contract/changes.ts'

const SIDE = {
  sha256: null,
  bytes: 1,
  tokens: 1,
  license: { kind: 'open', name: 'MIT', source: 'LICENSE' },
  full: true,
  complete: true,
} as const

function changed(name: string, causes: readonly [SkillPart, string, Cause['change']?][], facts: ChangeFacts = {}): ChangeItem {
  const directory = `skills/${name}`
  return {
    kind: 'skill',
    path: `${directory}/SKILL.md`,
    directory,
    name,
    change: 'changed',
    parts: [...new Set(causes.map(([part]) => part))],
    causes: causes.map(([part, path, change = 'changed']) => ({ part, path, change })),
    before: SIDE,
    after: SIDE,
    facts,
  } as ChangeItem
}

test("each part has its causing files, parts with the same files share them, and the skill's own file is not named", () => {
  expect(
    changedParts(
      changed('a', [
        ['rules', 'SKILLSET.md'],
        ['body', 'skills/a/SKILL.md'],
        ['includes', 'old.md', 'removed'],
        ['includes', 'new.md', 'added'],
        ['license', 'LICENSE', 'removed'],
        ['serving', 'LICENSE', 'removed'],
      ]),
    ),
  ).toEqual([
    { parts: ['rules'], causes: [{ path: 'SKILLSET.md', change: 'changed' }] },
    { parts: ['body'], causes: [] },
    {
      parts: ['includes'],
      causes: [
        { path: 'old.md', change: 'removed' },
        { path: 'new.md', change: 'added' },
      ],
    },
    { parts: ['license', 'serving'], causes: [{ path: 'LICENSE', change: 'removed' }] },
  ])
})

test('if a license closed the skill, other removed parts are not listed', () => {
  const item = changed(
    'a',
    [
      ['rules', 'SKILLSET.md', 'removed'],
      ['files', 'skills/a/x.sh', 'removed'],
      ['license', 'skills/a/package.json', 'added'],
      ['serving', 'skills/a/package.json', 'added'],
    ],
    { serving: 'closed' },
  )
  expect(changedParts(item)).toEqual([
    { parts: ['license', 'serving'], causes: [{ path: 'skills/a/package.json', change: 'added' }] },
  ])
})

test('skills that the same files change make one group, in the place of the first; others stand alone', () => {
  const rules: [SkillPart, string][] = [['rules', 'SKILLSET.md']]
  const items = [
    changed('a', rules),
    changed('b', [...rules, ['body', 'skills/b/SKILL.md']]),
    changed('c', rules),
    changed('d', rules, { hosts: [{ host: 'x.example', path: 'SKILLSET.md', line: 1 }] }),
    changed('e', rules),
    { ...changed('f', rules), change: 'moved', movedFrom: 'f/SKILL.md' } as ChangeItem,
    changed('g', rules),
    changed('h', [['includes', 'skills/h/SKILL.md']]),
  ]
  const names = groupAlike(items).map(group => group.map(item => (item.kind === 'skill' ? item.name : '')).join(' '))
  expect(names).toEqual(['a c e g', 'b', 'd', 'f', 'h'])
  expect(groupAlike(items.slice(0, 5)).map(group => group.length)).toEqual([1, 1, 1, 1, 1])
})

test('skills precede documents and manifests, those of one kind in their order', () => {
  const items = (['manifest', 'document', 'skill', 'document', 'skill'] as const).map((kind, at) => ({ kind, at }))
  expect(byKind(items).map(({ at }) => at)).toEqual([2, 4, 1, 3, 0])
})
