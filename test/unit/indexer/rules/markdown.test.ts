import { expect, test } from 'vitest'
import type { RepoPath } from '#core/repo-path.ts'
import { describeText, parseText, titleOfName } from '#indexer/rules/document.ts'

const facts = (text: string, path = 'docs/some-page.md', mayCopy = true) => {
  const { reading, ...rest } = parseText(path as RepoPath, text)
  return { ...rest, ...describeText(reading, mayCopy, {}) }
}

test.each([
  ['front matter first', '---\ntitle: From fields\n---\n# Heading\n', 'From fields'],
  ['then the first heading of level 1', '## Sub\n\n# Top `code` & *more*\n', 'Top code & more'],
  ['a setext heading', 'Top\n===\n', 'Top'],
  ['no heading of a part', '### Third\n\n## Second\n', null],
  ['no setext heading of a part', 'Part\n---\n', null],
  ['nothing', 'Only text.\n', null],
  ['broken front matter is passed over', '---\ntitle: a: b\n---\n# Heading\n', 'Heading'],
])('title: %s', (_name, text, title) => {
  expect(facts(text).title).toBe(title)
})

test.each([
  ['# 算出 {#computed}', '算出'],
  ['# useState {/*use-state*/}', 'useState'],
  ['# Tight{#tight} #', 'Tight'],
  ['# Options { #options .wide }', 'Options'],
  ['Setext {#setext}\n===', 'Setext'],
  ['# `v-if` {#v-if}', 'v-if'],
  [`# ${'long '.repeat(39)}end {#long}`, `${'long '.repeat(39)}end`],
])('the title of %j has no anchor, and neither have the searched headings', (text, title) => {
  const { title: shown, headings } = facts(`${text}\n`)
  expect(shown).toBe(title)
  expect(headings.replaceAll('`', '')).toBe(title)
})

test.each([
  ['# Text in {braces}', 'Text in {braces}'],
  ['# Blocks {#if ready}', 'Blocks {#if ready}'],
  ['# Blocks `{#if}`', 'Blocks {#if}'],
  [`# The length \${#words}`, `The length \${#words}`],
  ['# Escaped \\{#id}', 'Escaped {#id}'],
  ['# {#if} of Svelte', '{#if} of Svelte'],
  ['# {#each}', '{#each}'],
])('the title of %j keeps its braces', (text, title) => {
  expect(facts(`${text}\n`).title).toBe(title)
})

test('anchors of all headings are left out of the searched text, and the body stays unchanged', () => {
  const text = '# One {#one}\n\n## Two {/*two*/}\n\nThree {#three}\n'
  expect(facts(text)).toMatchObject({ title: 'One', summary: 'Three {#three}', headings: 'One\nTwo', body: text })
})

test.each([
  ['description', '---\ndescription: From fields.\n---\nText.\n', 'From fields.'],
  ['summary', '---\nsummary: From fields.\n---\nText.\n', 'From fields.'],
  ['the first paragraph', '# T\n\nFirst **bold** [link](x.md) `code`\nline two.\n\nSecond.\n', 'First bold link code line two.'],
  ['no badges', '[![a](b)](c)\n\nText.\n', 'Text.'],
  ['no HTML', '<div>x</div>\n\n<!-- y -->\n\nText.\n', 'Text.'],
  ['no admonition fences', ':::tip\n\nText.\n', 'Text.'],
  ['no imports of MDX', "import X from 'y'\n\nText.\n", 'Text.'],
  ['no tables', '| a | b |\n|---|---|\n\nText.\n', 'Text.'],
  ['no list items', '- item\n\nText.\n', 'Text.'],
  ['a quotation', '# T\n\n> Archiving utility.\n', 'Archiving utility.'],
  ['no callout marks', '> [!NOTE]\n\nText.\n', 'Text.'],
  ['nothing', '# T\n', ''],
  ['any script', '# 見出し\n\nこれは本文です。\n', 'これは本文です。'],
])('summary: %s', (_name, text, summary) => {
  expect(facts(text).summary).toBe(summary)
})

test.each([
  ['its paragraph is not shown', '# T\n\nA paragraph.\n', 'T', ''],
  ['front matter is', '---\ntitle: Told\ndescription: Told, too.\n---\n# T\n\nA paragraph.\n', 'Told', 'Told, too.'],
  ['a heading of a part is not', '## Part\n\nA paragraph.\n', null, ''],
])('of a text that may not be copied: %s', (_name, text, title, summary) => {
  expect(facts(text, 'docs/some-page.md', false)).toMatchObject({ title, summary })
})

test('a footnote is no link, and no summary', () => {
  const text = 'Text[^1] and [more][^note], see [a](a.md).\n\n[^1]: words\n[^note]: gone.md\n'
  expect(facts(text).links).toEqual([{ kind: 'link', target: 'a.md' }])
  expect(facts('[^1]: A note of several words.\n\nText.\n').summary).toBe('Text.')
})

test('a summary has at most 240 characters and ends at a word', () => {
  const { summary } = facts(`${'word '.repeat(100)}\n`)
  expect([...summary].length).toBeLessThanOrEqual(240)
  expect(summary).toMatch(/word…$/)
})

test('links are taken as written, outside code blocks, definitions last', () => {
  const text =
    '[a](x%20y.md "t") ![i](p.png) `code.md` [r][ref] <https://e.org>\n\n```\n[no](no.md)\n```\n\n    [no](no.md)\n\n[ref]: ../z.md#a\n'
  expect(facts(text).links).toEqual([
    { kind: 'link', target: 'x%20y.md' },
    { kind: 'image', target: 'p.png' },
    { kind: 'code', target: 'code.md' },
    { kind: 'link', target: '../z.md#a' },
    { kind: 'link', target: 'https://e.org' },
    { kind: 'code', target: '../z.md#a' },
  ])
})

test('a file that is not Markdown has no description', () => {
  expect(facts('# not a heading\n', 'a.py')).toMatchObject({ title: null, summary: '', links: [], headings: '', body: '' })
})

test.each([
  ['docs/some_long-page.md', 'some long page'],
  ['scripts/run-all.py', 'run-all.py'],
  ['docs/c++.md', 'c++'],
  ['docs/%.md', '%'],
])('%s is called %s', (path, title) => {
  expect(titleOfName(path as RepoPath)).toBe(title)
})

test.each([
  ['brackets', '['.repeat(65_536)],
  ['emphasis', '_*'.repeat(20_000)],
  ['quotations', `${'> '.repeat(2_000)}x`],
  ['lists', Array.from({ length: 600 }, (_, depth) => `${' '.repeat(depth * 2)}- a`).join('\n')],
  ['back-ticks', Array.from({ length: 600 }, (_, count) => '`'.repeat(count)).join('x')],
  ['images', '![['.repeat(20_000)],
  ['nested links', '[a'.repeat(20_000) + '](b)'.repeat(20_000)],
  ['comments', '<!--'.repeat(20_000)],
  ['blanks before an anchor', `# a${' '.repeat(65_536)}{#b c}`],
  ['beginnings of anchors', `# ${'{# .a{/*'.repeat(12_000)}}`],
  ['classes of an anchor', `# a {#b${' .c'.repeat(25_000)} d}`],
])('hostile Markdown is read like any other: %s', (_name, text) => {
  expect(facts(text).summary.length).toBeLessThanOrEqual(480)
})

test('of a long text the beginning is parsed, up to the end of a line; comments are found behind it too', () => {
  const line = `${'x'.repeat(63)}\n`
  const text = `${line.repeat(1_535)}# [a](a.md)\n${line.repeat(10)}# [b](b.md) <!-- c -->\n`
  expect(facts(text)).toMatchObject({ headings: '[a](a.md)', links: [{ target: 'a.md' }], comments: [1_547] })
})
