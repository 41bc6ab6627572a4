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
const OPTIONS = { paint: plain, all: false, milliseconds: 1_234, width: 200 }

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
    `What agents receive from the whole repository
files that git would commit; as a public repository

3 skills
  a/SKILL.md         2 pages  20,000 characters, 20,010 bytes  ~5,000 tokens  MIT by LICENSE
      incomplete: required content is missing
  c/SKILL.md  described only                                                  no license
      no license is declared
  b/SKILL.md          1 page          10 characters, 10 bytes      ~3 tokens  MIT by LICENSE

1 warning
  ! .  left out [tree.limit]

1 error
  ✗ a/SKILL.md:5  include: there is no x → add it [include.missing]

✗ 1 error, 1 warning, 0 notes · 3 skills (1 in full, 1 incomplete, 1 described only; ~12,345 tokens, estimated) · 4 documents · MIT by LICENSE overall · 1.2 s
`,
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
  const text = formatReport(checked({ skills: [{ ...skill, name: 'Documents', listed: false }] }), { ...OPTIONS, width: 400 })
  expect(text).toContain('      reads SKILLSET.md → skills/SKILLSET.md → body → shared.md\n')
  expect(text).toContain(
    '      named Documents; internal: not listed, loaded only by its path; 8 files: references/0.md, references/1.md, references/2.md, ' +
      'references/3.md, references/4.md, references/5.md and 2 more; 1 reference; 2 references outside the folder; 1 file too large to read\n',
  )
})

test('columns stand below each other in scripts whose letters are wide', () => {
  const text = formatReport(
    checked({ skills: [full('漢字/SKILL.md'), full('abcd/SKILL.md'), full('e\u0301fgh/SKILL.md')] }),
    OPTIONS,
  )
  const lines = text.split('\n').filter(line => line.includes('SKILL.md'))
  expect(lines.map(line => line.replace(/\S+SKILL\.md/, ''))).toEqual(Array(3).fill(lines[1]?.replace('abcd/SKILL.md', '')))
})

describe('only one word or path is longer than the terminal', () => {
  const report = checked({
    folder: `folder/${'deep/'.repeat(30)}end`,
    truncated: true,
    findings: [
      finding({
        severity: 'error',
        path: `${'長い名前/'.repeat(20)}SKILL.md`,
        line: 12,
        message: 'wrong '.repeat(40),
        advice: 'mend it',
      }),
      finding({ severity: 'warning', path: 'a/SKILL.md', message: 'x'.repeat(300), costsSkills: 3 }),
      finding({ severity: 'info', path: 'b.md', message: '😀 '.repeat(60) }),
    ],
    changes: { mended: [finding({ path: 'long/'.repeat(40), message: 'was wrong' })], added: [] },
    skills: [
      full(`${'技能/'.repeat(30)}SKILL.md`, { rules: [piece('SKILLSET.md')], includes: [piece('shared/'.repeat(30))] }),
      { ...full('c/SKILL.md'), delivery: { kind: 'described', reason: 'no license is declared '.repeat(9) }, license: NONE },
    ],
  })

  test.each([40, 80, 121])('of %i columns', width => {
    const lines = formatReport(report, { ...OPTIONS, width }).split('\n')
    expect(
      lines.filter(
        line =>
          widthOf(line) > width &&
          line
            .trim()
            .replace(/^[✗!·✓] /, '')
            .includes(' '),
      ),
    ).toEqual([])
    expect(lines.map(line => line.trim())).toContain(`${'技能/'.repeat(30)}SKILL.md`)
    const failure = formatFailure('index.too_large', 'too many '.repeat(30), { paint: plain, width })
    expect(failure.split('\n').filter(line => widthOf(line) > width)).toEqual([])
  })
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
  return { severity: 'warning', code: 'body.long', path: 'SKILL.md', message: 'long', ...change }
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

test('exclusions of manifests are named and counted, with their skills', () => {
  const excluded = [
    { path: 'drafts', skills: 2 },
    ...Array.from({ length: 11 }, (_, index) => ({ path: `x/${index}.tmp`, skills: 0 })),
  ]
  const report = formatReport(checked({ excluded }), OPTIONS)
  expect(report).toContain('\n12 paths excluded by manifests\n  drafts (2 skills)\n  x/0.tmp\n')
  expect(report).toContain('  x/8.tmp\n  … and 2 more; --all shows them\n')
  expect(formatReport(checked({ excluded }), { ...OPTIONS, all: true })).toContain('  x/10.tmp\n')
  expect(formatReport(checked({}), OPTIONS)).not.toContain('excluded')
})
