import { describe, expect, test } from 'vitest'
import { compileExclusions } from '#indexer/rules/exclusions.ts'

/** Whether the list excludes the path, folders above it first; a slash at the end makes it a folder. */
function excludes(patterns: string[], path: string): boolean {
  const excluded = compileExclusions(patterns)
  const bare = path.replace(/\/$/, '')
  const folders = [...bare.matchAll(/\//g)].map(({ index }) => bare.slice(0, index))
  return folders.some(folder => excluded(folder, true)) || excluded(bare, path.endsWith('/'))
}

describe('a pattern', () => {
  test.each<[string, string[], string[]]>([
    ['a', ['a', 'x/a', 'a/', 'a/b'], ['ab', 'A', 'x/ab']],
    ['a/', ['a/', 'a/b', 'x/a/b'], ['a', 'x/a']],
    ['/a', ['a', 'a/b'], ['x/a']],
    ['a/b', ['a/b', 'a/b/c'], ['x/a/b', 'b']],
    ['*.md', ['a.md', '.md', 'x/a.md'], ['a.mdx', 'md']],
    ['a*b', ['ab', 'axxb', 'x/ab'], ['a/b', 'axxc']],
    ['a/*', ['a/b', 'a/.b', 'a/b/c'], ['a', 'x/a/b']],
    ['?.md', ['a.md'], ['ab.md', '.md', 'é.md']],
    ['**/a', ['a', 'x/a', 'x/y/a'], ['ab']],
    ['a/**', ['a/b', 'a/b/c'], ['a', 'a/', 'x/a/b']],
    ['a/**/b', ['a/b', 'a/x/b', 'a/x/y/b'], ['ab', 'a/xb', 'x/a/b']],
    ['**', ['a', 'a/b'], []],
    ['a**b', ['ab', 'axxb'], ['a/b']],
    ['[a-c]x', ['ax', 'cx'], ['dx', '-x', 'x']],
    ['[!a]x', ['bx', '-x'], ['ax', 'x', '/x']],
    ['[^a]x', ['bx'], ['ax']],
    ['[]a]', [']', 'a'], ['b']],
    ['[a-]', ['a', '-'], ['b']],
    ['[a\\-c]', ['a', '-', 'c'], ['b']],
    ['[[:digit:]x]', ['1', 'x'], ['a', ':', 'd']],
    ['[[:nothing:]]', [], ['n', ':']],
    ['[[:constructor:]]', [], ['n', ':']],
    ['[[:__proto__:]]', [], ['n', ':']],
    ['[a', [], ['[a', 'a']],
    ['x[/]y', [], ['x/y']],
    ['\\*', ['*'], ['a']],
    ['\\!a', ['!a'], ['a']],
    ['\\#a', ['#a'], ['a']],
    ['#a', [], ['#a', 'a']],
    ['a\\', [], ['a', 'a\\']],
    ['a  ', ['a'], ['a  ']],
    ['a\\ ', ['a '], ['a']],
    ['{a,b}', ['{a,b}'], ['a']],
    ['', [], ['a']],
    ['/', [], ['a', 'a/']],
    ['!a', [], ['a']],
  ])('%j', (pattern, excluded, kept) => {
    expect(excluded.filter(path => !excludes([pattern], path))).toEqual([])
    expect(kept.filter(path => excludes([pattern], path))).toEqual([])
  })
})

test.each<[string, string[], string, boolean]>([
  ['the last pattern that matches decides', ['*.md', '!a.md'], 'a.md', false],
  ['and can be taken back again', ['*.md', '!a.md', 'a.*'], 'a.md', true],
  ['a file in an excluded folder stays excluded', ['x/', '!x/a.md'], 'x/a.md', true],
  ['a folder that is kept keeps what the list gives back', ['x/*', '!x/a.md'], 'x/a.md', false],
])('%s', (_name, patterns, path, expected) => {
  expect(excludes(patterns, path)).toBe(expected)
})

test.each([
  ['**/*/'.repeat(30), `${'a/'.repeat(60)}b`],
  ['**/a/'.repeat(30), `${'a/'.repeat(60)}b`],
  ['*a'.repeat(200), `${'a'.repeat(1_000)}b`],
  ['**/*a'.repeat(50), `${'aaaa/'.repeat(60)}b`],
])('a pattern that is made to be tried in endless ways is answered: %j', (pattern, path) => {
  expect(excludes([`${pattern}x`], path)).toBe(false)
})

test('runs of spaces and backslashes within a line take no more time than other characters', () => {
  const run = (character: string) => `a${character.repeat(1_000_000)}b`
  expect(excludes([run(' '), run('\\'), `a${'\\ '.repeat(100_000)}`], 'a')).toBe(false)
})
