import { expect, test } from 'vitest'
import { perhapsEqual } from '#infra/worktree/equal-files.ts'

function pathsIn(sizes: Record<string, number>): string[] {
  return [...perhapsEqual(Object.entries(sizes).map(([path, sizeBytes]) => ({ path, sizeBytes })))].sort()
}

test('files of skills that may be copies are those with the same place and size', () => {
  const sizes = {
    'a/SKILL.md': 10,
    'a/x.md': 5,
    'a/deep/y.md': 6,
    'a/other.md': 7,
    '.b/a/SKILL.md': 10,
    '.b/a/x.md': 5,
    '.b/a/deep/y.md': 6,
    '.b/a/other.md': 8,
    'c/SKILL.md': 11,
    'c/x.md': 5,
    'x.md': 5,
  }
  expect(pathsIn(sizes)).toEqual(['.b/a/SKILL.md', '.b/a/deep/y.md', '.b/a/x.md', 'a/SKILL.md', 'a/deep/y.md', 'a/x.md'])
})

test('there are none where no two skills are of one size, whatever else is', () => {
  expect(pathsIn({ 'SKILL.md': 10, 'a/SKILL.md': 11, 'x.md': 1, 'a/x.md': 1, 'b/x.md': 1, 'noSKILL.md': 10 })).toEqual([])
})

test('a skill at the root may be a copy as others', () => {
  expect(pathsIn({ 'SKILL.md': 10, 'x.md': 1, 'a/SKILL.md': 10, 'a/x.md': 1 })).toEqual([
    'SKILL.md',
    'a/SKILL.md',
    'a/x.md',
    'x.md',
  ])
})
