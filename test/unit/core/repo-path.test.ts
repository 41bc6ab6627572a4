import { describe, expect, test } from 'vitest'
import {
  ancestorsOf,
  baseNameOf,
  encodePath,
  isInside,
  joinPath,
  parentOf,
  parseRepoPath,
  type RepoPath,
  ROOT,
} from '#core/repo-path.ts'

describe('canonical paths', () => {
  test.each([
    '',
    'a',
    'a/b',
    'a b/c++.md',
    '%5Bboop%5D.html',
    '...',
    '-x',
    'e\u0301.md',
    '🙂',
    'a'.repeat(1_024),
    `${'a/'.repeat(63)}a`,
  ])('%j is one', path => {
    expect(parseRepoPath(path)).toBe(path)
  })

  test.each([
    '/',
    '/a',
    'a/',
    'a//b',
    '.',
    '..',
    'a/../b',
    './a',
    'a\\b',
    'a\0',
    'a\nb',
    'a\u007F',
    'a\u0085',
    '\uD800',
    'a'.repeat(1_025),
    `${'a/'.repeat(64)}a`,
  ])('%j is none', path => {
    expect(parseRepoPath(path)).toBeNull()
  })
})

test('a path is inside its folder and itself, not inside a folder whose name is its prefix', () => {
  const inside = (folder: string, path: string) => isInside(folder as RepoPath, path as RepoPath)
  expect([inside('', 'a'), inside('', ''), inside('a', 'a'), inside('a', 'a/b')]).toEqual([true, true, true, true])
  expect([inside('a', 'ab'), inside('a', ''), inside('a/b', 'a')]).toEqual([false, false, false])
})

test('parents, ancestors and names', () => {
  const path = 'a/b/c.md' as RepoPath
  expect(parentOf(path)).toBe('a/b')
  expect(parentOf('a' as RepoPath)).toBe(ROOT)
  expect(ancestorsOf(path)).toEqual(['', 'a', 'a/b'])
  expect(ancestorsOf('a' as RepoPath)).toEqual([''])
  expect(ancestorsOf(ROOT)).toEqual([])
  expect(baseNameOf(path)).toBe('c.md')
  expect(joinPath(ROOT, 'a')).toBe('a')
  expect(joinPath('a' as RepoPath, 'b')).toBe('a/b')
})

test('a path in a URL keeps its slashes and nothing else', () => {
  expect(encodePath('a b/%5B/c?#.md')).toBe('a%20b/%255B/c%3F%23.md')
})
