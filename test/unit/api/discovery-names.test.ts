import { describe, expect, test } from 'vitest'
import { nameUniquely } from '#api/reading/discovery-index.ts'
import type { SkillPackage } from '#api/reading/packages.ts'
import type { RepoPath } from '#core/repo-path.ts'

function named(name: string, directory: string, copyOf: string | null = null): SkillPackage {
  return {
    path: `${directory}/SKILL.md` as RepoPath,
    directory: directory as RepoPath,
    frontMatter: { name, description: 'd' },
    archive: { sha256: '0'.repeat(64), sizeBytes: 1 },
    excluded: 0,
    notices: [],
    copyOf: copyOf as RepoPath | null,
    isForMcp: true,
  }
}

/** The names that an index gives, by folder. */
function namesOf(...packages: readonly SkillPackage[]): Record<string, string> {
  return Object.fromEntries(nameUniquely(packages).map(one => [one.package.directory, one.name]))
}

describe('a skill has', () => {
  test.each<[what: string, declared: string, directory: string, name: string]>([
    ['the name that its author declares', 'sort-mail', 'skills/mail', 'sort-mail'],
    ['it in small letters and hyphens', 'Writing Hookify_Rules v2.0!', 'skills/x', 'writing-hookify-rules-v2-0'],
    ['no path out of a folder in it', '../../.ssh/authorized_keys', 'skills/x', 'ssh-authorized-keys'],
    ['no control character in it', 'a\u0000b\u001b[31m\u202e', 'skills/x', 'a-b-31m'],
    ['at most 64 characters of it', `${'n'.repeat(63)} and more`, 'skills/x', 'n'.repeat(63)],
    ['that of its folder where nothing of it can be written', '技能', 'skills/pdf', 'pdf'],
  ])('%s', (_what, declared, directory, name) => {
    expect(namesOf(named(declared, directory))).toEqual({ [directory]: name })
  })
})

test("of skills with one name, the one in the author's folder has it, and the others are named after their folders", () => {
  const skills = ['.claude/skills/pdf', 'plugins/office/pdf', 'skills/pdf', 'tests/pdf'].map(directory => named('PDF', directory))
  expect(namesOf(...skills, named('pdf', 'skills/other'))).toEqual({
    '.claude/skills/pdf': 'claude-skills-pdf',
    'plugins/office/pdf': 'plugins-office-pdf',
    'skills/pdf': 'pdf',
    'skills/other': 'skills-other',
    'tests/pdf': 'tests-pdf',
  })
})

test('names are different where folders have none, or that of another skill', () => {
  const packages = ['', '技能', '道具', 'b/pdf'].map(directory => named('pdf', directory))
  const names = nameUniquely([...packages, named('b-pdf', 'x'), named('技能', '技'), named('技能', '能')]).map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  for (const name of names) expect(name).toMatch(/^[a-z0-9]+(?:-[a-z0-9]+)*$/)
})

test('copies of a skill outside of the folder are one skill', () => {
  const copies = ['a/pdf', 'b/pdf'].map(directory => named('pdf', directory, 'elsewhere/SKILL.md'))
  expect(namesOf(...copies)).toEqual({ 'a/pdf': 'pdf' })
})
