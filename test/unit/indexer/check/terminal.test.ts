import { describe, expect, test } from 'vitest'
import { keepFinding } from '#core/finding-messages.ts'
import { printable } from '#core/hidden-text.ts'
import { type Paint, widthOf } from '#indexer/check/fold.ts'
import { withChanges } from '#indexer/check/report.ts'
import type { Checked, Finding, SkillReport } from '#indexer/check/schema.ts'
import { formatFailure, formatJson, formatReport } from '#indexer/check/terminal.ts'
import { messageOf, reason } from '#words/findings.ts'
import type { Values } from '#words/t.ts'

const plain: Paint = (_style, text) => text
const MIT = { kind: 'open', name: 'MIT', source: 'LICENSE' } as const
const NONE = { kind: 'none', name: null, source: null } as const
const OPTIONS = { paint: plain, all: false, verbose: false, milliseconds: 1_234, width: 200, linkTo: () => null }
/** As `-v` prints. */
const VERBOSE = { ...OPTIONS, verbose: true, all: true }

test('the report ends with the faults, followed by the summary', () => {
  const report = checked({
    findings: [
      finding({
        severity: 'error',
        path: 'a/SKILL.md',
        line: 5,
        field: 'include',
        message: 'there is no x',
        code: 'include.missing',
        advice: 'add it',
      }),
      finding({ severity: 'warning', path: '', message: 'left out', code: 'tree.limit' }),
    ],
    totals: { errors: 1, warnings: 1, infos: 0, full: 2, described: 1, incomplete: 1, tokens: 12_345 },
    skills: [
      full('b/SKILL.md'),
      { ...full('c/SKILL.md'), delivery: { kind: 'described', reason: 'no license is declared' }, license: NONE },
      full('a/SKILL.md', { complete: false, pages: 2, characters: 20_000, bytes: 20_010, tokens: 5_000 }),
    ],
  })
  expect(formatReport(report, OPTIONS)).toBe(
    `3 skills  tokens  pages  findings
  a       ~5,000      2  ✗ 1       incomplete
  c                                text withheld, no license
  b           ~3

1 warning
  ! .  left out [tree.limit]

1 error
  ✗ a/SKILL.md:5  include: there is no x → add it [include.missing]

✗ 1 error, 1 warning · 3 skills (1 in full, 1 incomplete, 1 withheld), ~12,345 tokens · MIT · 1.2 s
`,
  )
})

describe('24 skills', () => {
  const names = Array.from({ length: 24 }, (_, number) => `skill-${'long-'.repeat(number % 5)}${number}`)
  const skills = names.map((name, number) => full(`skills/${name}/SKILL.md`, { pages: 1 + (number % 3), files: ['x.md'] }))
  const findings = names.map(name => finding({ path: `skills/${name}/SKILL.md`, line: 2, skill: `skills/${name}/SKILL.md` }))
  const report = checked({ skills, findings, totals: totals({ full: 24, warnings: 24, tokens: 1_234_567 }) })

  test('take 24 lines on 80 columns, with folder, tokens, pages, files and findings', () => {
    const lines = formatReport(report, { ...OPTIONS, width: 80 }).split('\n')
    expect(lines[0]).toMatch(/^24 skills +tokens {2}pages {2}files {2}findings$/)
    const rows = lines.slice(1, lines.indexOf(''))
    expect(rows).toHaveLength(24)
    expect(rows[2]).toMatch(/^ {2}skills\/skill-long-long-2 +~3 {6}3 {6}1 {2}! 1$/)
    expect(new Set(rows.map(row => row.indexOf('!')))).toHaveLength(1)
  })

  test('take a line each beside one with a remark that does not fit, which stands below its row', () => {
    const remarked = { ...full('skills/long/SKILL.md'), name: 'another-name-'.repeat(3) }
    const lines = formatReport({ ...report, skills: [...skills, remarked] }, { ...OPTIONS, width: 80 }).split('\n')
    const rows = lines.slice(1, lines.indexOf(''))
    expect(rows).toHaveLength(26)
    expect(rows.filter(row => !row.startsWith('  skills/'))).toEqual([`      named ${remarked.name}`])
  })

  test('are followed by what to do, once, and by one line of sum', () => {
    const lines = formatReport(report, { ...OPTIONS, width: 80 })
      .trimEnd()
      .split('\n')
    expect(lines.filter(line => line.includes('[body.long]'))).toHaveLength(1)
    expect(lines.filter(line => line.includes('SKILL.md:2'))).toHaveLength(10)
    expect(lines.at(-5)).toBe('  ! skills/skill-long-long-long-long-9/SKILL.md:2')
    expect(lines.slice(-4)).toEqual([
      '    … and 14 more; --all shows them',
      '    long [body.long]',
      '',
      '✓ 0 errors, 24 warnings · 24 skills, ~1,234,567 tokens · MIT · 1.2 s',
    ])
  })
})

test('a license is shown only where it differs from that of the whole, a name only where the folder has another', () => {
  const skills = [
    full('a/SKILL.md'),
    { ...full('b/SKILL.md'), name: 'other', license: { ...MIT, source: 'b/LICENSE' } },
    { ...full('c/SKILL.md'), listed: false, license: { ...MIT, name: 'Apache-2.0' } },
  ]
  const [, ...rows] = formatReport(checked({ skills }), OPTIONS).split('\n')
  expect(rows.slice(0, 3)).toEqual([
    '  a           ~3',
    '  b           ~3  named other',
    '  c           ~3  internal, Apache-2.0',
  ])
})

test('findings of one code have what to do once, and their sentences where they differ', () => {
  const broken = (path: string, line: number, message: string) =>
    finding({ path, line, message, code: 'reference.broken', advice: 'correct the path' })
  const report = checked({
    findings: [
      broken('a/SKILL.md', 3, 'x.md leads to nothing'),
      finding({ path: 'a/SKILL.md' }),
      broken('long/SKILL.md', 12, 'y.md leads to nothing'),
      finding({ path: 'b/SKILL.md' }),
    ],
  })
  expect(formatReport(report, OPTIONS)).toContain(`4 warnings
  ! a/SKILL.md:3      x.md leads to nothing
  ! long/SKILL.md:12  y.md leads to nothing
    → correct the path [reference.broken]
  ! a/SKILL.md
  ! b/SKILL.md
    long [body.long]
`)
})

test('files are links where the terminal has them', () => {
  const report = checked({ skills: [full('skills/a/SKILL.md')], findings: [finding({ path: 'skills/a/SKILL.md', line: 7 })] })
  const linkTo = (path: string, line?: number) => `file://host/${path}${line ?? ''}`
  const link = (url: string, text: string) => `\u001B]8;;${url}\u001B\\${text}\u001B]8;;\u001B\\`
  const text = formatReport(report, { ...OPTIONS, linkTo })
  expect(text).toContain(`  ${link('file://host/skills/a/SKILL.md', 'skills/a')}      ~3`)
  expect(text).toContain(`  ! ${link('file://host/skills/a/SKILL.md7', 'skills/a/SKILL.md:7')}  long [body.long]`)
})

test('the head says what is not the rule', () => {
  const head = (change: Partial<Checked>) => formatReport(checked(change), OPTIONS).split('\n\n')[0]
  expect(head({})).toMatch(/^! 0 errors/)
  expect(head({ folder: 'skills', source: 'folder', visibility: 'private' })).toBe(
    'the folder skills, with the rules above it; all files: this is not a git work tree; as a private repository',
  )
  expect(formatReport(checked({}), VERBOSE)).toMatch(
    /^What agents receive from the whole repository\nfiles that git would commit; as a public repository\n/,
  )
})

test('a skill lists its texts in reading order, and its other files', () => {
  const skill = full('skills/pdf/SKILL.md', {
    rules: [piece('SKILLSET.md'), piece('skills/SKILLSET.md')],
    includes: [piece('shared.md')],
    files: Array.from({ length: 8 }, (_, number) => `skills/pdf/references/${number}.md`),
    references: ['x.md'],
    outside: ['y.md', 'z.md'],
    oversized: [{ path: 'big.md', bytes: 2_000_000 }],
  })
  const report = checked({ skills: [{ ...skill, name: 'Documents', listed: false }] })
  const text = formatReport(report, { ...VERBOSE, all: false, width: 400 })
  expect(text).toContain(`  skills/pdf      ~3      8  internal, named Documents
      10 characters, 10 bytes; MIT by LICENSE
      internal: not listed, loaded only by its path
      reads SKILLSET.md → skills/SKILLSET.md → body → shared.md
      8 files: references/0.md, references/1.md, references/2.md, references/3.md, references/4.md, references/5.md and 2 more; \
1 reference; 2 references outside the folder; 1 file too large to read
`)
  expect(formatReport(report, { ...VERBOSE, width: 400 })).toContain(
    'references/5.md, references/6.md, references/7.md; 1 reference',
  )
})

test('columns stand below each other in scripts whose letters are wide', () => {
  const text = formatReport(
    checked({ skills: [full('漢字/SKILL.md'), full('abcd/SKILL.md'), full('e\u0301fgh/SKILL.md')] }),
    OPTIONS,
  )
  const lines = text.split('\n').slice(1, 4)
  expect(lines.map(line => line.replace(/^ {2}\S+/, ''))).toEqual(Array(3).fill(lines[1]?.replace('  abcd', '')))
})

describe('only a path or one word is longer than the terminal', () => {
  const paths = [
    `folder/${'deep/'.repeat(30)}end`,
    `${'長い名前/'.repeat(20)}SKILL.md:12`,
    `${'long/'.repeat(40)}`,
    `${'技能/'.repeat(29)}技能`,
  ]
  const report = checked({
    folder: paths[0] as string,
    truncated: true,
    findings: [
      finding({
        severity: 'error',
        path: `${'長い名前/'.repeat(20)}SKILL.md`,
        line: 12,
        message: 'wrong '.repeat(40),
        advice: 'mend it',
      }),
      finding({ severity: 'warning', path: 'a/SKILL.md', message: `長い説明。${'とても長い。'.repeat(30)}`, costsSkills: 3 }),
      finding({ severity: 'info', path: 'b.md', message: '😀 '.repeat(60) }),
    ],
    changes: { mended: [finding({ path: 'long/'.repeat(40), message: 'was wrong' })], added: [] },
    skills: [
      full(`${'技能/'.repeat(30)}SKILL.md`, { rules: [piece('SKILLSET.md')] }),
      { ...full('c/SKILL.md'), delivery: { kind: 'described', reason: 'no license is declared '.repeat(9) }, license: NONE },
    ],
  })

  test.each([40, 80, 121])('of %i columns', width => {
    for (const options of [OPTIONS, VERBOSE]) {
      const lines = formatReport(report, { ...options, width }).split('\n')
      const long = lines.filter(line => widthOf(line) > width)
      expect(long.filter(line => !paths.some(path => line.replace(/^ *[✗✓] | *[,;]?$/g, '').trim() === path))).toEqual([])
      expect(lines.join('\n')).toContain(paths[1])
    }
    const failure = formatFailure('index.too_large', 'too many '.repeat(30), { paint: plain, width })
    expect(failure.split('\n').filter(line => widthOf(line) > width)).toEqual([])
  })
})

test('a skill whose folder is too long for its column has its columns on the next line', () => {
  const skills = [full('a/SKILL.md'), full(`${'deep/'.repeat(14)}b/SKILL.md`)]
  expect(formatReport(checked({ skills }), { ...OPTIONS, width: 60 })).toContain(
    `  a           ~3\n  ${'deep/'.repeat(14)}b\n              ~3\n`,
  )
})

test('a fault that costs skills has their number', () => {
  const text = formatReport(
    checked({ findings: [finding({ severity: 'error', path: 'SKILLSET.md', line: 3, costsSkills: 12 })] }),
    OPTIONS,
  )
  expect(text).toContain('SKILLSET.md:3  long (costs 12 skills) [body.long]')
})

test.each<[string, Partial<Checked>, RegExp]>([
  ['only described skills', { skills: [described('a/SKILL.md')], totals: totals({ described: 1 }) }, /^! 0 errors/m],
  ['no file', { delivered: 'empty' }, /^! 0 errors.* · nothing is delivered in full/m],
  [
    'only described documents',
    { documents: [{ path: 'a.md', title: 'A', summary: '', license: NONE, describedOnly: true }] },
    /^! /m,
  ],
  ['a document', { documents: [{ path: 'a.md', title: 'A', summary: '' }] }, /^✓ /m],
  ['a skill', { skills: [full('a/SKILL.md')], totals: totals({ full: 1 }) }, /^✓ /m],
])('the sign of the summary where agents receive %s', (_what, change, summary) => {
  expect(formatReport(checked(change), OPTIONS)).toMatch(summary)
})

test('a check that is repeated says what was mended and what is new, and a moved finding is the same', () => {
  const [gone, added] = [finding({ code: 'body.empty', message: 'gone' }), finding({ message: 'new' })]
  const at = (n: number) => made('text.html_comment', { lines: reason('line', { n }) }, n)
  const earlier = checked({ findings: [gone, at(3)] })
  const report = withChanges(earlier, checked({ findings: [at(9), added] }))
  expect(report).toMatchObject({ changes: { mended: [gone], added: [added] } })
  const text = formatReport(report as Checked, OPTIONS)
  expect(text).toContain(
    'Since the last check: 1 mended, 1 new\n  ✓ SKILL.md  gone [body.empty]\n  + SKILL.md  new [body.long]\n',
  )
  expect(formatReport(earlier, OPTIONS)).not.toContain('Since the last check')
  expect(withChanges(null, earlier)).toBe(earlier)
})

test('a finding whose count changed is the same, one about another numbered file is not', () => {
  const counted = (n: number) => made('index.limit_documents', { n, limit: 20_000 })
  const broken = (number: number) => made('reference.broken', { target: `page-${number}.md` })
  const earlier = checked({ findings: [counted(7), broken(1)] })
  expect(withChanges(earlier, checked({ findings: [counted(5), broken(2)] }))).toMatchObject({
    changes: { mended: [broken(1)], added: [broken(2)] },
  })
})

test('an index that limits cut is reported in the last line', () => {
  expect(formatReport(checked({ truncated: true }), OPTIONS)).toMatch(/the index is partial: a limit was reached · 1\.2 s\n$/)
})

test.each([
  ['an override of direction', 'a\u202Eb', 'a<U+202E>b'],
  ['an escape sequence', 'a\u001B[31mb', 'a<U+001B>[31mb'],
  ['line breaks and tabs', 'a\nb\tc\r\nd', 'a b c d'],
  ['tags and spaces without width', '\u{E0041}\u200B', '<U+E0041><U+200B>'],
  ['ordinary writing', 'Grüße 漢字 👩‍🚀', 'Grüße 漢字 👩‍🚀'],
])('%s in a text of the repository: one line, everything visible', (_what, text, printed) => {
  expect(printable(text)).toBe(printed)
})

test('JSON spells hidden characters out and reads back the same', () => {
  const value = { path: 'a\u202Eb\u{E0041}\u200B', message: 'line\nbreak \u001B[0m 漢字' }
  const json = formatJson(value, 2)
  expect(json).not.toMatch(/[\u202E\u200B\u{E0041}]|(?!\n)\p{Cc}/u)
  expect(json).toContain('漢字')
  expect(JSON.parse(json)).toEqual(value)
})

function totals(change: Partial<Checked['totals']>): Checked['totals'] {
  return { errors: 0, warnings: 0, infos: 0, full: 0, described: 0, incomplete: 0, tokens: 0, ...change }
}

function described(path: string): SkillReport {
  return { ...full(path), delivery: { kind: 'described', reason: 'no license is declared' }, license: NONE }
}

function checked(change: Partial<Checked>): Checked {
  return {
    format: 1,
    status: 'checked',
    folder: '',
    source: 'git',
    visibility: 'public',
    tokenizer: 'estimate',
    delivered: 'open',
    excluded: [],
    manifest: null,
    license: MIT,
    counts: { skills: 3, documents: 4 },
    truncated: false,
    totals: { errors: 0, warnings: 0, infos: 0, full: 0, described: 0, incomplete: 0, tokens: 0 },
    findings: [],
    skills: [],
    documents: [],
    ...change,
  }
}

/** A finding that knows what it was made of. */
function made(code: string, values: Values, line?: number): Finding {
  return keepFinding(finding({ code, message: messageOf({ code, values }), ...(line !== undefined && { line }) }), {
    code,
    values,
  })
}

function finding(change: Partial<Finding>): Finding {
  return { level: 'style', severity: 'warning', code: 'body.long', path: 'SKILL.md', message: 'long', ...change }
}

type Full = Extract<SkillReport['delivery'], { kind: 'full' }>

function full(path: string, change: Partial<Full> = {}): SkillReport {
  const amount = { characters: 10, bytes: 10, tokens: 3 }
  const parts = { rules: [], body: amount, includes: [], files: [], references: [], outside: [], oversized: [] }
  return {
    path,
    name: path.split('/').at(-2) ?? 'tools',
    description: 'does something',
    listed: true,
    delivery: { kind: 'full', complete: true, notInstallable: null, pages: 1, ...amount, ...parts, ...change },
    license: MIT,
    warnings: [],
    diagnostics: [],
  }
}

function piece(path: string) {
  return { path, characters: 1, bytes: 1, tokens: 1 }
}

test('exclusions of manifests are counted, with their skills, and named in full lists', () => {
  const excluded = [
    { path: 'drafts', skills: 2 },
    ...Array.from({ length: 11 }, (_, index) => ({ path: `x/${index}.tmp`, skills: 0 })),
  ]
  const title = '12 paths excluded by manifests, 2 skills in them\n'
  expect(formatReport(checked({ excluded }), OPTIONS)).toContain(`${title}\n`)
  const whole = formatReport(checked({ excluded }), { ...OPTIONS, all: true })
  expect(whole).toContain(`${title}  drafts (2 skills)\n  x/0.tmp\n`)
  expect(whole).toContain('  x/10.tmp\n')
  expect(formatReport(checked({}), OPTIONS)).not.toContain('excluded')
})
