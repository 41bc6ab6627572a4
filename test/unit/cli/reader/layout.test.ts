import { describe, expect, test } from 'vitest'
import type { IndexedMount } from '#cli/answers.ts'
import { findLines, type OverviewLayout, overviewLines, quoted, type TextPart, textLines } from '#cli/reader/layout.ts'
import type { SkillListing } from '#core/contract/shared.ts'
import { readyMount } from '#test/site/support/answers.ts'

const paint = (_style: string, text: string) => text
const LAYOUT: OverviewLayout = {
  typed: 'gh/acme/tools',
  folder: null,
  service: null,
  width: 80,
  paint,
  all: false,
  file: null,
  folders: [],
  findings: null,
}
const mountOf = (...args: Parameters<typeof readyMount>) => readyMount(...args) as IndexedMount
const linesOf = (mount: IndexedMount, layout: Partial<OverviewLayout> = {}) => overviewLines(mount, { ...LAYOUT, ...layout })

function skill(name: string, more: Partial<SkillListing> = {}): SkillListing {
  const license = { kind: 'open', name: 'MIT', source: 'LICENSE' } as const
  return {
    path: `s/${name}/SKILL.md`,
    directory: `s/${name}`,
    name,
    description: `About ${name}.`,
    warnings: [],
    translations: {},
    license,
    tokens: 1234,
    ...more,
  }
}
const skills = (count: number) => Array.from({ length: count }, (_, index) => skill(`a${index}`))
const overview = (listed: SkillListing[]) =>
  mountOf({
    skills: listed,
    counts: { skills: listed.length, documents: 1 },
    license: { kind: 'open', name: 'MIT', source: 'LICENSE' },
  })

describe('the overview', () => {
  test('has name, facts, skills, documents and the next commands', () => {
    expect(linesOf(overview([skill('a'), skill('b', { tokens: 12, name: 'other' })]))).toEqual([
      'Tools',
      'What we work with.',
      '',
      'address   gh/acme/tools',
      `commit    ${mountOf().commit} (main)`,
      'license   MIT by LICENSE',
      'contents  2 skills, 1 document',
      '',
      '2 skills',
      '  s/a  ~1,234 tokens',
      '      About a.',
      '  s/b     ~12 tokens  named other',
      '      About b.',
      '',
      '1 document',
      '  docs/guide.md  Guide',
      '',
      'Next',
      '  mountglass read gh/acme/tools s/a        what an agent receives',
      "  mountglass find gh/acme/tools '<words>'  search skills and documents",
      '  mountglass pin gh/acme/tools             a lock file of what agents read',
    ])
  })

  test('says of a skill what differs: its license, that it is only described, its warnings', () => {
    const { tokens: _tokens, ...rest } = skill('closed', {
      license: { kind: 'restricted', name: 'Own', source: null },
      describedOnly: true,
    })
    const warned = skill('w', { warnings: [{ code: 'body.long', level: 'style', message: 'too long' }] })
    const findings = {
      counts: { look: 0, breaks: 0, style: 12 },
      items: [{ code: 'body.long', level: 'style' as const, path: 's/w/SKILL.md', line: 3, message: 'too long' }],
    }
    const lines = linesOf(overview([rest, warned]), { findings })
    expect(lines).toContain('  s/closed  text withheld  Own')
    expect(lines).toContain('  s/w       ~1,234 tokens  1 warning')
    expect(lines).toContain('12 findings: 12 of style')
    expect(lines).toContain('  · s/w/SKILL.md:3  too long [body.long]')
    expect(lines).toContain('  … and 11 more; --all shows them')
  })

  test.each([
    [3, 4],
    [30, 1],
    [31, 0],
  ])('of %i skills prints %i lines of a long description', (count, lines) => {
    const long = skills(count).map(one => ({ ...one, description: 'word '.repeat(60) }))
    expect(linesOf(overview(long)).filter(line => line.includes('word word')).length / count).toBe(lines)
    expect(linesOf(overview(long), { all: true }).filter(line => line.includes('word word')).length / count).toBe(4)
  })

  test.each([
    [80, 'docs/guide.md', 'Zero-Dependency Guide', '  docs/guide.md  Zero-Dependency Guide'],
    [80, 'docs/guide.md', 'w'.repeat(70), '  docs/guide.md'],
    [80, `docs/${'x'.repeat(55)}.md`, 'Zero-Dependency Guide', `  docs/${'x'.repeat(55)}.md`],
    [40, 'docs/guide.md', 'A title of far more words than fit', '  docs/guide.md'],
    [
      60,
      'docs/guide.md',
      'A title of far more words than fit in a line',
      '  docs/guide.md  A title of far more words than fit in a…',
    ],
  ])('of %i columns has the document %s with as much of its title %s as one line holds', (width, path, title, line) => {
    const mount = mountOf({ documents: [{ path, title, summary: '' }], counts: { skills: 0, documents: 1 } })
    expect(linesOf(mount, { width })).toContain(line)
  })

  test('names the folders to look into where not all skills are listed', () => {
    const mount = mountOf({ skills: skills(50), counts: { skills: 1234, documents: 0 }, documents: [] })
    const lines = linesOf(mount, {
      folders: [
        { path: 'docs', skills: 3 },
        { path: 'skills', skills: 1231 },
      ],
    })
    const at = lines.indexOf('  … and 1,184 more: name a folder to see those below it')
    expect(lines.slice(at + 1, at + 3)).toEqual(['      docs/    3 skills', '      skills/  1,231 skills'])
  })

  test.each([40, 80, 120])('of %i columns breaks no path, URL or command, and folds what is prose', width => {
    const directory = `${'very-long-name/'.repeat(8)}x`
    const mount = overview([skill('x', { path: `${directory}/SKILL.md`, directory, description: 'Words. '.repeat(40) })])
    const lines = linesOf(mount, { width, service: 'https://skills.example.org' })
    expect(lines).toContain(`  ${directory}  ~1,234 tokens`)
    expect(lines).toContain(`  mountglass read --service https://skills.example.org gh/acme/tools ${directory}`)
    for (const line of lines) if (/Words|work/.test(line)) expect(line.length).toBeLessThanOrEqual(width)
  })

  test('of a folder says what its commit is', () => {
    const folder = { path: '/home/a/tools', isGit: true, commit: null, isClean: false }
    const fact = (more: object) =>
      linesOf(mountOf(), { typed: '.', folder: { ...folder, ...more } }).find(line => line.startsWith('commit'))
    expect(fact({})).toBe('commit    none yet: the files are not committed')
    expect(fact({ isGit: false })).toBe('commit    none: this is not a git work tree')
    expect(fact({ commit: 'abc', isClean: true })).toBe('commit    abc')
    expect(fact({ commit: 'abc' })).toBe('commit    abc with uncommitted changes')
    expect(linesOf(mountOf(), { typed: '.', folder }).join('\n')).toMatch(/ {2}mountglass check \. +every finding/)
  })

  test('marks hidden characters, and offers no command with them', () => {
    const evil = skill('x', { path: 's/\u202Ex/SKILL.md', directory: 's/\u202Ex', description: 'Red \u001b[31m text' })
    const lines = linesOf(overview([evil, skill('$(rm -r x)')])).join('\n')
    expect(lines).toContain('s/<U+202E>x')
    expect(lines).toContain('Red <U+001B>[31m text')
    expect(lines).toContain("mountglass read gh/acme/tools 's/$(rm -r x)'")
  })
})

test.each([
  ['skills/pdf', 'skills/pdf'],
  ['a b', "'a b'"],
  ["it's", "'it'\\''s'"],
  ['', "''"],
])('a shell takes %j as %s', (word, typed) => {
  expect(quoted(word)).toBe(typed)
})

describe('texts', () => {
  const parts: TextPart[] = [
    { kind: 'rules', path: 'SKILLSET.md', content: 'Be careful.', isStart: true },
    { kind: 'skill', path: 'a/SKILL.md', content: 'One ', isStart: true },
    { kind: 'skill', path: 'a/SKILL.md', content: 'two.', isStart: false },
  ]

  test('stand under a line with their paths; fragments of one text are joined', () => {
    expect(textLines(parts, { exact: false, isTerminal: false, paint })).toBe(
      '==> SKILLSET.md (rules)\nBe careful.\n==> a/SKILL.md (skill)\nOne two.\n',
    )
  })

  test('are exact: a line end between them alone', () => {
    expect(textLines(parts, { exact: true, isTerminal: false, paint })).toBe('Be careful.\nOne two.')
  })

  test('of a page say which one it is', () => {
    const last = parts.slice(2)
    expect(textLines(last, { exact: false, isTerminal: false, paint, page: 2, pages: 2 })).toBe(
      '==> a/SKILL.md (skill, continued, page 2 of 2)\ntwo.\n',
    )
  })

  test('have control characters in a pipe, and marks of them on a terminal', () => {
    const hidden: TextPart[] = [{ kind: 'file', path: 'a', content: '\u001b[1mb\u202E\r\n\tc\n', isStart: true }]
    expect(textLines(hidden, { exact: true, isTerminal: false, paint })).toBe('\u001b[1mb\u202E\r\n\tc\n')
    expect(textLines(hidden, { exact: true, isTerminal: true, paint })).toBe('<U+001B>[1mb<U+202E>\r\n\tc\n')
  })
})

test('a search prints what was found, and how to read the first', () => {
  const items = [
    { kind: 'skill' as const, ...skill('a'), files: [{ path: 's/a/x.md', title: '', summary: '' }], moreFiles: 0 },
    { kind: 'document' as const, path: 'docs/b.md', title: 'B', summary: 'About b.' },
  ]
  const found = { status: 'ready' as const, query: 'a', commit: 'c', items, diagnostics: [], nextCursor: null }
  expect(findLines(found, LAYOUT)).toEqual([
    '  s/a  skill',
    '      About a.',
    '      in s/a/x.md',
    '  docs/b.md  document',
    '      B: About b.',
    '',
    'Next',
    '  mountglass read gh/acme/tools s/a  what an agent receives',
  ])
  expect(findLines({ ...found, items: [] }, LAYOUT)).toEqual(['No skill or document has the words "a".'])
})
