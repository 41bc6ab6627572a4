import { expect, test } from 'vitest'
import { warningsInMount } from '#api/mount/warnings.ts'
import type { RepoPath } from '#core/repo-path.ts'
import { say } from '#words/findings.ts'

const duplicate = (path: string, n = 0) => ({
  code: 'name.duplicate',
  field: 'name',
  message: say(n === 0 ? 'name.duplicate' : 'name.duplicate:more', { path, n }),
})

test.each([
  ['', 'b/x/SKILL.md', 0, 'b/x/SKILL.md has this name, too'],
  ['b', 'b/x/SKILL.md', 2, 'b/x/SKILL.md and 2 more have this name, too'],
  ['a', 'b/x/SKILL.md', 0, 'a skill outside of the mounted folder has the same name'],
  ['a', 'b/x/SKILL.md', 2, 'a skill outside of the mounted folder has the same name'],
  ['b/x', 'b/xy/SKILL.md', 0, 'a skill outside of the mounted folder has the same name'],
])('in the mount %j the warning about %s and %i more reads: %s', (mounted, path, n, message) => {
  const other = { code: 'body.empty', message: 'b/x/SKILL.md' }
  const [told, kept] = warningsInMount(mounted as RepoPath, [duplicate(path, n), other])
  expect([told, kept]).toEqual([{ code: 'name.duplicate', field: 'name', message }, other])
})
