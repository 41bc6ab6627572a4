import { expect, test } from 'vitest'
import { nameUniquely } from '#api/packages/discovery-index.ts'
import type { SkillPackage } from '#api/packages/packages.ts'
import type { RepoPath } from '#core/repo-path.ts'

function named(name: string, directory: string): SkillPackage {
  return {
    path: `${directory}/SKILL.md` as RepoPath,
    directory: directory as RepoPath,
    frontMatter: { name, description: 'd' },
    archive: { sha256: '0'.repeat(64), sizeBytes: 1 },
    excluded: 0,
    notices: [],
  }
}

test('skills of one name are called after their folders, also at the root and in folders without such letters', () => {
  const packages = ['', 'skills/pdf', '技能', '道具'].map(directory => named('pdf', directory))
  const names = nameUniquely(packages).map(one => one.name)
  expect(new Set(names).size).toBe(4)
  for (const name of names) expect(name).toMatch(/^[a-z0-9]+(?:-[a-z0-9]+)*$/)
})
