import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Checked, CheckReport } from '#indexer/check/schema.ts'
import { type Client, joinSkill } from '#test/support/joined.ts'
import { testApp } from '#test/support/test-app.ts'

const LAUNCHER = fileURLToPath(new URL('../../bin/mountglass.mjs', import.meta.url))
const HANDBOOK = fileURLToPath(new URL('../../examples/handbook', import.meta.url))

let outside: string
let root: string
let started: ChildProcess[]
beforeEach(async () => {
  outside = await realpath(await mkdtemp(join(tmpdir(), 'mountglass-check-')))
  root = join(outside, 'tools')
  await mkdir(root)
  started = []
})
afterEach(async () => {
  for (const child of started) child.kill('SIGKILL')
  await chmod(join(root, 'locked'), 0o700).catch(() => {})
  await rm(outside, { recursive: true, force: true })
})

test('of a committed repository the check says what the interface delivers, skill by skill, whole and by folder', async () => {
  root = join(outside, 'handbook')
  await cp(HANDBOOK, root, { recursive: true })
  git('init', '-q')
  git('add', '.')
  git('commit', '-qm', 'first')
  const names = (await readdir(HANDBOOK, { recursive: true, withFileTypes: true })).filter(entry => entry.isFile())
  const files = await Promise.all(
    names.map(async ({ parentPath, name }) => {
      const path = join(parentPath, name)
      return [path.slice(HANDBOOK.length + 1), await readFile(path)] as const
    }),
  )
  const app = await testApp({ 'mountglass/handbook': Object.fromEntries(files) })
  try {
    await app.open('/local/mountglass/handbook')
    const client: Client = { get: (name, address, query) => app.ask(name, address, query) }
    for (const [address, folder] of [
      ['/local/mountglass/handbook', root],
      ['/local/mountglass/handbook@main/reviewing', join(root, 'reviewing')],
    ] as const) {
      const { index } = await app.ask('mounts', address)
      if (index.status !== 'ready') throw new Error(index.status)
      const { report } = await check([folder])
      expect(report.counts).toEqual(index.counts)
      expect(report.license).toEqual(index.license)
      expect(report.manifest).toEqual(index.manifest ?? null)
      expect(report.documents).toEqual(index.documents)
      expect(report.truncated).toEqual(index.truncated)
      expect(report.skills.filter(skill => skill.listed).map(skill => skill.path)).toEqual(index.skills.map(skill => skill.path))
      expect(report.skills.length).toBeGreaterThan(3)
      for (const diagnostic of index.diagnostics) expect(report.findings).toContainEqual(expect.objectContaining(diagnostic))
      for (const skill of report.skills) {
        const joined = await joinSkill(client, address, skill.path)
        expect({ path: skill.path, ...shapeOf(skill) }).toEqual({ path: skill.path, ...delivered(joined) })
      }
    }
  } finally {
    await app.close()
  }
})

/** What the check says, in the words of the interface. */
function shapeOf({ delivery, license, warnings, name, description }: Checked['skills'][number]) {
  const metadata = { name, description, license }
  if (delivery.kind === 'described') return { ...metadata, warnings, full: false, pages: 1, complete: true }
  const { pages, complete, rules, body, includes, files, references, characters, bytes } = delivery
  const outsideWarnings = delivery.outside.map(path => ({ code: 'reference.outside', message: expect.stringContaining(path) }))
  const sizes = (pieces: typeof rules) => pieces.map(piece => [piece.path, piece.characters, piece.bytes])
  return {
    ...metadata,
    warnings: [...warnings, ...outsideWarnings],
    full: true,
    pages,
    complete,
    rules: sizes(rules),
    body: [body.characters, body.bytes],
    includes: sizes(includes),
    files,
    references,
    total: [characters, bytes],
  }
}

function delivered({ first, complete, pages, rules, body, includes }: Awaited<ReturnType<typeof joinSkill>>) {
  const { name, description, warnings, serving } = first
  const metadata = { name, description, license: serving.license, warnings, full: serving.full, pages, complete }
  if (!serving.full) return metadata
  const size = (text: string) => [[...text].length, Buffer.byteLength(text)] as const
  const sizes = (pieces: typeof rules) => pieces.map(({ path, text }) => [path, ...size(text)])
  const all = [...rules, ...includes].map(piece => piece.text).join('') + body
  return {
    ...metadata,
    rules: sizes(rules),
    body: size(body),
    includes: sizes(includes),
    files: first.files,
    references: first.references,
    total: size(all),
  }
}

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

test('a folder outside git is checked with every file in it', async () => {
  await write({ 'SKILL.md': SKILL('tools'), 'references/more.md': 'More.\n' })
  const { report, code } = await check([root])
  expect([code, report.source, report.counts]).toEqual([0, 'folder', { skills: 1, documents: 0 }])
  expect(report.skills[0]?.delivery).toMatchObject({ kind: 'full', files: ['references/more.md'] })
})

test('of a folder of a work tree the rules, exclusions and licenses above it hold', async () => {
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
  expect(report.findings).toMatchObject([{ code: 'reference.outside', severity: 'warning', path: 'skills/a/SKILL.md' }])
})

test('a folder that a manifest above excludes or closes delivers nothing, and the report says why', async () => {
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

test('an empty folder is said to be empty', async () => {
  const { report, code } = await check([root])
  expect([code, report.delivered]).toEqual([0, 'empty'])
})

test('nothing outside the folder is read through links, and a pipe does not stop the check', async () => {
  await writeFile(join(outside, 'secret.md'), 'The secret sentence.\n')
  await write({ 'a/SKILL.md': '---\nname: a\ndescription: d\nlicense: MIT\ninclude: linked.md\n---\n[x](linked.md)\n' })
  await symlink('../../secret.md', join(root, 'a/linked.md'))
  await symlink('../secret.md', join(root, 'LICENSE'))
  execFileSync('mkfifo', [join(root, 'a/SKILLSET.md')])
  const { report, stdout, code } = await check([root])
  expect(code).toBe(1)
  expect(report.findings).toMatchObject([{ code: 'include.missing', severity: 'error', path: 'a/SKILL.md' }])
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
  ['there is none', 'nothing', 'does not exist'],
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
    /a\/SKILL\.md:6 +gone\.md leads to nothing → correct the link, or add the file {2}\[reference\.broken\]/,
  )
  expect(warned.stdout).toContain('✓ 0 errors, 2 warnings, 0 notes · 1 skill (1 in full')
  await write({ 'a/SKILL.md': '---\nname: a\ndescription: d\nlicense: MIT\ninclude: gone.md\n---\n' })
  const failed = await run([root])
  expect(failed.code).toBe(1)
  expect(failed.stdout).toMatch(/✗ a\/SKILL\.md:5 +include: no regular file a\/gone\.md/)
  expect(failed.stdout).toContain('incomplete: required content is missing')
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
  expect(open.report.findings).toMatchObject([{ code: 'folder.unlicensed', severity: 'warning', path: '' }])
  const closed = await check([root, '--private'])
  expect(closed.report.findings).toEqual([])
  expect([closed.report.visibility, closed.report.totals.full, bodyOf(closed.report, 'a/SKILL.md')?.characters]).toEqual([
    'private',
    1,
    6,
  ])
})

test('lines are told of files that are not delivered, too', async () => {
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
  ])
})

test('what a reader does not see is found with its line, and never reaches the terminal as it is', async () => {
  const hidden = '\u202Eevil\u200B\u{E0041}\u001B[31m'
  await write({
    'a/SKILL.md': `---\nname: a\ndescription: d\nlicense: MIT\n---\n# A\n\nText \u202E here.\n\n<!-- for agents -->\n\n[x](${hidden}.md)\n`,
    [`${hidden}/SKILL.md`]: SKILL('b'),
    'c\u202Egpj/SKILL.md': SKILL('c'),
  })
  const text = await run([root, '--all'])
  expect(text.stdout).toMatch(/! a\/SKILL\.md:8 .*\[text\.hidden_characters\]/)
  expect(text.stdout).toMatch(/· a\/SKILL\.md:10 .*\[text\.html_comment\]/)
  expect(text.stdout).toContain('c<U+202E>gpj/SKILL.md')
  const json = await run([root, '--json'])
  for (const output of [text.stdout, json.stdout]) expect(output).not.toMatch(/[\u202E\u200B\u{E0041}]|(?!\n)\p{Cc}/u)
  const report = CheckReport.parse(JSON.parse(json.stdout)) as Checked
  expect(report.skills.map(skill => skill.path)).toContain('c\u202Egpj/SKILL.md')
})

test('colours come only where they are wanted', async () => {
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
  expect(cut.stdout.match(/… and 20 more; --all shows them/g)).toHaveLength(2)
  expect(cut.stdout).toContain('in all 60 name.directory_mismatch')
  const whole = await run([root, '--all'])
  expect(whole.stdout).not.toContain('more; --all')
  expect(whole.stdout.match(/\[name\.directory_mismatch\]/g)).toHaveLength(60)
})

test('watching checks again when files change, come and go, also in new folders, until interrupted', async () => {
  await write({ 'a/SKILL.md': SKILL('a') })
  git('init', '-q')
  const watching = watch([root, '--watch', '--json'])
  expect(await watching.until(() => true)).toEqual(['a/SKILL.md'])
  await write({ 'b/c/d/SKILL.md': SKILL('d') })
  expect(await watching.until(paths => paths.length === 2)).toEqual(['a/SKILL.md', 'b/c/d/SKILL.md'])
  await mkdir(join(root, 'e/f'), { recursive: true })
  await write({ 'e/f/SKILL.md': SKILL('f') })
  expect(await watching.until(paths => paths.length === 3)).toContain('e/f/SKILL.md')
  await rm(join(root, 'b'), { recursive: true })
  expect(await watching.until(paths => paths.length === 2)).toEqual(['a/SKILL.md', 'e/f/SKILL.md'])
  await write({ 'b/SKILL.md': SKILL('b') })
  expect(await watching.until(paths => paths.length === 3)).toContain('b/SKILL.md')
  await rename(join(root, 'e'), join(root, 'g'))
  expect(await watching.until(paths => paths.includes('g/f/SKILL.md'))).toHaveLength(3)
  expect(await watching.interrupt()).toEqual({ code: 0, stderr: '' })
})

test('watching survives that the folder goes away and comes back', async () => {
  await write({ 'a/SKILL.md': SKILL('a') })
  const watching = watch([root, '--watch', '--json'])
  await watching.until(() => true)
  await rm(root, { recursive: true })
  await watching.said('does not exist')
  await write({ 'b/SKILL.md': SKILL('b') })
  expect(await watching.until(paths => paths.length === 1)).toEqual(['b/SKILL.md'])
  expect((await watching.interrupt()).code).toBe(0)
})

test('watching a folder that is not there is wrong use', async () => {
  expect(await run([join(root, 'nothing'), '--watch'])).toMatchObject({ code: 2, stdout: '' })
})

test('on a pipe watching writes no control character', async () => {
  await write({ 'a/SKILL.md': SKILL('a') })
  const watching = watch([root, '--watch'])
  await watching.said('1 skill (1 in full')
  await write({ 'b/SKILL.md': SKILL('b') })
  await watching.said('2 skills (2 in full')
  expect(watching.output()).not.toMatch(/(?!\n)\p{Cc}/u)
  await watching.interrupt()
})

function SKILL(name: string, body = 'Body.\n'): string {
  return `---\nname: ${name}\ndescription: does something\nlicense: MIT\n---\n${body}`
}

function bodyOf(report: Checked, path: string) {
  const delivery = report.skills.find(skill => skill.path === path)?.delivery
  return delivery?.kind === 'full' ? delivery.body : null
}

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), content)
  }
}

function git(...args: string[]): void {
  const person = ['-c', 'user.name=Test Person', '-c', 'user.email=test@example.org']
  execFileSync('git', ['-C', root, ...person, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
}

interface RunOptions {
  env?: Record<string, string>
  /** Rights of files hold for everyone but root. */
  asNobody?: boolean
}

function start(args: readonly string[], { env = {}, asNobody = false }: RunOptions = {}): ChildProcess {
  const user = asNobody && process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  if ('uid' in user) execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, outside])
  const child = spawn(process.execPath, [LAUNCHER, 'check', ...args], {
    env: { PATH: process.env.PATH, HOME: outside, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...user,
  })
  started.push(child)
  return child
}

const NOBODY = 65_534

async function run(args: readonly string[], options: RunOptions = {}) {
  const child = start(args, options)
  const output = { stdout: '', stderr: '' }
  child.stdout?.on('data', chunk => (output.stdout += chunk))
  child.stderr?.on('data', chunk => (output.stderr += chunk))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, ...output }
}

/** The report of `--json`, checked against its schema: every field known, none missing. */
async function check(args: readonly string[], options: RunOptions = {}) {
  const { code, stdout, stderr } = await run([...args, '--json'], options)
  if (stdout === '') throw new Error(`no report: ${stderr}`)
  const json: unknown = JSON.parse(stdout)
  const report = CheckReport.parse(json)
  expect(report).toEqual(json)
  if (report.status !== 'checked') throw new Error(report.message)
  return { code, stdout, report }
}

function watch(args: readonly string[]) {
  const child = start(args)
  const output = { stdout: '', stderr: '' }
  child.stdout?.on('data', chunk => (output.stdout += chunk))
  child.stderr?.on('data', chunk => (output.stderr += chunk))
  const lines = createInterface({ input: child.stdout as NonNullable<typeof child.stdout> })[Symbol.asyncIterator]()
  return {
    /** Skill paths of the first report from here on for which the test holds. */
    async until(test: (paths: string[]) => boolean): Promise<string[]> {
      for (;;) {
        const { value, done } = await lines.next()
        if (done) throw new Error(`it ended: ${output.stderr}`)
        const report = CheckReport.parse(JSON.parse(value))
        const paths = report.status === 'checked' ? report.skills.map(skill => skill.path) : []
        if (test(paths)) return paths
      }
    },
    async said(text: string): Promise<void> {
      await expect.poll(() => output.stdout + output.stderr, { timeout: 180_000 }).toContain(text)
    },
    output: () => output.stdout,
    async interrupt() {
      const closed = once(child, 'close')
      child.kill('SIGINT')
      const [code] = (await closed) as [number | null]
      return { code, stderr: output.stderr }
    },
  }
}
