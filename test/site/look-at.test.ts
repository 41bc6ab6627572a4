import { expect, test } from 'vitest'
import type { ChangedSkill, ChangeItem } from '#core/contract/changes.ts'
import { cutRows, haveFilesChanged, lookRows, otherItems, untoldParts } from '#site/lib/look-at.ts'

const SIDE = {
  sha256: null,
  bytes: 1,
  tokens: 1,
  license: { kind: 'open', name: 'MIT', source: null },
  full: true,
  complete: true,
} as const

function changed(name: string, given: Partial<ChangedSkill> = {}): ChangedSkill {
  const [path, directory] = [`${name}/SKILL.md`, name]
  return {
    kind: 'skill',
    path,
    directory,
    name,
    change: 'changed',
    parts: ['body'],
    causes: [],
    before: SIDE,
    after: SIDE,
    facts: {},
    ...given,
  }
}

const spell = (items: ChangeItem[]) =>
  lookRows(items).map(({ path, points, receivers }) => [path, receivers.length, ...points.map(({ kind }) => kind)])

test('the gravest come first: descriptions, commands, hosts, tools, hidden characters, scripts, rules', () => {
  const rule = { part: 'rules', path: 'SKILLSET.md', change: 'changed' } as const
  const items = [
    changed('a', { parts: ['rules'], causes: [rule] }),
    changed('b', { facts: { executables: ['b/run.sh'], hosts: [{ host: 'x.example', path: 'b/SKILL.md', line: 3 }] } }),
    changed('c', { facts: { commands: [{ command: 'sudo x', path: 'c/SKILL.md', line: 1 }] } }),
    changed('d', { facts: { description: { before: 'Old.', after: 'New.' }, allowedTools: { before: null, after: 'Bash' } } }),
    changed('e', { facts: { hiddenCharacters: [{ path: 'e/SKILL.md', line: 1, codePoint: 'U+202E', count: 1 }] } }),
  ]
  expect(spell(items)).toEqual([
    ['d/SKILL.md', 1, 'description', 'allowedTools'],
    ['c/SKILL.md', 1, 'command'],
    ['b/SKILL.md', 1, 'host', 'script'],
    ['e/SKILL.md', 1, 'hidden'],
    ['SKILLSET.md', 1, 'rules'],
  ])
})

test('a fact of a file that many skills receive is told once, with their number', () => {
  const facts = { commands: [{ command: 'sudo x', path: 'SKILLSET.md', line: 2 }] }
  const rule = { part: 'rules', path: 'SKILLSET.md', change: 'changed' } as const
  const items = Array.from({ length: 900 }, (_, at) => changed(`s${at}`, { parts: ['rules'], causes: [rule], facts }))
  expect(spell(items)).toEqual([['SKILLSET.md', 900, 'command', 'rules']])
})

test('a file whose path begins like a kind of item has a row of its own', () => {
  const commands = (path: string) => ({ commands: [{ command: 'sudo x', path, line: 2 }] })
  const items = [
    changed('skill a', { facts: { executables: ['skill a/run.sh'] } }),
    changed('a', { facts: commands('a/SKILL.md') }),
    changed('b', { facts: commands('skill a/SKILL.md') }),
  ]
  expect(spell(items)).toEqual([
    ['a/SKILL.md', 1, 'command'],
    ['skill a/SKILL.md', 1, 'command'],
    ['skill a/SKILL.md', 1, 'script'],
  ])
})

test('rows are whole up to a number of points, and the others are named', () => {
  const commands = (path: string) =>
    Array.from({ length: 3 }, (_, at) => ({ command: `sudo ${at}`, path: `${path}/SKILL.md`, line: at + 1 }))
  const rows = lookRows(Array.from({ length: 900 }, (_, at) => changed(`s${at}`, { facts: { commands: commands(`s${at}`) } })))
  const { open, folded, named, left } = cutRows(rows)
  expect([...open, ...folded, ...named]).toEqual(rows.slice(0, 326))
  expect([open.length, folded.length, named.length, left]).toEqual([26, 0, 300, 574])
  const short = rows.slice(0, 31).map(row => ({ ...row, points: row.points.slice(0, 1) }))
  expect(cutRows(short)).toEqual({ open: short.slice(0, 30), folded: short.slice(30), named: [], left: 0 })
  expect(cutRows([])).toEqual({ open: [], folded: [], named: [], left: 0 })
  const [large, small] = rows as [(typeof rows)[number], (typeof rows)[number]]
  const huge = { ...large, points: Array.from({ length: 999 }, () => large.points).flat() }
  expect(cutRows([huge, small])).toEqual({ open: [huge], folded: [], named: [small], left: 0 })
})

test('the description of a new skill is no change, and what it runs is', () => {
  const facts = { description: { before: null, after: 'New.' }, commands: [{ command: 'npx x', path: 'n/SKILL.md', line: 1 }] }
  expect(spell([changed('n', { change: 'added', before: null, parts: [], facts })])).toEqual([['n/SKILL.md', 1, 'command']])
})

test('a script that changed is read first, whatever its bits, and a file that is no script stands apart from words', () => {
  const cause = (path: string, change: 'added' | 'changed' | 'removed') => ({ part: 'files', path, change }) as const
  const item = changed('s', {
    parts: ['files'],
    causes: [
      cause('s/data.json', 'changed'),
      cause('s/gone.sh', 'removed'),
      cause('s/new.py', 'added'),
      cause('s/run.sh', 'changed'),
    ],
    facts: { executables: ['s/new.py'] },
  })
  const [row] = lookRows([item])
  expect(row?.points).toEqual([
    { kind: 'script', path: 's/new.py', change: 'runnable' },
    { kind: 'script', path: 's/run.sh', change: 'changed' },
  ])
  expect(untoldParts(item)).toEqual([
    {
      parts: ['files'],
      causes: [cause('s/data.json', 'changed'), cause('s/gone.sh', 'removed')].map(({ path, change }) => ({ path, change })),
    },
  ])
  const data = changed('d', { parts: ['files'], causes: [cause('d/data.json', 'changed')] })
  expect(lookRows([data])).toEqual([])
  expect(otherItems([data]).files).toEqual([data])
})

test('files of a skill that changed count in whatever group it stands', () => {
  const isTold = (given: Partial<ChangedSkill>) => haveFilesChanged(otherItems([changed('s', given)]))
  const gone = { part: 'files', path: 's/gone.sh', change: 'removed' } as const
  expect(isTold({ parts: ['files'], causes: [gone] })).toBe(true)
  expect(isTold({ parts: ['files', 'license'], causes: [gone] })).toBe(true)
  expect(isTold({ change: 'moved', movedFrom: 'r/SKILL.md', parts: ['files'], causes: [gone] })).toBe(true)
  expect(isTold({ parts: ['body', 'license'] })).toBe(false)
  expect(isTold({ change: 'added', before: null, parts: [] })).toBe(false)
})

test('a row names the parts that no point of it tells', () => {
  const facts = { description: { before: 'Old.', after: 'New.' } }
  expect(untoldParts(changed('d', { parts: ['body', 'metadata'], facts }))).toEqual([])
  const hosts = [{ host: 'x.example', path: 'd/SKILL.md', line: 1 }]
  expect(untoldParts(changed('d', { parts: ['body', 'metadata', 'license'], facts: { hosts } }))).toEqual([
    { parts: ['metadata', 'license'], causes: [] },
  ])
})

test('other items stand by what happened to them; what may run, obey or be sent stands apart from words', () => {
  const items: ChangeItem[] = [
    changed('m', { change: 'moved', movedFrom: 'l/SKILL.md', parts: [] }),
    changed('a', { change: 'added', before: null, parts: [] }),
    changed('r', { change: 'removed', after: null, parts: [] }),
    changed('l', { parts: ['license'] }),
    changed('w'),
    changed('f', { parts: ['body', 'files'] }),
    changed('h', { parts: ['metadata'] }),
    {
      kind: 'manifest',
      path: 'SKILLSET.md',
      change: 'changed',
      parts: ['exclusions'],
      skills: 0,
      before: null,
      after: null,
    },
    changed('d', { facts: { description: { before: 'Old.', after: 'New.' } } }),
  ]
  const groups = Object.entries(otherItems(items)).map(([name, group]) => [name, group.map(({ path }: ChangeItem) => path)])
  expect(groups).toEqual([
    ['moved', ['m/SKILL.md']],
    ['added', ['a/SKILL.md']],
    ['removed', ['r/SKILL.md']],
    ['license', ['l/SKILL.md']],
    ['files', ['f/SKILL.md']],
    ['frontMatter', ['h/SKILL.md']],
    ['settings', ['SKILLSET.md']],
    ['words', ['w/SKILL.md']],
  ])
})
