import { expect, test } from 'vitest'
import { warningsInMount } from '#api/mount/folder.ts'
import type { RepoPath } from '#core/repo-path.ts'
import { finding } from '#words/findings.ts'

const duplicate = (path: string, n = 0) => ({
  ...(n === 0 ? finding('name.duplicate', { path }) : finding('name.duplicate:more', { path, n })),
  field: 'name',
})

test.each([
  ['', 'b/x/SKILL.md', 0, 'b/x/SKILL.md has this name, too'],
  ['b', 'b/x/SKILL.md', 2, 'b/x/SKILL.md and 2 more have this name, too'],
  ['a', 'b/x/SKILL.md', 0, 'a skill outside of the mounted folder has the same name'],
  ['a', 'b/x/SKILL.md', 2, 'a skill outside of the mounted folder has the same name'],
  ['b/x', 'b/xy/SKILL.md', 0, 'a skill outside of the mounted folder has the same name'],
])('in the mount %j the warning about %s and %i more says: %s', (mounted, path, n, message) => {
  const other = finding('skill.nested', { path: 'b/x/SKILL.md' })
  expect(warningsInMount(mounted as RepoPath, [duplicate(path, n), other], false)).toEqual([
    { code: 'name.duplicate', level: 'style', field: 'name', message },
    { code: 'skill.nested', level: 'style', message: 'lies inside the folder of b/x/SKILL.md' },
  ])
})

test('of a skill whose text is not sent the kind of a warning is told, and nothing is quoted', () => {
  const quoting = { ...finding('front_matter.repaired', { why: '`secret`: deficient indentation' }), field: 'secret' }
  const counting = finding('body.long', { lineLimit: 500, byteLimit: 20_000 })
  expect(warningsInMount('' as RepoPath, [quoting, counting], true)).toEqual([
    { code: 'front_matter.repaired', level: 'breaks', message: expect.not.stringContaining('secret') },
    { code: 'body.long', level: 'style', message: expect.any(String) },
  ])
})
