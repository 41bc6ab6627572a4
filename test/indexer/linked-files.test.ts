import { expect, test } from 'vitest'
import { withMessage } from '#core/finding-messages.ts'
import { LICENSE_TEXT_BYTES } from '#indexer/rules/license/index.ts'
import { finding } from '#words/findings.ts'
import { indexFiles, skill, useRepositories } from './snapshot-scene.ts'

useRepositories()

const link = (target: string) => ({ link: target })
const POINTER = `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 5\n`

test('a package has the files that symlinks of its folder lead to, but for those that a manifest excludes', async () => {
  const { rows } = await indexFiles({
    'SKILLSET.md': '---\nexclude: [/drafts/]\n---\n',
    'a/SKILL.md': skill('a'),
    'a/style.md': link('../shared/style.md'),
    'a/shared': link('../shared'),
    'a/draft.md': link('../drafts/one.md'),
    'a/drafts': link('../drafts'),
    'shared/style.md': 'Style.\n',
    'drafts/one.md': 'Draft.\n',
  })
  expect(rows('packages').get('a/SKILL.md')).toMatchObject({ excluded: 2 })
  const held = [...rows('files')].flatMap(([path, { record }]) => (path.startsWith('a/') && record ? [path] : []))
  expect(held.sort()).toEqual(['a/SKILL.md', 'a/shared/style.md', 'a/style.md'])
})

test('a comparison reads a symlink as a file with the bytes of its target', async () => {
  const files = {
    'a/SKILL.md': skill('a'),
    'shared/style.md': '# Style\n',
    'shared/run.sh': { content: 'x\n', mode: '100755' as const },
  }
  const linked = await indexFiles({ ...files, 'a/style.md': link('../shared/style.md'), 'a/bin': link('../shared') })
  const copied = await indexFiles({
    ...files,
    'a/style.md': '# Style\n',
    'a/bin/style.md': '# Style\n',
    'a/bin/run.sh': { content: 'x\n', mode: '100755' },
  })
  const delivered = (indexed: typeof linked) => [...indexed.rows('delivered')].filter(([key]) => key.includes('a/SKILL.md'))
  expect(delivered(linked)).toEqual(delivered(copied))
  expect(JSON.stringify(delivered(linked))).toContain('a/bin/run.sh')
})

test('a file in Git LFS is reported as such: a skill, a reference, an include, a license', async () => {
  const { rows, header } = await indexFiles({
    'a/SKILL.md': skill('a', 'Read [manual](manual.md) and [page](../docs/page.txt).\n'),
    'a/manual.md': POINTER,
    'docs/page.txt': POINTER,
    'b/SKILL.md': POINTER,
    'c/SKILL.md': skill('c', 'Do it.\n', 'include: [rules.md]\n'),
    'c/rules.md': POINTER,
    'd/SKILL.md': skill('d'),
    'd/LICENSE': POINTER,
  })
  expect(rows('files').get('a/manual.md')).toMatchObject({ refusal: 'file.not_text', inLfs: true })
  expect(rows('files').get('docs/page.txt')).toMatchObject({ refusal: 'file.not_text', inLfs: true })
  const warnings = (path: string) => (rows('contexts').get(path)?.warnings ?? []).map(withMessage)
  expect(warnings('a/SKILL.md').filter(({ code }) => code === 'reference.unreadable')).toMatchObject([
    { message: 'a/manual.md cannot be read: it is kept in Git LFS, not in the repository' },
    { message: 'docs/page.txt cannot be read: it is kept in Git LFS, not in the repository' },
  ])
  expect(warnings('c/SKILL.md')).toMatchObject([{ code: 'include.not_text', message: expect.stringContaining('Git LFS') }])
  expect(warnings('d/SKILL.md')).toMatchObject([{ code: 'license.unrecognized', message: expect.stringContaining('Git LFS') }])
  expect(rows('skills').get('d/SKILL.md')).toMatchObject({ describedOnly: true, license: { kind: 'unknown' } })
  const ofSkill = header.root.diagnostics.filter(({ path }) => path === 'b/SKILL.md').map(withMessage)
  expect(ofSkill).toMatchObject([{ code: 'skill.unreadable', message: expect.stringContaining('Git LFS') }])
})

test('a license file that is too long to be read is reported as such', async () => {
  const { rows } = await indexFiles({ 'a/SKILL.md': skill('a'), 'a/LICENSE': 'word '.repeat(LICENSE_TEXT_BYTES / 4) })
  expect(rows('contexts').get('a/SKILL.md')?.warnings).toMatchObject([
    finding('license.unrecognized:long', { limit: LICENSE_TEXT_BYTES }),
  ])
})
