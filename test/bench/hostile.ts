import { EXCLUDE_PATTERN_CHARACTERS, FRONT_MATTER_BYTES, MANIFEST_BYTES, READABLE_FILE_BYTES } from '#core/limits.ts'
import type { RepoPath } from '#core/repo-path.ts'
import { encodeText } from '#core/text.ts'
import { parseText } from '#indexer/rules/document.ts'
import { parseYamlMappingLeniently } from '#indexer/rules/front-matter.ts'
import { LICENSE_TEXT_BYTES } from '#indexer/rules/license/index.ts'
import { readLicenseWords } from '#indexer/rules/license/license-words.ts'
import { recognizeLicenseText } from '#indexer/rules/license/recognize.ts'
import { readLicenseSection } from '#indexer/rules/license/section.ts'
import { readManifest } from '#indexer/rules/manifest.ts'
import { parseSkill } from '#indexer/rules/skill.ts'
import { buildTree } from '#indexer/rules/tree.ts'
import { applyManifests } from '#indexer/rules/withheld.ts'
import { Lexicon, visitItemTerms } from '#indexer/search/item-terms.ts'

/** An input made to be slow, at the size that the indexer still reads, and what the indexer does with it. */
interface Hostile {
  kind: 'Markdown' | 'YAML' | 'pattern' | 'license' | 'search'
  name: string
  run: () => unknown
}

const RUNS = 3
const SHOWN = 25

/** The slowest inputs, each by its best of three runs: what a file costs on a quiet core once the code is warm. */
export function measureHostile(): Record<string, string | number>[] {
  const rows = hostileInputs().map(({ kind, name, run }) => {
    const times = Array.from({ length: RUNS }, () => {
      const startedAt = performance.now()
      run()
      return performance.now() - startedAt
    })
    return { kind, input: name, 'first ms': times[0] ?? 0, 'best ms': Math.min(...times) }
  })
  return rows.sort((left, right) => right['best ms'] - left['best ms']).slice(0, SHOWN)
}

function hostileInputs(): Hostile[] {
  return [
    ...named(MARKDOWN, 'Markdown', unit => {
      const text = fill(unit, READABLE_FILE_BYTES)
      return () => parseText('a.md' as RepoPath, text)
    }),
    ...named(MARKDOWN, 'search', unit => {
      const body = fill(unit, READABLE_FILE_BYTES)
      const item = { path: 'a.md', kind: 'document', owner: null, title: 'a', summary: '', text: null, fields: { body } } as const
      return () => visitItemTerms(item, new Lexicon(), () => {})
    }),
    ...named(YAML, 'YAML', unit => {
      const yaml = fill(unit, FRONT_MATTER_BYTES - 1)
      return () => parseYamlMappingLeniently(yaml)
    }),
    ...named(FRONT_MATTER, 'YAML', unit => {
      const text = fill(unit, READABLE_FILE_BYTES)
      return () => parseSkill('a/SKILL.md' as RepoPath, text, 'repository')
    }),
    ...named(FRONT_MATTER, 'YAML', unit => {
      const bytes = encodeText(fill(unit, MANIFEST_BYTES))
      const file = { path: 'SKILLSET.md' as RepoPath, mode: '100644' as const, oid: 'a', sizeBytes: bytes.length }
      return () => readManifest(file, bytes, 'repository')
    }),
    ...named(
      PATTERNS,
      'pattern',
      ([pattern, path]) =>
        () =>
          excludeOnce(pattern, path),
    ),
    ...named(LICENSES, 'license', unit => {
      const text = fill(unit, LICENSE_TEXT_BYTES)
      return () => recognizeLicenseText(text)
    }),
    ...named(LICENSES, 'license', unit => {
      const text = `# License\n\n${fill(unit, LICENSE_TEXT_BYTES)}`
      return () => readLicenseSection(text)
    }),
    ...named(LICENSES, 'license', unit => {
      const words = fill(unit, FRONT_MATTER_BYTES)
      return () => readLicenseWords(words)
    }),
  ]
}

function named<Unit>(
  units: Readonly<Record<string, Unit>>,
  kind: Hostile['kind'],
  prepare: (unit: Unit) => () => unknown,
): Hostile[] {
  return Object.entries(units).map(([name, unit]) => ({ kind, name, run: prepare(unit) }))
}

/** A unit again and again up to a size; a function is asked for each turn. */
type Unit = string | ((turn: number) => string) | { start: string; unit: string; end?: string }

function fill(unit: Unit, bytes: number): string {
  if (typeof unit === 'string') return unit.repeat(Math.floor(bytes / Buffer.byteLength(unit)))
  if (typeof unit === 'object') {
    const { start, unit: middle, end = '' } = unit
    return start + middle.repeat(Math.floor((bytes - Buffer.byteLength(start + end)) / Buffer.byteLength(middle))) + end
  }
  const parts: string[] = []
  for (let turn = 0, left = bytes; ; turn++) {
    const part = unit(turn)
    left -= Buffer.byteLength(part)
    if (left < 0) return parts.join('')
    parts.push(part)
  }
}

const MARKDOWN: Record<string, Unit> = {
  'opening brackets': '[',
  'image openings': '![',
  'nested links': '[a](',
  'links that never close': '[a](<b',
  links: '[a](b) ',
  'closing brackets': { start: '[a', unit: ']' },
  'brackets around brackets': turn => (turn < 60_000 ? '[' : 'a](b)'),
  'code of growing fences': turn => `${'`'.repeat(turn + 1)} `,
  'single backticks': '` `` ',
  'emphasis that never closes': '*a **b ',
  'emphasis of both kinds': '_*',
  'emphasis, closed late': { start: '*'.repeat(100_000), unit: 'a*' },
  'emphasis one way': 'a**b',
  'comment openings': '<!--',
  'comment openings in text': 'a <!-- ',
  declarations: 'a <!A ',
  instructions: 'a <? ',
  'data sections': 'a <![CDATA[ ',
  'tags that never close': 'a <b c="',
  'tags with many attributes': { start: 'a <b', unit: ' c' },
  'addresses that never close': 'a <http://',
  'quotes in quotes': '>',
  'quotes in quotes, spaced': '> ',
  'quotes on many lines': turn => `${'> '.repeat(turn % 100)}a\n`,
  'lists in lists': turn => `${'  '.repeat(turn % 100)}- a\n`,
  'lists on one line': '- ',
  'numbers on one line': '1. ',
  'list items': '- a\n',
  'list items without text': '-\n',
  'quotes and lists': '> - ',
  'reference definitions': turn => `[r${turn}]: x\n`,
  'one reference definition': '[a]: b\n',
  'a definition that never ends': { start: '[a]: ', unit: "'\n" },
  'definition titles': '[a]: b "\n',
  'definitions of definitions': '[a]:\n',
  'references to one definition': { start: '[a]: b\n\n', unit: '[a] ' },
  headings: '# a\n',
  'underlined headings': 'a\n===\n',
  'almost underlined headings': 'a\n=\n-\n',
  rules: '---\n',
  'almost rules': '* * * a\n',
  'a line of spaces': ' ',
  tabs: '\t',
  'empty lines': '\n',
  'carriage returns': '\r',
  'spaces before lines': turn => `${' '.repeat(turn % 1_000)}a\n`,
  fences: '```\n',
  'fences of growing length': turn => `${'`'.repeat((turn % 1_000) + 3)}\n`,
  entities: '&amp;',
  'almost entities': '&#x',
  backslashes: '\\',
  'hard breaks': 'a  \n',
  'html blocks': '<div>\n',
  'one long word': 'a',
  words: 'some word ',
  'a long paragraph': 'words and words\n',
  'NULs in a row': '\uFFFD',
  'byte order marks': '\uFEFF',
  'joined emoji': '👩‍👩‍👧‍👦',
  'combining marks': { start: 'a', unit: '\u0301' },
  'hidden characters': '\u200B',
  'characters without spaces': '漢字仮名',
  identifiers: 'fooBarBaz_quxQuux-42.',
  'different words': turn => `w${turn.toString(36)} `,
  'table rows': '| a | b |\n',
  autolinks: '<a:b>',
  'line after line of links': '[a]: <b\n',
}

const YAML: Record<string, Unit> = {
  'opening brackets': { start: 'a: ', unit: '[' },
  'opening braces': { start: 'a: ', unit: '{' },
  'braces with keys': '{a: ',
  keys: turn => `k${turn}: v\n`,
  'short keys': turn => `${turn.toString(36)}:\n`,
  'question marks': '? ',
  'question marks on lines': '? a\n',
  dashes: '- ',
  'a list': { start: 'a:\n', unit: ' - b\n' },
  'deeper and deeper': turn => `${' '.repeat(turn)}a:\n`,
  colons: ':',
  'colons in values': 'a: b: c\n',
  anchors: turn => `a${turn}: &x${turn} b\n`,
  aliases: '*a ',
  tags: '!!a ',
  comments: '# a\n',
  'a comment': { start: 'a: b #', unit: ' #' },
  'quotes that never close': { start: 'a: "', unit: 'b\n ' },
  quotes: { start: "a: '", unit: "''", end: "'" },
  escapes: { start: 'a: "', unit: '\\u0041', end: '"' },
  'a folded text': { start: 'a: >\n', unit: ' b\n\n' },
  'a literal text': { start: 'a: |\n', unit: ' \n' },
  'a plain text on many lines': { start: 'a: b', unit: '\n  c' },
  spaces: ' ',
  'spaces behind a key': { start: 'a:', unit: ' ' },
  tabs: '\t',
  'tabs behind keys': 'a:\t\n',
  'a long key': 'a',
  'long keys': turn => `${'k'.repeat(1_100)}${turn}: v\n`,
  'percent signs': '%YAML ',
  documents: '--- a\n',
  merges: '<<: {a: b}\n',
  commas: { start: 'a: [', unit: ',' },
  'pairs in a list': { start: 'a: [', unit: 'b: c, ', end: ']' },
  'lists of lists': { start: 'a: [', unit: '[],', end: ']' },
  'values in need of quotes': turn => `k${turn}: x: y\n`,
  'dashes in need of quotes': '- - - a: b: c\n',
  'key characters without a colon': { start: '', unit: 'a.b-c' },
  'spaces inside values': { start: 'a: b', unit: ' ', end: ': c' },
}

const FRONT_MATTER: Record<string, Unit> = {
  fences: '---\n',
  'a fence that never closes': { start: '---\n', unit: 'a: b\n' },
  'a fence of one line': { start: '---\n', unit: 'a' },
  'too much of it': { start: '---\n', unit: 'a: b: c\n', end: '---\n' },
  'empty lines behind it': { start: '---\na: b\n---\n', unit: '\n' },
  'blank lines behind it': { start: '---\na: b\n---\n', unit: ' \r\n' },
  'spaces behind it': { start: '---\na: b\n---\n', unit: ' ' },
  'blank lines behind a word': { start: '---\na: b\n---\nword', unit: '\n \t' },
  'carriage returns behind it': { start: '---\na: b\n---\n', unit: '\r' },
}

const long = (unit: string) => unit.repeat(EXCLUDE_PATTERN_CHARACTERS).slice(0, EXCLUDE_PATTERN_CHARACTERS)
const PATTERNS: Record<string, [pattern: string, path: string]> = {
  stars: [long('*a'), `${'a'.repeat(250)}b`],
  'stars over a long path': [long('*a'), `${'a'.repeat(1_000)}b`],
  'stars and question marks': [long('*?'), 'a'.repeat(200)],
  'only stars': [long('*'), `${'a'.repeat(1_000)}`],
  'folders of stars': [long('**/a/'), `${'a/'.repeat(60)}b`],
  'folders of two stars': [long('**/*/'), `${'a/'.repeat(60)}b`],
  'stars in every folder': [long('*a*/'), `${'aaaaaaaa/'.repeat(60)}b`],
  'stars behind stars': [long('**/*a*'), `${'aaaaaaaa/'.repeat(60)}b`],
  classes: [long('[a-z]*'), `${'a'.repeat(1_000)}!`],
  'negated classes': [long('[!b]*'), `${'a'.repeat(1_000)}b`],
  'classes that never close': [long('['), '['.repeat(1_000)],
  'brackets of brackets': [long('[[:alpha:]'), 'a'.repeat(1_000)],
  backslashes: [long('\\'), 'a'.repeat(1_000)],
  'escaped stars': [long('\\**'), '*'.repeat(1_000)],
  'spaces at the end': [`a${' '.repeat(499)}`, `a${' '.repeat(900)}`],
  'exclamation marks': [long('!'), '!'.repeat(500)],
  braces: [long('{a,{b,'), 'a'.repeat(500)],
}

/** A front matter full of one pattern over a folder of a hundred files, as the tree walk does it. */
function excludeOnce(pattern: string, path: string): void {
  const patterns = Array.from({ length: 30 }, (_, number) => (pattern + number).slice(-EXCLUDE_PATTERN_CHARACTERS))
  const bytes = encodeText(`---\nexclude: ${JSON.stringify(patterns)}\n---\n`)
  const files = [path, ...Array.from({ length: 100 }, (_, number) => `${path.slice(0, 900)}${number}`)].filter(
    file => file.length <= 1_024,
  )
  const tree = buildTree([
    { path: 'SKILLSET.md', mode: '100644', oid: 'manifest', sizeBytes: bytes.length },
    ...files.map(file => ({ path: file, mode: '100644' as const, oid: 'file', sizeBytes: 0 })),
  ])
  applyManifests(tree, () => bytes, 'repository')
}

const MIT = 'Permission is hereby granted, free of charge, to any person obtaining a copy of this software '
const LICENSES: Record<string, Unit> = {
  'one word': 'license ',
  'different words': turn => `w${turn.toString(36)} `,
  'the beginning of a license, again and again': MIT,
  'copyright lines': turn => `Copyright (c) ${turn} Someone\n`,
  quotes: '"',
  spaces: ' ',
  dashes: '-',
  'one long word': 'a',
  addresses: 'https://a/',
  brackets: '(',
  operators: 'MIT OR ',
  'nested operators': '(MIT AND ',
  'file names': 'LICENSE.txt ',
  headings: '# License\n',
  asterisks: '* ',
  'angle brackets': '<',
  'characters without spaces': '漢字',
  dots: '.',
  slashes: '/',
}
