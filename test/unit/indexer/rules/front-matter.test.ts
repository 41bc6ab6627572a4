import { describe, expect, test } from 'vitest'
import { commentedFields, parseYamlMapping, parseYamlMappingLeniently, splitFrontMatter } from '#indexer/rules/front-matter.ts'
import { reason } from '#words/findings.ts'

describe('the end of front matter', () => {
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
    expect(splitFrontMatter(text)).toEqual({ kind: 'block', yaml, body, paddedLine: null })
  })

  test.each([
    ['the first line', '--- \na: 1\n---\nbody', 1],
    ['the last line', '---\na: 1\n---\t\r\nbody', 3],
    ['both', '---  \r\na: 1\n...  \nbody', 1],
  ])('blanks behind a fence: %s', (_name, text, paddedLine) => {
    expect(splitFrontMatter(text)).toMatchObject({ kind: 'block', yaml: 'a: 1\n', body: 'body', paddedLine })
  })

  test.each([
    ['no fence', 'body', 'body'],
    ['a fence that is not on the first line', '\n---\na: 1\n---\n', '\n---\na: 1\n---\n'],
    ['a fence with a word', '--- a\na: 1\n---\n', '--- a\na: 1\n---\n'],
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
      repaired: reason('ofField', {
        name: expect.any(String),
        why: expect.objectContaining({ key: expect.stringMatching(/^reason\.(?:onLine|openQuote)$/) }),
      }),
      unread: '',
    })
  })

  test.each<[string, string, object, string?]>([
    [
      'a colon in a continued line',
      'name: a\ndescription: Sorts mail.\n  Keywords: inbox, order\n\n  When: it is full\nlicense: MIT',
      { name: 'a', description: 'Sorts mail. Keywords: inbox, order When: it is full', license: 'MIT' },
    ],
    ['a tab', 'name: a\nmetadata:\n\tauthor: b\n\tmore:\n\t\tx: y', { name: 'a', metadata: { author: 'b', more: { x: 'y' } } }],
    ['a key twice', 'name: a\ndescription: one\ndescription: two', { name: 'a', description: 'one' }, 'description: two'],
    ['the same key twice with one value', 'name: a\nlicense: MIT\nlicense: MIT', { name: 'a', license: 'MIT' }],
    ['a quote that is not closed', 'description: "Sorts mail.\nname: a', { description: 'Sorts mail.', name: 'a' }],
    ['a quote within quotes', 'description: "Sorts "mail" well."\nname: a', { description: 'Sorts "mail" well.', name: 'a' }],
    [
      'too little indentation',
      'name: a\nmetadata:\n    x: 1\n  y: 2\nlicense: MIT',
      { name: 'a', license: 'MIT' },
      'metadata:\n    x: 1\n  y: 2',
    ],
    [
      'marks of a conflict',
      'name: a\n<<<<<<< ours\ndescription: b\n=======\n>>>>>>> theirs\nlist:\n- x',
      { name: 'a', description: 'b', list: ['x'] },
      '<<<<<<< ours\n=======\n>>>>>>> theirs',
    ],
    ['words before the first field', 'just words\nname: a', { name: 'a' }, 'just words'],
    ['an alias', 'name: a\nmetadata: *x\nlist:\n  - *y', { name: 'a', metadata: '*x' }, 'list:\n  - *y'],
    ['__proto__', '__proto__: 1\nname: a\n x: y: z', { name: 'a x: y: z', ['__proto__']: '1' }],
  ])('read line by line: %s', (_name, yaml, mapping, unread = '') => {
    const parsed = parseYamlMappingLeniently(yaml)
    expect(parsed).toMatchObject({ ok: true, repaired: expect.objectContaining({ key: expect.any(String) }), unread })
    expect(parsed.ok && Object.entries(parsed.mapping).sort()).toEqual(Object.entries(mapping).sort())
  })

  test('nothing is read of what has no field', () => {
    for (const yaml of ['- a\n- b', 'just words', '{a: [}']) expect(parseYamlMappingLeniently(yaml).ok).toBe(false)
  })

  test('a comment ends a value that is not in quotes', () => {
    const yaml = 'name: a # b\ndescription: Posts to #releases\nwhen: "#1 #2"\nlink: a#b\nlist: [a] # c\nempty: # d\n'
    expect(commentedFields(yaml)).toEqual([
      { field: 'name', line: 2 },
      { field: 'description', line: 3 },
    ])
  })

  test('valid YAML is not repaired', () => {
    expect(parseYamlMappingLeniently('description: >\n  folded\n  text\n')).toEqual({
      ok: true,
      mapping: { description: 'folded text\n' },
    })
  })
})
