import { describe, expect, test } from 'vitest'
import { withMessage } from '#core/finding-messages.ts'
import { INDEXED_TEXT_BYTES, READABLE_FILE_BYTES, SKILLS } from '#core/limits.ts'
import { type PlannedContent, planOf } from '#test/support/planned.ts'
import { MIT, skillText } from '../../../api/support/texts.ts'
import { APACHE } from './license-texts.ts'

/** Paths with what they are, and the skill that owns them. */
function planned(files: Record<string, PlannedContent>): string[] {
  return planOf(files).plan.files.map(({ file, kind, owner }) => `${file.path}: ${kind}${owner ? ` of ${owner.skill.path}` : ''}`)
}

describe('the role of every file', () => {
  test.each<[string, Record<string, PlannedContent>, string[]]>([
    [
      'outside of skills',
      {
        'SKILLSET.md': '---\n---\n',
        'README.md': '',
        'AGENTS.md': '',
        LICENSE: '',
        'a.md': '',
        'a.ts': '',
        '.github/a.md': '',
        'vendor/a.md': '',
        'x/README.zh-CN.md': '',
      },
      [
        'LICENSE: community',
        'AGENTS.md: community',
        'README.md: overview',
        'SKILLSET.md: manifest',
        'a.md: document',
        'x/README.zh-CN.md: overview',
      ],
    ],
    [
      'inside of a skill: everything, but links that lead nowhere',
      {
        'a/SKILL.md': skillText('a'),
        'a/.hidden/x.ts': '',
        'a/README.md': '',
        'a/pic.png': '',
        'a/link.md': { link: 'none.md' },
      },
      [
        'a/.hidden/x.ts: supporting of a/SKILL.md',
        'a/README.md: supporting of a/SKILL.md',
        'a/SKILL.md: skill of a/SKILL.md',
        'a/pic.png: supporting of a/SKILL.md',
      ],
    ],
    [
      'the nearest skill owns',
      { 'a/SKILL.md': skillText('a'), 'a/b/SKILL.md': skillText('b'), 'a/b/c/x.md': '', 'a/c/x.md': '' },
      [
        'a/SKILL.md: skill of a/SKILL.md',
        'a/b/SKILL.md: skill of a/b/SKILL.md',
        'a/b/c/x.md: supporting of a/b/SKILL.md',
        'a/c/x.md: supporting of a/SKILL.md',
      ],
    ],
    [
      'a skill at the root owns the root and the folders of the convention',
      { 'SKILL.md': skillText('root'), 'x.txt': '', 'scripts/deep/run.py': '', 'docs/a.md': '', 'docs/a.ts': '' },
      [
        'SKILL.md: skill of SKILL.md',
        'docs/a.md: document',
        'scripts/deep/run.py: supporting of SKILL.md',
        'x.txt: supporting of SKILL.md',
      ],
    ],
    [
      'an excluded SKILL.md owns nothing',
      { 'SKILLSET.md': '---\nexclude: [/a/SKILL.md]\n---\n', 'a/SKILL.md': skillText('a'), 'a/x.md': '', 'a/x.ts': '' },
      ['SKILLSET.md: manifest', 'a/x.md: document'],
    ],
    [
      'a manifest in a skill folder stays one',
      { 'a/SKILL.md': skillText('a'), 'a/SKILLSET.md': '---\n---\n' },
      ['a/SKILL.md: skill of a/SKILL.md', 'a/SKILLSET.md: manifest'],
    ],
    ['nothing of a closed folder', { 'a/SKILLSET.md': '---\nbroken', 'a/SKILL.md': skillText('a'), 'a/x/b.md': '' }, []],
    ['no skill of generated folders', { 'node_modules/a/SKILL.md': skillText('a'), '__pycache__/SKILL.md': skillText('b') }, []],
    ['a missing blob is nothing', { 'a.md': { sizeBytes: null }, 'b.md': '' }, ['b.md: document']],
  ])('%s', (_name, files, expected) => {
    expect(planned(files).toSorted()).toEqual(expected.toSorted())
  })
})

describe('skills', () => {
  test('have the skill that encloses them, and list those directly inside', () => {
    const { skill } = planOf({
      'a/SKILL.md': skillText('a'),
      'a/x/b/SKILL.md': skillText('b'),
      'a/x/b/c/SKILL.md': skillText('c'),
      'd/SKILL.md': skillText('d'),
    })
    const nestedOf = (path: string) => skill(path).nested.map(({ skill }) => skill.path)
    expect([nestedOf('a/SKILL.md'), nestedOf('a/x/b/SKILL.md')]).toEqual([['a/x/b/SKILL.md'], ['a/x/b/c/SKILL.md']])
    expect(skill('a/x/b/c/SKILL.md').enclosing?.skill.path).toBe('a/x/b/SKILL.md')
    expect(skill('d/SKILL.md').enclosing).toBeNull()
    expect(skill('a/x/b/SKILL.md').warnings).toContainEqual({
      code: 'skill.nested',
      values: { path: 'a/SKILL.md' },
    })
  })

  test('below one at the root, or below one that carries several, are there on purpose', () => {
    const below = (folder: string, names: string) => [...names].map(name => [`${folder}${name}/SKILL.md`, skillText(name)])
    const warned = (files: [string, string][]) => {
      const { plan } = planOf(Object.fromEntries(files))
      return plan.skills.filter(({ warnings }) => warnings.some(({ code }) => code === 'skill.nested')).length
    }
    expect(warned([['SKILL.md', skillText('r')], ...below('skills/', 'ab')] as [string, string][])).toBe(0)
    expect(warned([['r/SKILL.md', skillText('r')], ...below('r/skills/', 'abc')] as [string, string][])).toBe(0)
    expect(warned([['r/SKILL.md', skillText('r')], ...below('r/skills/', 'ab')] as [string, string][])).toBe(2)
  })

  test('of one name name each other, except internal ones and copies', () => {
    const internal = 'metadata: { internal: true }\n'
    const { skill } = planOf({
      'a/x/SKILL.md': skillText('x'),
      'b/x/SKILL.md': skillText('x', 'Other.\n'),
      '.agents/x/SKILL.md': skillText('x', 'Other.\n'),
      'd/x/SKILL.md': skillText('x', 'Internal.\n', internal),
      'e/y/SKILL.md': skillText('y'),
      'f/y/SKILL.md': skillText('y'),
      'g/x/SKILL.md': skillText('x', 'Third.\n'),
    })
    const warnings = (path: string) =>
      skill(path)
        .warnings.map(withMessage)
        .map(({ code, message }) => `${code}: ${message}`)
    const more = 'and 1 more have this name, too'
    expect(warnings('a/x/SKILL.md')).toEqual([`name.duplicate: b/x/SKILL.md ${more}`])
    expect(warnings('b/x/SKILL.md')).toEqual([`name.duplicate: a/x/SKILL.md ${more}`])
    expect(warnings('.agents/x/SKILL.md')).toEqual([`name.duplicate: a/x/SKILL.md ${more}`])
    expect(warnings('d/x/SKILL.md')).toEqual([])
    expect([...warnings('e/y/SKILL.md'), ...warnings('f/y/SKILL.md')]).toEqual([])
  })

  test('of one name name the only other one', () => {
    const { skill } = planOf({ 'a/x/SKILL.md': skillText('x'), 'b/x/SKILL.md': skillText('x', 'Other.\n') })
    expect(skill('a/x/SKILL.md').warnings.map(warning => withMessage(warning).message)).toEqual([
      'b/x/SKILL.md has this name, too',
    ])
  })
})

describe('delivery of files', () => {
  const files = {
    LICENSE: MIT,
    'open/SKILL.md': skillText('open'),
    'open/x.md': '',
    'closed/SKILL.md': skillText('closed', 'B.\n', 'license: Proprietary\n'),
    'closed/x.md': '',
    'closed/open/LICENSE': MIT,
    'closed/open/x.md': '',
    'docs/a.md': '',
    'docs/LICENSE': 'All rights reserved.\n',
  }

  test('follows the license of the skill, or of the nearest folder that has one', () => {
    const { plan } = planOf(files)
    expect(plan.files.filter(({ served }) => !served).map(({ file }) => file.path)).toEqual([
      'closed/SKILL.md',
      'closed/x.md',
      'docs/LICENSE',
      'docs/a.md',
    ])
    expect(plan.skills.map(({ skill, full }) => [skill.path, full])).toEqual([
      ['closed/SKILL.md', false],
      ['open/SKILL.md', true],
    ])
  })

  test('is everything in a private repository', () => {
    const { plan } = planOf(files, 'private')
    expect(plan.files.every(({ served }) => served) && plan.skills.every(({ full }) => full)).toBe(true)
  })
})

test('of an excluded license file neither the path nor the words that point to it are named', () => {
  const { plan, skill } = planOf({
    'SKILLSET.md': '---\nlicense: see legal/TERMS.md\nexclude: [legal/]\n---\n',
    'legal/TERMS.md': 'All rights reserved.\n',
    'a/SKILL.md': skillText('a'),
  })
  expect(skill('a/SKILL.md').license.license).toEqual({ kind: 'restricted', name: null, source: null })
  expect(plan.files.filter(({ served }) => served)).toEqual([])
})

test('files of a skill beyond the limit of skills are not served, including its SKILL.md', () => {
  const folders = Array.from({ length: SKILLS + 1 }, (_, index) => `s${String(index).padStart(5, '0')}`)
  const { plan } = planOf({
    LICENSE: MIT,
    ...Object.fromEntries(folders.map(folder => [`${folder}/SKILL.md`, skillText(folder)])),
    [`${folders.at(-2)}/x.md`]: '',
    [`${folders.at(-1)}/x.md`]: '',
  })
  expect(plan.files.filter(({ served }) => !served).map(({ file }) => file.path)).toEqual([
    `${folders.at(-1)}/SKILL.md`,
    `${folders.at(-1)}/x.md`,
  ])
})

test('no warning and no diagnostic names the path of an excluded license file', () => {
  const { plan, skill } = planOf({
    'SKILLSET.md': '---\nlicense: MIT\nexclude: [/LICENSE, /a/LICENSE.md, legal/]\n---\n',
    LICENSE: APACHE,
    'a/SKILL.md': skillText('a', 'Body.\n', 'license: 0BSD\n'),
    'a/LICENSE.md': APACHE,
    'b/SKILL.md': skillText('b', 'Body.\n', 'license: see ../legal/TERMS.md\n'),
    'b/LICENSE': MIT,
    'legal/TERMS.md': 'All rights reserved.\n',
    'page.md': '',
  })
  const { diagnostics } = plan
  const told = [...diagnostics, ...skill('a/SKILL.md').warnings, ...skill('b/SKILL.md').warnings]
  expect(told.filter(({ code }) => code === 'license.conflict').map(one => withMessage(one).message)).toEqual([
    'the declared license 0BSD conflicts with Apache-2.0 in a withheld file',
    'the declared license text conflicts with MIT in b/LICENSE',
    'the declared license MIT conflicts with Apache-2.0 in a withheld file',
    'the declared license 0BSD conflicts with Apache-2.0 in a withheld file',
    'the declared license text conflicts with MIT in b/LICENSE',
  ])
})

describe('beyond the text of a snapshot', () => {
  const count = INDEXED_TEXT_BYTES / READABLE_FILE_BYTES
  const filled = (nameOf: (index: number) => string) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [nameOf(index), full]))
  const full = { sizeBytes: READABLE_FILE_BYTES }
  const around = { LICENSE: MIT, 'a/SKILL.md': skillText('a'), 'a/b.md': full, 'z.md': full, 'b/SKILL.md': skillText('b') }
  const leftOut = (files: Record<string, PlannedContent>) => {
    const { plan } = planOf({ ...around, ...files })
    const kept = new Set<string>(plan.files.map(({ file }) => file.path))
    return [Object.keys({ ...around, ...files }).filter(path => !kept.has(path)), plan.truncated]
  }

  test('pictures take no room', () => {
    expect(leftOut(filled(index => `a/${index}.png`))).toEqual([[], false])
  })

  test('code and data of skills make room for documents', () => {
    expect(leftOut(filled(index => `a/${String(index).padStart(3, '0')}.json`))).toEqual([
      ['a/125.json', 'a/126.json', 'a/127.json'],
      true,
    ])
  })

  test('copies of a file count once', () => {
    const copies = filled(index => `${String(index).padStart(3, '0')}.md`)
    const oid = '1'.repeat(40)
    expect(leftOut(Object.fromEntries(Object.keys(copies).map(path => [path, { ...full, oid }])))).toEqual([[], false])
  })

  test('documents make room for the prose of skills', () => {
    expect(leftOut(filled(index => `${String(index).padStart(3, '0')}.md`))).toEqual([['z.md', '126.md', '127.md'], true])
  })
})

describe('diagnostics of files', () => {
  test.each<[string, Record<string, PlannedContent>, [string, string][]]>([
    ['another spelling', { 'a/skill.md': '' }, [['skill.file_name', 'a/skill.md']]],
    ['a missing blob', { 'a.md': { sizeBytes: null } }, [['file.unreadable', 'a.md']]],
    [
      'a license that is unknown',
      { LICENSE: 'Do as I say.\n', 'a/SKILL.md': skillText('a') },
      [['license.unrecognized', 'LICENSE']],
    ],
    ['a license of documents that is unknown', { LICENSE: 'Do as I say.\n', 'a.md': '' }, [['license.unrecognized', 'LICENSE']]],
    [
      'a license of a manifest that is unknown, whether it governs anything or not',
      { 'a/SKILLSET.md': '---\nlicense: Ours\n---\n', 'a/b/LICENSE': MIT, 'a/b/x.md': '' },
      [['license.unrecognized', 'a/SKILLSET.md']],
    ],
    ['a license that governs nothing', { 'a/LICENSE': 'Do as I say.\n', 'b/x.md': '' }, []],
  ])('%s', (_name, files, expected) => {
    expect(planOf(files).plan.diagnostics.map(({ code, path }) => [code, path])).toEqual(expected)
  })
})
