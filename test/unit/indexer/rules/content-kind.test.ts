import { describe, expect, test } from 'vitest'
import type { RepoPath } from '#core/repo-path.ts'
import { isSkillPlace, pathKind } from '#indexer/rules/content-kind.ts'
import { readmeRank } from '#indexer/rules/license/names.ts'

describe('the kind of a path outside skill folders', () => {
  test.each([
    ['docs/guide.md', 'document'],
    ['docs/guide.MDX', 'document'],
    ['docs/a.markdown', 'document'],
    ['docs/security.md', 'document'],
    ['skill.md', 'document'],
    ['docs/c++.md', 'document'],
    ['README.md', 'overview'],
    ['docs/readme.rst', 'overview'],
    ['README', 'overview'],
    ['README.zh-CN.md', 'overview'],
    ['README_zh.md', 'overview'],
    ['README-de.md', 'overview'],
    ['AGENTS.md', 'community'],
    ['x/CLAUDE.md', 'community'],
    ['LICENSE', 'community'],
    ['LICENSE-MIT', 'community'],
    ['CODE_OF_CONDUCT.md', 'community'],
    ['PULL_REQUEST_TEMPLATE.md', 'community'],
    ['SKILL.md', null],
    ['docs/guide.txt', null],
    ['docs/guide.rst', null],
    ['src/main.ts', null],
    ['README.rs', null],
    ['.github/guide.md', null],
    ['x/.hidden.md', null],
    ['vendor/x/guide.md', null],
    ['node_modules/x/README.md', null],
    ['third_party/LICENSE', null],
  ])('%s: %s', (path, kind) => {
    expect(pathKind(path as RepoPath)).toBe(kind)
  })
})

test.each([
  ['skills/a/SKILL.md', true],
  ['.claude/skills/a/SKILL.md', true],
  ['SKILL.md', true],
  ['vendor/a/SKILL.md', true],
  ['skills/a/skill.md', false],
  ['skills/a/SKILL.MD', false],
  ['node_modules/a/SKILL.md', false],
  ['x/__pycache__/SKILL.md', false],
])('%s is the place of a skill: %s', (path, expected) => {
  expect(isSkillPlace(path as RepoPath)).toBe(expected)
})

test('README.md describes its folder best, then other readable forms; translations do not', () => {
  const names = ['README', 'README.rst', 'readme.md', 'README.md', 'Readme.txt', 'README.mdx', 'README.de.md', 'README.html']
  const ranked = names
    .filter(name => readmeRank(name) !== null)
    .sort((left, right) => (readmeRank(left) ?? 0) - (readmeRank(right) ?? 0))
  expect(ranked).toEqual(['README.md', 'readme.md', 'README.mdx', 'Readme.txt', 'README.rst', 'README'])
})
