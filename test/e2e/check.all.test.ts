import { execFileSync } from 'node:child_process'
import { chmod, mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { type Checked, CheckReport } from '#indexer/check/schema.ts'
import { check, git, outside, root, run, SKILL, useCheckScene, write } from './check-scene.ts'

useCheckScene()

test('files that are not committed count, ignored and deleted ones do not', async () => {
  await write({ '.gitignore': 'ignored/\n', 'old/SKILL.md': SKILL('old'), 'kept/SKILL.md': SKILL('kept') })
  git('init', '-q')
  git('add', '.')
  git('commit', '-qm', 'first')
  await rm(join(root, 'old'), { recursive: true })
  await write({ 'kept/SKILL.md': SKILL('kept', 'A body that was changed.\n') })
  await write({
    'staged/SKILL.md': SKILL('staged'),
    'untracked/SKILL.md': SKILL('untracked'),
    'ignored/SKILL.md': SKILL('ignored'),
  })
  git('add', 'staged')
  const { report, code } = await check([root])
  expect(code).toBe(0)
  expect(report.source).toBe('git')
  expect(report.skills.map(skill => skill.path)).toEqual(['kept/SKILL.md', 'staged/SKILL.md', 'untracked/SKILL.md'])
  expect(bodyOf(report, 'kept/SKILL.md')?.characters).toBe(25)
})

test('a folder outside git is checked with all its files', async () => {
  await write({ 'SKILL.md': SKILL('tools'), 'references/more.md': 'More.\n' })
  const { report, code } = await check([root])
  expect([code, report.source, report.counts]).toEqual([0, 'folder', { skills: 1, documents: 0 }])
  expect(report.skills[0]?.delivery).toMatchObject({ kind: 'full', files: ['references/more.md'] })
})

test('a folder of a work tree has the rules, exclusions and licenses above it', async () => {
  await write({
    'SKILLSET.md': '---\nlicense: CC-BY-4.0\ninclude: [shared.md]\nexclude: [drafts/]\n---\nBe brief.\n',
    'shared.md': 'Shared.\n',
    'skills/SKILLSET.md': '---\nname: skills\n---\nBe kind.\n',
    'skills/a/SKILL.md': '---\nname: a\ndescription: does\n---\nSee [shared](../../shared.md).\n',
    'skills/drafts/b/SKILL.md': SKILL('b'),
    'other/SKILL.md': SKILL('other'),
  })
  git('init', '-q')
  const { report, code } = await check([join(root, 'skills')])
  expect([code, report.folder, report.manifest?.path]).toEqual([0, 'skills', 'skills/SKILLSET.md'])
  const [skill, ...others] = report.skills
  expect(others).toEqual([])
  expect(skill).toMatchObject({ path: 'skills/a/SKILL.md', license: { kind: 'open', name: 'CC-BY-4.0', source: 'SKILLSET.md' } })
  if (skill?.delivery.kind !== 'full') throw new Error('not in full')
  expect(skill.delivery.rules.map(piece => piece.path)).toEqual(['SKILLSET.md', 'skills/SKILLSET.md'])
  expect(skill.delivery.includes.map(piece => piece.path)).toEqual(['shared.md'])
  expect(skill.delivery.outside).toEqual(['shared.md'])
  expect(report.excluded).toEqual([{ path: 'skills/drafts', skills: 1 }])
  expect(report.findings).toMatchObject([{ code: 'reference.outside', severity: 'warning', path: 'skills/a/SKILL.md' }])
})

test('a folder that a manifest above excludes or closes delivers nothing, and the report gives the reason', async () => {
  await write({ 'SKILLSET.md': '---\nexclude: [drafts]\n---\n', 'drafts/a/SKILL.md': SKILL('a') })
  await write({ 'closed/SKILLSET.md': '---\nexclude: 7: 8\n---\n', 'closed/deep/SKILL.md': SKILL('b') })
  git('init', '-q')
  const excluded = await check([join(root, 'drafts')])
  expect([excluded.code, excluded.report.delivered, excluded.report.skills]).toEqual([0, 'excluded', []])
  expect(excluded.report.findings).toMatchObject([{ code: 'folder.excluded', path: 'drafts' }])
  const closed = await check([join(root, 'closed/deep')])
  expect([closed.code, closed.report.delivered, closed.report.skills]).toEqual([1, 'closed', []])
  expect(closed.report.findings).toMatchObject([{ code: 'manifest.unreadable', severity: 'error', path: 'closed/SKILLSET.md' }])
})

test('an empty folder is reported as empty', async () => {
  const { report, code } = await check([root])
  expect([code, report.delivered]).toEqual([0, 'empty'])
})

test('a folder whose files agents do not read is not called empty', async () => {
  await write({ 'main.c': 'int main() {}\n' })
  const { report, code } = await check([root])
  expect([code, report.delivered, report.findings]).toEqual([0, 'open', []])
})

test('nothing outside the folder is read through links, and a pipe does not stop the check', async () => {
  await writeFile(join(outside, 'secret.md'), 'The secret sentence.\n')
  await write({ 'a/SKILL.md': '---\nname: a\ndescription: d\nlicense: MIT\ninclude: linked.md\n---\n[x](linked.md)\n' })
  await symlink('../../secret.md', join(root, 'a/linked.md'))
  await symlink('../secret.md', join(root, 'LICENSE'))
  execFileSync('mkfifo', [join(root, 'a/SKILLSET.md')])
  const { report, stdout, code } = await check([root])
  expect(code).toBe(1)
  expect(report.findings).toMatchObject([
    { code: 'include.missing', severity: 'error', path: 'a/SKILL.md' },
    { code: 'reference.unreadable', severity: 'warning', path: 'a/SKILL.md' },
  ])
  expect(report.skills[0]?.delivery).toMatchObject({ complete: false, includes: [] })
  expect(stdout).not.toContain('secret sentence')
})

test.each([
  ['SKILL.md', 'skill.unreadable'],
  ['SKILLSET.md', 'manifest.unreadable'],
])('a %s that may not be read is an error', async (name, code) => {
  await write({ 'a/SKILL.md': SKILL('a'), 'SKILLSET.md': '---\nname: x\n---\n' })
  const path = name === 'SKILL.md' ? 'a/SKILL.md' : name
  await chmod(join(root, path), 0o000)
  const found = await check([root], { asNobody: true })
  expect(found.code).toBe(1)
  expect(found.report.findings).toContainEqual(expect.objectContaining({ code, severity: 'error', path }))
})

test.each(['outside git', 'tracked by git', 'not tracked by git'])(
  'a folder that may not be listed is an error, and as the folder to check wrong use: %s',
  async where => {
    await write({ 'locked/SKILL.md': SKILL('locked'), 'a/SKILL.md': SKILL('a') })
    if (where !== 'outside git') git('init', '-q')
    if (where === 'tracked by git') git('add', '.')
    await chmod(join(root, 'locked'), 0o000)
    const { report, code } = await check([root], { asNobody: true })
    expect(code).toBe(1)
    expect(report.findings).toMatchObject([{ code: 'folder.unreadable', severity: 'error', path: 'locked' }])
    expect(report.skills.map(skill => skill.path)).toEqual(['a/SKILL.md'])
    const refused = await run([join(root, 'locked')], { asNobody: true })
    expect([refused.code, refused.stdout]).toEqual([2, ''])
    expect(refused.stderr).toMatch(/^mountglass: the folder .*locked may not be read\n$/)
  },
)

test.each([
  ['is missing', 'nothing', 'does not exist'],
  ['it is a file', 'file', 'is not a folder'],
])('wrong use ends with 2 and one line: %s', async (_why, name, message) => {
  await writeFile(join(root, 'file'), 'x')
  const { code, stdout, stderr } = await run([join(root, name)])
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(new RegExp(`^mountglass: .*${message}\\n$`))
})

test('warnings end with 0, errors with 1', async () => {
  await write({ 'a/SKILL.md': '---\nname: other\ndescription: d\nlicense: MIT\n---\n[x](gone.md)\n' })
  const warned = await run([root])
  expect(warned.code).toBe(0)
  expect(warned.stdout).toMatch(
    /^ {2}! a\/SKILL\.md:6 {2}gone\.md leads to nothing → correct the path, or add the file \[reference\.broken\]$/m,
  )
  expect(warned.stdout).toMatch(/\n✓ 0 errors, 2 warnings · 1 skill, ~\d+ tokens · no license · \d\.\d s\n$/)
  await write({ 'a/SKILL.md': '---\nname: a\ndescription: d\nlicense: MIT\ninclude: gone.md\n---\n' })
  const failed = await run([root])
  expect(failed.code).toBe(1)
  expect(failed.stdout).toMatch(/✗ a\/SKILL\.md:5 {2}include: no regular file a\/gone\.md/)
  expect(failed.stdout).toMatch(/^ {2}a .* incomplete, MIT$/m)
  expect((await run([root, '-v'])).stdout).toContain('incomplete: required content is missing')
})

test('a repository that no index could hold fails with its code, in text and as JSON', async () => {
  await mkdir(join(root, 'many'))
  for (let number = 0; number < 2_100; number++) {
    const folder = join(root, 'many', String(number))
    await mkdir(folder)
    await writeFile(join(folder, 'SKILLSET.md'), `---\nname: x\n---\n${'x'.repeat(65_000)}`)
  }
  const { code, stdout } = await run([root, '--json'])
  expect(code).toBe(1)
  expect(CheckReport.parse(JSON.parse(stdout))).toMatchObject({ status: 'failed', errorCode: 'index.manifests_unreadable' })
  const text = await run([root])
  expect([text.code, text.stdout]).toEqual([1, expect.stringMatching(/^✗ index\.manifests_unreadable: .+\n$/)])
})

test('without a license a public repository is described, a private one delivered', async () => {
  await write({ 'a/SKILL.md': '---\nname: a\ndescription: d\n---\nBody.\n' })
  const open = await check([root])
  expect([open.code, open.report.totals.described]).toEqual([0, 1])
  expect(open.report.skills[0]?.delivery).toMatchObject({ kind: 'described', reason: expect.stringContaining('no license') })
  expect(open.report.findings).toMatchObject([
    { code: 'folder.unlicensed', severity: 'warning', path: '' },
    { code: 'folder.links_unchecked', severity: 'info', path: '' },
  ])
  const closed = await check([root, '--private'])
  expect(closed.report.findings).toEqual([])
  expect([closed.report.visibility, closed.report.totals.full, bodyOf(closed.report, 'a/SKILL.md')?.characters]).toEqual([
    'private',
    1,
    6,
  ])
})

test('findings have lines even in files that are not delivered', async () => {
  await write({
    'SKILLSET.md': '---\nname: Tools\nlicense: Proprietary\n---\n',
    'a/SKILL.md': '---\nname: b\ndescription: d\n---\nBody.\n',
    'c/SKILLSET.md': '---\nname: C\nlanguage: "?"\n---\n',
    'c/SKILL.md': SKILL('c'),
  })
  const { report } = await check([root])
  expect(report.findings.map(({ code, path, line }) => [code, path, line])).toEqual([
    ['name.directory_mismatch', 'a/SKILL.md', 2],
    ['manifest.invalid_field', 'c/SKILLSET.md', 3],
    ['folder.links_unchecked', '', undefined],
  ])
})

test('hidden characters are reported with their lines, and printed escaped', async () => {
  const hidden = '\u202Eevil\u200B\u{E0041}\u001B[31m'
  await write({
    'a/SKILL.md': `---\nname: a\ndescription: d\nlicense: MIT\n---\n# A\n\nText \u202E here.\n\n<!-- for agents -->\n\n[x](${hidden}.md)\n`,
    [`${hidden}/SKILL.md`]: SKILL('b'),
    'c\u202Egpj/SKILL.md': SKILL('c'),
  })
  const text = await run([root, '--all'])
  expect(text.stdout).toMatch(/! a\/SKILL\.md:8\s(?:[^\n]*\n)?[^\n]*\[text\.hidden_characters\]/)
  expect(text.stdout).toMatch(/· a\/SKILL\.md:10\s(?:[^\n]*\n){0,2}[^\n]*\[text\.html_comment\]/)
  expect(text.stdout).toContain('  c<U+202E>gpj ')
  const json = await run([root, '--json'])
  for (const output of [text.stdout, json.stdout]) expect(output).not.toMatch(/[\u202E\u200B\u{E0041}]|(?!\n)\p{Cc}/u)
  const report = CheckReport.parse(JSON.parse(json.stdout)) as Checked
  expect(report.skills.map(skill => skill.path)).toContain('c\u202Egpj/SKILL.md')
})

test('colours are printed only on request', async () => {
  await write({ 'a/SKILL.md': SKILL('other') })
  const [plain, forced, none] = await Promise.all([
    run([root]),
    run([root], { env: { FORCE_COLOR: '1' } }),
    run([root], { env: { NO_COLOR: '1' } }),
  ])
  expect(plain.stdout).not.toContain('\u001B')
  expect(none.stdout).not.toContain('\u001B')
  expect(forced.stdout).toContain('\u001B[33m!')
})

test('long lists are cut with a count, and whole with --all', async () => {
  await write(Object.fromEntries(Array.from({ length: 60 }, (_, number) => [`${number}/SKILL.md`, SKILL(`other-${number}`)])))
  const cut = await run([root])
  expect(cut.stdout).toContain('60 warnings')
  expect(cut.stdout.match(/… and \d+ more; --all shows them/g)).toEqual([
    '… and 20 more; --all shows them',
    '… and 50 more; --all shows them',
  ])
  for (const option of ['--all', '-v', '--verbose']) {
    const { stdout } = await run([root, option])
    expect(stdout).not.toContain('more; --all')
    expect(stdout.match(/^ {2}! \d+\/SKILL\.md:2/gm)).toHaveLength(60)
    expect(stdout.match(/\[name\.directory_mismatch\]/g)).toHaveLength(1)
    expect(stdout.includes(' characters, ')).toBe(option !== '--all')
  }
})

test('24 skills take 24 lines, also where nothing says how wide a line may be', async () => {
  const deep = 'plugins/accessibility-compliance-of-documents/skills'
  await write(
    Object.fromEntries(Array.from({ length: 24 }, (_, number) => [`${deep}/s-${number}/SKILL.md`, SKILL(`s-${number}`)])),
  )
  const { stdout } = await run([root])
  const [head, list = ''] = stdout.split('\n\n')
  expect(head).toBe('all files: this is not a git work tree')
  const [title, ...skills] = list.split('\n')
  expect([title?.startsWith('24 skills'), skills.length]).toEqual([true, 24])
  expect(skills.filter(line => !/^ {2}plugins\/\S+\/s-\d+ +~\d+ {2}MIT$/.test(line))).toEqual([])
})

test('links are printed where they are forced, to files by name', async () => {
  await write({ 'a b#1/SKILL.md': SKILL('other') })
  const { stdout } = await run([root], { env: { FORCE_HYPERLINK: '1' } })
  const urls = [...stdout.matchAll(/\]8;;file:(\S+?)\p{Cc}/gu)].map(([, url]) => new URL(`file:${url}`).pathname)
  const targets = urls.map(path => fileURLToPath(`file://${path}`))
  expect(targets).toEqual(Array(2).fill(join(root, 'a b#1/SKILL.md')))
  expect((await run([root])).stdout).not.toContain('\u001B')
})

function bodyOf(report: Checked, path: string) {
  const delivery = report.skills.find(skill => skill.path === path)?.delivery
  return delivery?.kind === 'full' ? delivery.body : null
}
