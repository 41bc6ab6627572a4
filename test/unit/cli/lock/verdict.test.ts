import { describe, expect, test } from 'vitest'
import { exitCodeOf, judge } from '#cli/lock/compare-pins.ts'
import type { PinnedAddress, PinnedSkill } from '#cli/lock/lock-file.ts'
import { formatVerdicts } from '#cli/lock/report.ts'

const commit = (digit: string) => digit.repeat(40)
const digest = (digit: string) => digit.repeat(64)
const texts = (digests: Record<string, string>) =>
  Object.entries(digests).map(([path, digit]) => ({ path, sha256: digest(digit) }))
const MIT = { kind: 'open', name: 'MIT', source: 'LICENSE' } as const
const skill = (path: string, body: string, files: Record<string, string> = {}): PinnedSkill => ({
  path,
  sha256: digest(body),
  metadata: digest('9'),
  license: MIT,
  rules: texts({ 'SKILLSET.md': '7' }),
  body: digest(body),
  includes: texts({ 'shared.md': '8' }),
  files: texts({ [path]: body, ...files }),
})
/** Of which name and description alone are delivered. */
const described = (path: string, metadata: string, license: PinnedSkill['license']): PinnedSkill => {
  const texts = { rules: [], body: null, includes: [], files: [] }
  return { path, sha256: null, delivery: 'described', metadata: digest(metadata), license, ...texts }
}
const pin = (skills: PinnedSkill[], more: Partial<PinnedAddress> = {}): PinnedAddress => ({
  address: '/gh/acme/tools@main',
  commit: commit('1'),
  skills,
  ...more,
})
const A = skill('a/SKILL.md', '1', { 'a/x.py': '2' })
const plain = (_style: string, text: string) => text
const written = { paint: plain, width: 200 }
const linesOf = (before: PinnedAddress, after: PinnedAddress) => formatVerdicts([judge(before, { pin: after })], written)

test('an unchanged pin is the same', () => {
  expect(judge(pin([A]), { pin: pin([A]) })).toEqual({
    address: '/gh/acme/tools@main',
    status: 'same',
    commit: commit('1'),
    skills: 1,
  })
  expect(exitCodeOf([judge(pin([A]), { pin: pin([A]) })], false)).toBe(0)
})

test('a commit that moved is a difference, or none on request if no skill changed', () => {
  const moved = judge(pin([A]), { pin: pin([A], { commit: commit('2') }) })
  expect(moved).toMatchObject({ status: 'different', commit: { before: commit('1'), after: commit('2') }, skills: [] })
  expect([exitCodeOf([moved], false), exitCodeOf([moved], true)]).toEqual([1, 0])
  const changed = judge(pin([A]), { pin: pin([], { commit: commit('2') }) })
  expect([exitCodeOf([changed], false), exitCodeOf([changed], true)]).toEqual([1, 1])
})

describe('a line reports of a skill', () => {
  test.each<[string, PinnedSkill[], PinnedSkill[], string]>([
    ['that a rule changed', [A], [{ ...A, rules: texts({ 'SKILLSET.md': '3' }) }], '~ a/SKILL.md  rules by SKILLSET.md'],
    [
      'that its own text changed',
      [A],
      [{ ...skill('a/SKILL.md', '3', { 'a/x.py': '2' }), metadata: digest('4') }],
      '~ a/SKILL.md  body, metadata',
    ],
    [
      'every part that changed, each with the files behind it',
      [A],
      [
        {
          ...skill('a/SKILL.md', '3', { 'a/x.py': '5' }),
          rules: texts({ 'SKILLSET.md': '6', 'a/SKILLSET.md': '1' }),
          includes: texts({ 'other.md': '8' }),
          license: { ...MIT, source: 'package.json' },
        },
      ],
      '~ a/SKILL.md  rules by SKILLSET.md, a/SKILLSET.md (added); body; includes by other.md (added), shared.md (removed); files by a/x.py; license by LICENSE (removed), package.json (added)',
    ],
    [
      'that its front matter changed where agents do not read it',
      [A],
      [skill('a/SKILL.md', '1', { 'a/x.py': '2', 'a/SKILL.md': '4' })],
      '~ a/SKILL.md  metadata',
    ],
    [
      'which files changed',
      [A],
      [skill('a/SKILL.md', '1', { 'a/y.py': '2' })],
      '~ a/SKILL.md  files by a/x.py (removed), a/y.py (added)',
    ],
    [
      'that a file became too large',
      [A],
      [{ ...A, files: [...texts({ 'a/SKILL.md': '1' }), { path: 'a/x.py', sha256: null }] }],
      '~ a/SKILL.md  files by a/x.py',
    ],
    [
      'that something is missing now',
      [A],
      [{ ...A, sha256: null, delivery: 'incomplete', includes: [] }],
      '~ a/SKILL.md  in full → incomplete; includes by shared.md (removed); serving',
    ],
    ['that it is missing', [A], [], '- a/SKILL.md  gone'],
    ['that it is new', [], [A], '+ a/SKILL.md  new'],
    [
      'that its text is withheld now',
      [A],
      [described(A.path, '9', { kind: 'none', name: null, source: null })],
      '~ a/SKILL.md  in full → text withheld; license, serving by LICENSE (removed)',
    ],
    [
      'that another description is delivered, where nothing else is',
      [described(A.path, '1', MIT)],
      [described(A.path, '2', MIT)],
      '~ a/SKILL.md  metadata',
    ],
  ])('%s', (_what, before, after, line) => {
    expect(linesOf(pin(before), pin(after)).map(one => one.trim())).toContain(line)
  })
})

test('a skill with the same SKILL.md elsewhere has moved, with its files', () => {
  const before = skill('a/SKILL.md', '1', { 'a/x.py': '2', 'a/y.py': '3' })
  const after = {
    ...skill('b/c/SKILL.md', '1', { 'b/c/x.py': '2', 'b/c/y.py': '4' }),
    rules: texts({ 'SKILLSET.md': '5' }),
  }
  const verdict = judge(pin([before]), { pin: pin([after]) })
  expect(verdict).toMatchObject({
    skills: [{ path: 'b/c/SKILL.md', movedFrom: 'a/SKILL.md', change: 'moved', parts: ['rules', 'files'] }],
  })
  expect(exitCodeOf([verdict], true)).toBe(1)
  expect(linesOf(pin([before]), pin([after])).map(one => one.trim())).toContain(
    '→ b/c/SKILL.md  moved from a/SKILL.md; rules by SKILLSET.md; files by b/c/y.py',
  )
  // Each old place is left once.
  const copies = judge(pin([before]), { pin: pin([after, skill('d/SKILL.md', '1')]) })
  expect('skills' in copies && Array.isArray(copies.skills) ? copies.skills.map(one => one.change) : []).toEqual([
    'moved',
    'added',
  ])
})

test('skills that one rule elsewhere changes are reported together', () => {
  const all = ['a', 'b', 'c', 'd', 'e'].map(name => skill(`${name}/SKILL.md`, '1'))
  const changed = all.map((one, index) => (index === 1 ? one : { ...one, rules: texts({ 'SKILLSET.md': '2' }) }))
  expect(linesOf(pin(all), pin(changed)).join('\n')).toContain(
    '    ~ 4 skills  rules by SKILLSET.md\n        a/SKILL.md, c/SKILL.md, d/SKILL.md and 1 more\n',
  )
})

test('a name with hidden characters is shown with them marked', () => {
  const hidden = skill('a\u202e/SKILL.md', '1')
  expect(linesOf(pin([]), pin([hidden])).join('\n')).toContain('a<U+202E>/SKILL.md')
})

test('a repository with a new name is a difference, and its name in another case is none', () => {
  const renamed = judge(pin([A]), { pin: pin([A], { address: '/gh/acme/utensils@main' }) })
  expect(renamed).toMatchObject({ status: 'different', renamedTo: '/gh/acme/utensils@main' })
  expect(exitCodeOf([renamed], true)).toBe(1)
  expect(judge(pin([A]), { pin: pin([A], { address: '/gh/Acme/Tools@main' }) }).status).toBe('same')
  expect(judge(pin([A]), { pin: pin([A], { address: '/gh/acme/tools@Main' }) }).status).toBe('different')
})

test('skills absent from a partial index are unknown, and never gone', () => {
  const verdict = judge(pin([A]), { pin: pin([], { partial: true }) })
  expect(verdict).toMatchObject({ status: 'unverified', error: { code: 'index.partial' } })
  expect(exitCodeOf([verdict], false)).toBe(3)
  const moved = judge(pin([A]), { pin: pin([], { partial: true, commit: commit('2') }) })
  expect(moved).toMatchObject({ status: 'different', skills: [], unknown: ['a/SKILL.md'] })
  expect(exitCodeOf([moved], true)).toBe(3)
})

test('a difference outweighs an unread address', () => {
  const unread = judge(pin([A]), { error: { code: 'mount.unavailable', message: 'later' }, isGone: false })
  const gone = judge(pin([A]), { error: { code: 'mount.repo_not_found', message: 'none' }, isGone: true })
  expect([unread.status, gone.status]).toEqual(['unverified', 'gone'])
  expect([exitCodeOf([unread], false), exitCodeOf([unread, gone], false), exitCodeOf([gone], true)]).toEqual([3, 1, 1])
})

test('addresses and skills stand in columns, and lines of a narrow terminal break between words', () => {
  const long = pin([skill('skills/long/SKILL.md', '1'), A], { address: '/gh/acme/a-tool@main' })
  const after = { ...long, commit: commit('2'), skills: [skill('skills/long/SKILL.md', '3')] }
  const gone = judge(pin([A]), { error: { code: 'mount.repo_not_found', message: 'none' }, isGone: true })
  const verdicts = [judge(pin([A]), { pin: pin([A]) }), judge(long, { pin: long }), judge(long, { pin: after }), gone]
  const [same, other, ...rest] = formatVerdicts(verdicts, written)
  expect([same, other].map(line => line?.indexOf('same:'))).toEqual([24, 24])
  expect(rest).toEqual([
    '~ /gh/acme/a-tool@main',
    `    moved from ${commit('1')} to ${commit('2')}`,
    '    - a/SKILL.md            gone',
    '    ~ skills/long/SKILL.md  body',
    '- /gh/acme/tools@main  gone: none [mount.repo_not_found]',
    '',
    '4 addresses: 1 different, 1 gone, 2 same',
  ])
  const narrow = formatVerdicts(verdicts, { ...written, width: 30 })
  expect(narrow.slice(6, 10)).toEqual(['~ /gh/acme/a-tool@main', '    moved from', `    ${commit('1')}`, '    to'])
})
