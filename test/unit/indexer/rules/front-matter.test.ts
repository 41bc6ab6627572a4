import { describe, expect, test } from 'vitest'
import { parseYamlMapping, parseYamlMappingLeniently, splitFrontMatter } from '#indexer/rules/front-matter.ts'

describe('where front matter ends', () => {
  test.each([
    ['LF', '---\na: 1\n---\nbody\n', 'a: 1\n', 'body\n'],
    ['CRLF', '---\r\na: 1\r\n---\r\nbody\r\n', 'a: 1\r\n', 'body\r\n'],
    ['a byte order mark', '\uFEFF---\na: 1\n---\nbody', 'a: 1\n', 'body'],
    ['three dots', '---\na: 1\n...\nbody', 'a: 1\n', 'body'],
    ['at the end of the file', '---\na: 1\n---', 'a: 1\n', ''],
    ['nothing in it', '---\n---\nbody', '', 'body'],
    ['a rule in the body', '---\na: 1\n---\nbody\n---\nmore', 'a: 1\n', 'body\n---\nmore'],
    ['four dashes are no fence', '---\na: 1\n----\n---\nbody', 'a: 1\n----\n', 'body'],
  ])('%s', (_name, text, yaml, body) => {
    expect(splitFrontMatter(text)).toEqual({ kind: 'block', yaml, body })
  })

  test.each([
    ['no fence', 'body', 'body'],
    ['a fence that is not on the first line', '\n---\na: 1\n---\n', '\n---\na: 1\n---\n'],
    ['a fence with a space', '--- \na: 1\n---\n', '--- \na: 1\n---\n'],
    ['only a byte order mark', '\uFEFFbody', 'body'],
    ['an empty file', '', ''],
  ])('none: %s', (_name, text, body) => {
    expect(splitFrontMatter(text)).toEqual({ kind: 'none', body })
  })

  test('an opening fence without a closing one leaves the whole file', () => {
    expect(splitFrontMatter('---\na: 1\nbody')).toEqual({ kind: 'unterminated', body: '---\na: 1\nbody' })
  })
})

describe('YAML', () => {
  test('every scalar is a string', () => {
    expect(parseYamlMapping('name: 3000\nversion: 1.10\nyes: true\nnothing: null\nempty:\nlist: [1, ~]')).toEqual({
      ok: true,
      mapping: { name: '3000', version: '1.10', yes: 'true', nothing: 'null', empty: '', list: ['1', '~'] },
    })
  })

  test('a key named __proto__ is an ordinary key', () => {
    const parsed = parseYamlMapping('__proto__: { polluted: yes }\nname: a')
    expect(parsed.ok && Object.keys(parsed.mapping)).toEqual(['__proto__', 'name'])
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })

  test.each([
    ['a list', '- a'],
    ['a scalar', 'just words'],
    ['a duplicate key', 'a: 1\na: 2'],
    ['an alias', 'a: &x 1\nb: *x'],
    ['two documents', 'a: 1\n---\nb: 2'],
    ['a tag that runs code', 'a: !!js/function "x"'],
    ['5,000 brackets', `a: ${'['.repeat(5000)}`],
    ['17 levels', `a: ${'['.repeat(17)}${']'.repeat(17)}`],
    ['more than 16 KiB', `a: ${'x'.repeat(16 * 1024)}`],
    ['a key that is a list', '? [a]\n: b'],
  ])('refused: %s', (_name, yaml) => {
    expect(parseYamlMapping(yaml).ok).toBe(false)
  })

  test.each([
    ['blank', '\n'],
    ['only a comment', '# nothing\n'],
  ])('%s is the empty mapping', (_name, yaml) => {
    expect(parseYamlMapping(yaml)).toEqual({ ok: true, mapping: {} })
  })

  test.each([
    ['a colon in a plain value', 'description: Use when: it rains\nname: a', { description: 'Use when: it rains', name: 'a' }],
    ['an apostrophe and a colon', "description: It's here: yes", { description: "It's here: yes" }],
    ['text behind a bracket', 'argument-hint: [a] [b]\nname: x', { 'argument-hint': '[a] [b]', name: 'x' }],
    ['a value that begins with an at sign', 'author: @someone', { author: '@someone' }],
  ])('repaired: %s', (_name, yaml, mapping) => {
    expect(parseYamlMappingLeniently(yaml)).toEqual({
      ok: true,
      mapping,
      repaired: expect.stringMatching(/^`[\w-]+`: .* on line \d$/),
    })
  })

  test('what is right is not repaired', () => {
    expect(parseYamlMappingLeniently('description: >\n  folded\n  text\n')).toEqual({
      ok: true,
      mapping: { description: 'folded text\n' },
    })
  })
})
