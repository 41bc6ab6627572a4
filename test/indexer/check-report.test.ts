import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type CheckOptions, checkFolder } from '#cli/check.ts'
import type { Checked } from '#indexer/check/schema.ts'

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'mountglass-check-'))
})
afterEach(() => rm(root, { recursive: true, force: true }))

async function check(files: Record<string, string>, folder = '', options: CheckOptions = {}): Promise<Checked> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
  const written: string[] = []
  const write = vi.spyOn(process.stdout, 'write').mockImplementation(text => written.push(String(text)) > 0)
  try {
    await checkFolder(join(root, folder), { ...options, json: true })
  } finally {
    write.mockRestore()
  }
  return JSON.parse(written.join(''))
}

const skill = (name: string, more = '', body = 'Body.\n') => `---\nname: ${name}\ndescription: Does.\n${more}---\n${body}`
const told = ({ findings }: Checked) => findings.map(({ code, path, line, costsSkills }) => [code, path, line, costsSkills])

test.each<[string, Record<string, string>, unknown[]]>([
  [
    'an include that is missing',
    { 'SKILLSET.md': '---\nlicense: MIT\ninclude: [gone.md]\n---\n' },
    ['include.missing', 'SKILLSET.md', 3, 2],
  ],
  [
    'a malformed include',
    { 'SKILLSET.md': '---\nlicense: MIT\ninclude: { a: b }\n---\n' },
    ['include.missing', 'SKILLSET.md', 3, 2],
  ],
  [
    'YAML that cannot be read',
    { LICENSE: 'x', 'SKILLSET.md': '---\nname: x\nname: y\n---\n' },
    ['manifest.unreadable', 'SKILLSET.md', 3, 2],
  ],
  [
    'exclusions that are no list',
    { 'SKILLSET.md': '---\nname: x\nexclude: { a: b }\n---\n' },
    ['manifest.unreadable', 'SKILLSET.md', 3, 2],
  ],
  [
    'an unknown license',
    { 'SKILLSET.md': '---\nname: x\nlicense: Ours 1.0\n---\n' },
    ['license.unrecognized', 'SKILLSET.md', 3, 2],
  ],
])('a faulty manifest is reported once, at the manifest, with its line and its cost: %s', async (_name, files, expected) => {
  const report = await check({ ...files, 'a/SKILL.md': skill('a'), 'b/SKILL.md': skill('b') })
  const isNote = ([code]: unknown[]) => code === 'folder.links_unchecked'
  expect(told(report).filter(finding => !isNote(finding))).toEqual([expected])
})

test('a failed include is reported of a manifest without skills, and of an internal skill', async () => {
  const report = await check({
    'SKILLSET.md': '---\nlicense: MIT\n---\n',
    'a/SKILLSET.md': '---\ninclude: [gone.md]\n---\n',
    'b/SKILL.md': skill('b', 'metadata: { internal: true }\ninclude: [lost.md]\n'),
  })
  expect(told(report)).toEqual([
    ['include.missing', 'a/SKILLSET.md', 2, undefined],
    ['include.missing', 'b/SKILL.md', 5, undefined],
  ])
})

test('a misspelled field gets a suggestion; a foreign one, and one whose correct field exists, get none', async () => {
  const report = await check({
    'SKILLSET.md': '---\nlicense: MIT\nexclud: [x]\nlicence: MIT\n---\n',
    'a/SKILL.md': skill('a', 'licence: MIT\nversion: 1.0\nallowed_tools: Read\nagents:\n  - codex\n'),
  })
  expect(report.findings.map(({ path, line, field, message }) => [path, line, field, message.split('; ')[1]])).toEqual([
    ['a/SKILL.md', 4, 'licence', 'did you mean `license`?'],
    ['a/SKILL.md', 6, 'allowed_tools', 'did you mean `allowed-tools`?'],
    ['SKILLSET.md', 3, 'exclud', 'did you mean `exclude`?'],
    ['SKILLSET.md', 4, 'licence', undefined],
  ])
})

test('a footnote is no broken link', async () => {
  const report = await check({
    'SKILLSET.md': '---\nlicense: MIT\n---\n',
    'a/SKILL.md': skill('a', '', 'Text[^1].\n\n[^1]: words\n'),
  })
  expect(report.findings).toEqual([])
})

test('a folder inside a skill has the documents of a mount there', async () => {
  execFileSync('git', ['init', '-q', root])
  const report = await check(
    { 'SKILLSET.md': '---\nlicense: MIT\n---\n', 'a/SKILL.md': skill('a'), 'a/references/one.md': '# One\n\nText.\n' },
    'a/references',
  )
  expect([report.counts, report.documents]).toEqual([
    { skills: 0, documents: 1 },
    [{ path: 'a/references/one.md', title: 'One', summary: 'Text.' }],
  ])
})

test('a missing license is reported for the folder that lacks it, and not if everything below has its own', async () => {
  const MIT = 'license: MIT\n'
  const licensed = {
    'a/SKILL.md': skill('a', MIT),
    'b/package.json': '{"license":"MIT"}\n',
    'docs/SKILLSET.md': `---\n${MIT}---\n`,
  }
  expect(told(await check({ ...licensed, 'docs/guide.md': '# Guide\n' }))).toEqual([])
  const lacking = await check({ 'more/one/SKILL.md': skill('one'), 'more/two/SKILL.md': skill('two') })
  expect(told(lacking)[0]).toEqual(['folder.unlicensed', 'more', undefined, undefined])
  expect(told(await check({ 'guide.md': '# Guide\n' }))[0]).toEqual(['folder.unlicensed', '', undefined, undefined])
})

test('links of skills that are only described are checked with --private, and the report says so', async () => {
  const files = { 'a/SKILL.md': skill('a', '', '[gone](gone.md)\n') }
  const described = await check(files)
  expect(told(described)).toEqual([
    ['folder.unlicensed', '', undefined, undefined],
    ['folder.links_unchecked', '', undefined, undefined],
  ])
  expect(described.findings[1]?.advice).toContain('--private')
  expect(told(await check({}, '', { private: true }))).toEqual([['reference.broken', 'a/SKILL.md', 5, undefined]])
})

test('a link out of the folder of a skill is reported as missing after an installation, except to skills beside it', async () => {
  const report = await check({
    'SKILLSET.md': '---\nlicense: MIT\n---\n',
    'shared/style.md': '# Style\n',
    'skills/a/SKILL.md': skill('a', '', 'Read [style](../../shared/style.md) before [b](../b/SKILL.md) and [own](own.md).\n'),
    'skills/a/own.md': '# Own\n',
    'skills/b/SKILL.md': skill('b'),
  })
  expect(report.findings).toMatchObject([
    {
      code: 'reference.outside',
      severity: 'warning',
      path: 'skills/a/SKILL.md',
      line: 5,
      message:
        '../../shared/style.md leads out of the folder of the skill: where the skill is installed, shared/style.md is missing',
    },
  ])
})

test('a file in Git LFS prevents the installation of a skill, and the advice agrees', async () => {
  const report = await check({
    'SKILLSET.md': '---\nlicense: MIT\n---\n',
    'a/SKILL.md': skill('a'),
    'a/logo.png': `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 5\n`,
  })
  expect(report.findings).toMatchObject([
    {
      code: 'skill.not_installable',
      message: expect.stringContaining('Git LFS'),
      advice: expect.not.stringContaining('all the same'),
    },
  ])
})

test('symlinks of a working folder are the files at their targets, uncommitted ones too; a second path to a skill is not reported', async () => {
  await mkdir(join(root, 'skills/a'), { recursive: true })
  await symlink('../../shared/style.md', join(root, 'skills/a/style.md'))
  await symlink('/etc/hostname', join(root, 'skills/a/outside.md'))
  await symlink('skills', join(root, 'second'))
  execFileSync('git', ['init', '-q', root])
  const report = await check({
    'SKILLSET.md': '---\nlicense: MIT\n---\n',
    'shared/style.md': '# Style\n',
    'skills/a/SKILL.md': skill('a', '', 'Read [style](style.md) and [gone](gone.md).\n'),
  })
  expect(report.counts).toEqual({ skills: 1, documents: 1 })
  expect(report.skills).toMatchObject([
    {
      path: 'skills/a/SKILL.md',
      delivery: {
        files: ['skills/a/style.md'],
        references: ['skills/a/style.md'],
        notInstallable: null,
      },
    },
  ])
  expect(report.findings.map(({ code, path, line }) => [code, path, line])).toEqual([
    ['reference.broken', 'skills/a/SKILL.md', 5],
  ])
})
