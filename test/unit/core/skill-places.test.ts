import { expect, test } from 'vitest'
import type { RepoPath } from '#core/repo-path.ts'
import { comparePlaces } from '#core/skill-places.ts'

test("an author's folder precedes tests and documentation, hidden folders, and deeper ones", () => {
  const places = [
    'SKILL.md',
    'skills/x/SKILL.md',
    'plugins/office/skills/x/SKILL.md',
    '.claude/skills/x/SKILL.md',
    'docs/de/skills/x/SKILL.md',
    '.github/tests/x/SKILL.md',
  ] as RepoPath[]
  expect(places.toReversed().sort(comparePlaces)).toEqual(places)
})
