import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ENDPOINTS } from '#core/contract/endpoints.ts'
import { OVERVIEW_SKILLS } from '#core/limits.ts'
import { type Ran, runCommand, startWithClosedOutput } from '#test/support/command.ts'
import { type FakeGitHub, startFakeGitHub } from '#test/support/fake-github/server.ts'
import { programEnvironment } from '#test/support/program-environment.ts'
import { createRepositories, type TestRepositories, type TestRepository } from '#test/support/repository.ts'
import { type Service, startService } from '#test/support/service.ts'
import { makeSlowGit } from '#test/support/slow-git.ts'
import { hasSmallDisks, runOnSmallDisk } from '#test/support/small-disk.ts'
import { until } from '#test/support/until.ts'

const LAUNCHER = fileURLToPath(new URL('../../bin/mountglass.mjs', import.meta.url))
const HIDDEN = /\p{Cc}(?<!\n)|\p{Bidi_Control}/u
const MIT = '{"license":"MIT"}\n'
const LONG = `${'A long line of a long text. '.repeat(40)}\n`.repeat(40)
/** More skills than a mount lists. */
const MANY = Array.from({ length: OVERVIEW_SKILLS + 10 }, (_, number) => `s${number}`)
const FILES = {
  'package.json': MIT,
  'SKILLSET.md': '---\nname: Tools\ndescription: Tools of acme.\n---\nBe careful.\n',
  'skills/a/SKILL.md': '---\nname: a\ndescription: Reads \u001b[31mred\u202E text.\n---\nDo \u001b[31mit\u202E.\n',
  'skills/b/SKILL.md': '---\nname: b\ndescription: Writes tables.\ninclude: [more.md]\n---\nDo that.\n',
  'skills/b/more.md': '# More\n',
  'skills/long/SKILL.md': `---\nname: long\ndescription: Long.\n---\n${LONG}`,
  'skills/closed/SKILL.md': '---\nname: closed\ndescription: Closed.\nlicense: Proprietary\n---\nSecret.\n',
  'docs/guide.md': '# Guide\n\nHow to weave baskets.\n',
}

let repositories: TestRepositories
let tools: TestRepository
let github: FakeGitHub
/** The cache, the folder for temporary files, and the folder of the commands. */
let cache: string
let temporary: string
let home: string

beforeAll(async () => {
  repositories = await createRepositories()
  tools = await repositories.create('acme', 'tools')
  await tools.commit(FILES)
  await (await repositories.create('acme', 'one')).commit({
    'package.json': MIT,
    'x/SKILL.md': '---\nname: x\ndescription: X.\n---\nX.\n',
  })
  const many = [...MANY.map(name => [`all/${name}`, name]), ['more/s0', 's0']]
  await (await repositories.create('acme', 'many')).commit({
    'package.json': MIT,
    ...Object.fromEntries(many.map(([folder, name]) => [`${folder}/SKILL.md`, `---\nname: ${name}\ndescription: D.\n---\nX.\n`])),
  })
  github = await startFakeGitHub({ root: repositories.root })
})
afterAll(async () => {
  await github.close()
  await repositories.remove()
})
beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), 'mountglass-read-')))
  cache = join(home, 'cache')
  temporary = join(home, 'tmp')
  await mkdir(temporary)
  github.faults.clear()
  github.limits.reset()
  return async () => {
    await chmod(cache, 0o700).catch(() => {})
    await rm(home, { recursive: true, force: true })
  }
})

const environment = (env: Record<string, string> = {}) => ({
  XDG_CACHE_HOME: cache,
  TMPDIR: temporary,
  ...github.settings(),
  ...env,
})
const run = (args: string[], env?: Record<string, string>, cwd = home) => runCommand(args, { env: environment(env), cwd })
/** Runs a program as a process, beside which the git host in this one answers. */
async function start(program: string, args: string[], env: Record<string, string> = {}): Promise<Ran> {
  const child = spawn(program, args, { env: { ...programEnvironment(), ...environment(env) }, cwd: home })
  const ran = { stdout: '', stderr: '' }
  child.stdout.on('data', chunk => (ran.stdout += chunk))
  child.stderr.on('data', chunk => (ran.stderr += chunk))
  const [status] = (await once(child, 'close')) as [number | null]
  return { status, ...ran }
}
const startReader = (args: string[]) => start(process.execPath, [LAUNCHER, ...args])

/** A clone in the folder of the commands, whose files are those of its commit. */
async function clone(name = 'clone'): Promise<string> {
  const folder = join(home, name)
  spawnSync('git', ['clone', '-q', tools.gitDir, folder], { env: programEnvironment() })
  return folder
}

const stored = async () => (await readdir(join(cache, 'mountglass', 'repositories')).catch(() => [])).sort()

describe('mountglass <address>', () => {
  test('prints name, commit, license, skills, documents and commands; the second time from the cache, without asking', async () => {
    const first = await startReader(['acme/tools'])
    expect(first).toMatchObject({ status: 0, stderr: '' })
    const commit = await tools.git('rev-parse', 'main')
    for (const line of [
      'Tools\n',
      'Tools of acme.',
      `commit    ${commit} (main, `,
      'license   MIT by package.json',
      '4 skills',
      '1 document',
    ])
      expect(first.stdout).toContain(line)
    for (const line of [
      'skills/b ',
      'text withheld',
      'Writes tables.',
      'docs/guide.md',
      'mountglass read gh/acme/tools skills/a',
    ])
      expect(first.stdout).toContain(line)
    github.faults.choose(() => ({ reset: true }))
    expect(await startReader(['https://github.com/acme/tools'])).toEqual(first)
    expect(await stored()).toEqual([expect.stringMatching(/^gh-acme-tools-[0-9a-f]{16}$/)])
    expect(await readdir(temporary)).toEqual([])
  })

  test('of a pasted URL of a file reads the folder of the file, and read the file', async () => {
    const url = 'https://github.com/acme/tools/blob/main/docs/guide.md'
    expect((await run([url])).stdout).toContain('address   gh/acme/tools@main/docs')
    expect((await run(['read', url])).stdout).toBe('==> docs/guide.md (file)\n# Guide\n\nHow to weave baskets.\n')
  })

  test('takes owner/repository for the local one, if there is one', async () => {
    const { stdout } = await run(['acme/tools'], { MOUNTGLASS_LOCAL_REPOSITORIES: repositories.root })
    expect(stdout).toContain('address   local/acme/tools')
    expect((await run(['mountglass/handbook'])).stdout).toContain('address   local/mountglass/handbook')
  })

  test('prints the answer of the interface with --json, hidden characters escaped', async () => {
    const { stdout } = await run(['gh/acme/tools', '--json'])
    expect(ENDPOINTS.mounts.answer.parse(JSON.parse(stdout))).toMatchObject({
      address: '/gh/acme/tools',
      index: { status: 'ready' },
    })
    expect(stdout).not.toMatch(HIDDEN)
  })

  test('never sends control characters, in pipes either', async () => {
    for (const args of [
      ['gh/acme/tools', '--all'],
      ['find', 'gh/acme/tools', 'text'],
    ]) {
      const { stdout } = await run(args)
      expect(stdout).not.toMatch(HIDDEN)
      expect(stdout).toContain('skills/a')
    }
  })
})

describe('mountglass <folder>', () => {
  test('reads a clean folder by its commit, from the cache, and says when there are changes', async () => {
    const folder = await clone()
    const commit = await tools.git('rev-parse', 'main')
    const clean = await run([], {}, folder)
    expect(clean.stdout).toContain(`commit    ${commit}\n`)
    expect(JSON.parse((await run(['.', '--json'], {}, folder)).stdout)).toMatchObject({
      address: null,
      repository: null,
      ref: null,
      pinned: null,
      commit,
    })
    expect(await stored()).toHaveLength(1)
    await writeFile(join(folder, 'skills/b/SKILL.md'), '---\nname: b\ndescription: Changed.\n---\nNew text.\n')
    const changed = await run(['clone'])
    expect(changed.stdout).toContain(`commit    ${commit} with uncommitted changes`)
    expect(changed.stdout).toContain('Changed.')
    const { stdout } = await run(['read', 'clone', 'skills/b', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ commit: null, skill: { body: 'New text.\n', serving: { sourceUrl: null } } })
    expect(await stored()).toHaveLength(1)
  })

  test('runs no filter of the repository', async () => {
    const folder = await clone()
    await writeFile(join(folder, '.git/config'), '[filter "evil"]\n\tclean = touch ../ran\n\tsmudge = touch ../ran\n', {
      flag: 'a',
    })
    await writeFile(join(folder, '.git/info/attributes'), '* filter=evil\n')
    await writeFile(join(folder, 'docs/guide.md'), FILES['docs/guide.md'])
    expect((await run([folder])).status).toBe(0)
    expect(await readdir(home)).not.toContain('ran')
  })

  test('outside git is read whole; a folder wins over an address of the same letters', async () => {
    await mkdir(join(home, 'gh/acme/tools/own'), { recursive: true })
    await writeFile(join(home, 'gh/acme/tools/own/SKILL.md'), '---\nname: own\ndescription: Own.\n---\nOwn.\n')
    const { stdout } = await run(['gh/acme/tools'])
    expect(stdout).toContain('none: this is not a git work tree')
    expect((await run(['gh/acme/tools', '--private'])).stdout).toMatch(/ {2}own +~\d+ tokens/)
    expect((await run(['/gh/acme/tools'])).stdout).toContain('address   gh/acme/tools')
  })
})

describe('mountglass read', () => {
  test('prints each text under a line with its path, and with --exact the texts alone', async () => {
    const { stdout } = await run(['read', 'gh/acme/tools', 'skills/b'])
    expect(stdout).toBe(
      '==> SKILLSET.md (rules)\nBe careful.\n==> skills/b/SKILL.md (skill)\nDo that.\n==> skills/b/more.md (included file)\n# More\n',
    )
    expect((await run(['read', 'gh/acme/tools/skills/b', '--exact'])).stdout).toBe('Be careful.\nDo that.\n# More\n')
    expect((await run(['read', 'gh/acme/tools', 'skills/a/SKILL.md', '--exact'])).stdout).toContain('Do \u001b[31mit\u202E.')
    expect((await run(['read', 'gh/acme/one'])).stdout).toBe('==> x/SKILL.md (skill)\nX.\n')
  })

  test('takes the first seven digits of a hash for the commit, and not fewer', async () => {
    const older = await repositories.create('acme', 'older')
    const first = await older.commit({ 'package.json': MIT, 'docs/guide.md': 'First.\n' })
    const tip = await older.commit({ 'docs/guide.md': 'Second.\n' })
    const local = { MOUNTGLASS_LOCAL_REPOSITORIES: repositories.root }
    const read = async (address: string) => (await run(['read', address, 'docs/guide.md', '--exact'], local)).stdout
    expect(await read(`gh/acme/older@${tip.slice(0, 7)}`)).toBe('Second.\n')
    // The host of a local repository lists its commits, GitHub only what branches and tags name.
    expect(await read(`local/acme/older@${first.slice(0, 7).toUpperCase()}`)).toBe('First.\n')
    for (const ref of [first.slice(0, 6), 'abcdef0'])
      expect(await run(['read', `local/acme/older@${ref}`, 'docs/guide.md'], local)).toEqual({
        status: 2,
        stdout: '',
        stderr: expect.stringContaining('mount.ref_not_found'),
      })
  })

  test('prints all pages, or the one that --page names', async () => {
    const whole = (await run(['read', 'gh/acme/tools', 'skills/long', '--exact'])).stdout
    expect(whole).toBe(`Be careful.\n${LONG}`)
    const pages: string[] = []
    for (const page of ['1', '2', '3'])
      pages.push((await run(['read', 'gh/acme/tools', 'skills/long', '--exact', '--page', page])).stdout)
    expect(pages.join('')).toBe(whole)
    expect((await run(['read', 'gh/acme/tools', 'skills/long', '--page', '2'])).stdout).toMatch(
      /^==> skills\/long\/SKILL\.md \(skill, continued, page 2 of 3\)\n/,
    )
    const json = JSON.parse((await run(['read', 'gh/acme/tools', 'skills/long', '--page', '2', '--json'])).stdout)
    expect(ENDPOINTS.skills.answer.parse(json)).toMatchObject({ skill: { bodyFragment: { index: 1 } } })
  })

  test.each<[string[], number, RegExp]>([
    [['read', 'gh/acme/tools'], 2, /several skills.*\n {2}skills\/a\n {2}skills\/b\n/],
    [['read', 'gh/acme/tools', 'skills/none'], 2, /file\.not_found/],
    [['read', 'gh/acme/tools', 'b', '--page', '2'], 2, /there is no page 2: the text has 1 page\n/],
    [['read', 'gh/acme/tools', 'skills/none/SKILL.md'], 2, /skill\.not_found/],
    [['read', 'gh/acme/tools', 'closed'], 1, /skills\/closed\/SKILL\.md: text withheld/],
    [['read', 'gh/acme/many', 's8'], 2, /did you mean all\/s8\/SKILL\.md\?/],
    [['read', 'gh/acme/many', 's0'], 2, /s0 has several skills.*\n {2}all\/s0\n {2}more\/s0\n/],
    [['read', 'gh/acme/many', 's99'], 2, /skill\.not_found/],
    [['read', 'gh/acme/tools', '../x'], 2, /not a path/],
    [['read', 'gh/acme/tools', 'skills/b', '--page', '2'], 2, /there is no page 2: the text has 1 page\n/],
    [['read', 'gh/acme/tools', 'docs/guide.md', '--page', '2'], 2, /the text has 1 page\n/],
    [['read', 'gh/acme/tools', 'docs/guide.md', '--page', '0'], 2, /whole number/],
    [['read', 'gh/acme/tools/docs'], 2, /has no skill: name a file/],
    [['read', 'gh/acme/tools', 'skills/closed'], 1, /text withheld.*github|text withheld.*http:/],
    [['gh/acme/none'], 2, /no public repository acme\/none; .*--service/],
    [['gh/acme/tools@none'], 2, /mount\.ref_not_found/],
    [['gh/acme/tools/none'], 2, /mount\.path_not_found/],
    [['gh/acme'], 2, /is an account/],
    [['https://example.org/acme/tools'], 2, /only addresses/],
    [['./none'], 2, /does not exist/],
    [['chek'], 2, /unknown command chek, .*did you mean mountglass check\?/],
    [['chek', '--watch', '.'], 2, /unknown command chek/],
    [['frobnicate'], 2, /unknown command frobnicate.*--help/],
    [['gh/acme/tools', 'skills/b'], 2, /one address or folder/],
    [['gh/acme/tools', '--none'], 2, /unknown option '--none'/],
    [['status', '--all'], 2, /^error: unknown option '--all'\n`--help` [^\n]+\n$/],
    [['.', '--service', 'http://127.0.0.1:4321'], 2, /--service asks a deployment/],
    [['gh/acme/tools', '--service', 'example.org'], 2, /--service: must be the base URL/],
    [[], 2, /Usage: mountglass/],
  ])('%j has exit code %i, and prints nothing', async (args, status, message) => {
    expect(await run(args)).toEqual({ status, stdout: '', stderr: expect.stringMatching(message) })
  })
})

test('mountglass find without words, or with too many, has exit code 2 and says what a query is', async () => {
  for (const query of [' ', 'a'.repeat(501)])
    expect(await run(['find', 'gh/acme/tools', query])).toEqual({
      status: 2,
      stdout: '',
      stderr: 'mountglass: request.invalid: parameter query must be a text of 1 to 500 characters that is not blank\n',
    })
})

test('mountglass find prints what has the words, and that nothing has them, with 0', async () => {
  const { status, stdout } = await run(['find', 'gh/acme/tools', 'weave', 'baskets'])
  expect([status, stdout]).toEqual([0, expect.stringContaining('docs/guide.md  document')])
  expect(stdout).toContain('mountglass read gh/acme/tools docs/guide.md')
  expect(await run(['find', 'gh/acme/tools', 'zebra'])).toEqual({
    status: 0,
    stdout: 'No skill or document has the words "zebra".\n',
    stderr: '',
  })
  const json = JSON.parse((await run(['find', 'gh/acme/tools', 'weave', '--json'])).stdout)
  expect(ENDPOINTS.find.answer.parse(json)).toMatchObject({ items: [{ path: 'docs/guide.md' }] })
})

describe('with a service', () => {
  let service: Service
  beforeAll(async () => {
    service = await startService({ MOUNTGLASS_LOCAL_REPOSITORIES: repositories.root, MOUNTGLASS_GITHUB: 'off' })
  })
  afterAll(() => service.stop())

  test('it is asked, nothing is kept here, and the next commands name it', async () => {
    const { status, stdout } = await run(['local/acme/tools', '--service', service.baseUrl])
    expect([status, stdout]).toEqual([
      0,
      expect.stringContaining(`mountglass read --service ${service.baseUrl} local/acme/tools skills/a`),
    ])
    const env = { MOUNTGLASS_SERVICE: service.baseUrl }
    expect(
      (await run(['read', `${service.baseUrl}/local/acme/tools?view=skill&path=skills/b/SKILL.md`, '--exact'], env)).stdout,
    ).toContain('Do that.')
    expect((await run(['find', 'local/acme/tools', 'baskets'], env)).stdout).toContain('docs/guide.md')
    expect((await run([await clone()], env)).stdout).toContain('folder ')
    expect((await stored()).filter(name => name.startsWith('local-'))).toEqual([])
  })

  test('that cannot be reached, the command has exit code 1', async () => {
    const { status, stderr } = await run(['local/acme/tools'], { MOUNTGLASS_SERVICE: 'http://127.0.0.1:2' })
    expect([status, stderr]).toEqual([1, expect.stringContaining('service.unreachable')])
  })
})

describe('while the host cannot be asked', () => {
  /** As if the commands before had run so long ago. */
  async function age(seconds: number): Promise<void> {
    const [name = ''] = await stored()
    const file = join(cache, 'mountglass', 'repositories', name, 'host.json')
    const earlier = (await readFile(file, 'utf8')).replace(
      /"askedAt":(\d+)/g,
      (_, at) => `"askedAt":${Number(at) - seconds * 1000}`,
    )
    await writeFile(file, earlier)
  }
  const down = () => github.faults.choose(() => ({ reset: true }))

  test('the commit that was known is read for ten minutes, with one line', async () => {
    const { stdout } = await run(['gh/acme/tools'])
    down()
    await age(300)
    const stale = await run(['gh/acme/tools'])
    expect(stale).toEqual({
      status: 0,
      stdout,
      stderr: expect.stringMatching(/^mountglass: .* cannot be asked: .* 5 minutes ago\n$/),
    })
    await age(300)
    expect(await run(['gh/acme/tools'])).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringContaining('mount.unavailable'),
    })
  })

  test('a full commit is read for as long as it is kept', async () => {
    const address = `gh/acme/tools@${await tools.git('rev-parse', 'main')}`
    const { stdout } = await run([address])
    down()
    await age(100_000)
    expect(await run([address])).toMatchObject({ status: 0, stdout })
    expect((await run(['gh/acme/tools'])).status).toBe(1)
  })

  test('what it hides by then is not read any more, by no later command, until it is shown again', async () => {
    const commit = await tools.git('rev-parse', 'main')
    const { stdout } = await run(['gh/acme/tools'])
    const repository = [...github.world.repositories].find(({ name }) => name === 'tools')
    if (!repository) throw new Error('the stand-in has no such repository')
    repository.visibility = 'private'
    try {
      await age(100)
      expect(await run(['gh/acme/tools'])).toMatchObject({ status: 2, stdout: '' })
      down()
      for (const address of ['gh/acme/tools', `gh/acme/tools@${commit}`])
        expect(await run(['read', address, 'skills/b'])).toMatchObject({ status: 1, stdout: '' })
    } finally {
      repository.visibility = 'public'
      github.faults.clear()
    }
    expect(await run(['gh/acme/tools'])).toMatchObject({ status: 0, stdout })
  })
})

describe('the cache', () => {
  test('that cannot be written leaves the answer as it is, with one line', async () => {
    const folder = await clone()
    await writeFile(cache, '')
    const { status, stdout, stderr } = await startReader([folder])
    expect([status, stderr]).toEqual([
      0,
      expect.stringMatching(/^mountglass: nothing is kept .*cannot be written.*XDG_CACHE_HOME.*\n$/),
    ])
    expect(stdout).toContain('4 skills')
    await rm(cache)
    expect(await run([folder], { MOUNTGLASS_CACHE_MEGABYTES: '0' })).toEqual({ status: 0, stdout, stderr: '' })
    expect(await stored()).toEqual([])
  })

  test('without a home has one line; a relative XDG_CACHE_HOME does not count', async () => {
    const { status, stderr } = await run([await clone()], { XDG_CACHE_HOME: 'relative' })
    expect([status, stderr]).toEqual([0, expect.stringMatching(/^mountglass: nothing is kept .*HOME.*\n$/)])
  })

  test('serves commands that run at once', async () => {
    const processes = Array.from({ length: 3 }, () =>
      spawn(process.execPath, [LAUNCHER, 'gh/acme/tools', '--json'], {
        env: { ...programEnvironment(), ...environment() },
        cwd: home,
      }),
    )
    const outputs = await Promise.all(
      processes.map(async child => {
        let text = ''
        child.stdout.on('data', chunk => (text += chunk))
        const [code] = (await once(child, 'close')) as [number]
        return { code, mount: { ...JSON.parse(text), index: { ...JSON.parse(text).index, indexedAt: null } } }
      }),
    )
    for (const output of outputs) expect(output).toEqual({ code: 0, mount: outputs[0]?.mount })
  })

  test('stays within its bound: what was used longest ago goes', async () => {
    const env = { MOUNTGLASS_CACHE_MEGABYTES: '1' }
    const noise = () => Array.from({ length: 40_000 }, () => Math.random().toString(36).slice(2)).join('\n')
    for (const name of ['first', 'second', 'third']) {
      const repository = await repositories.create('acme', `large-${name}`)
      await repository.commit({
        'package.json': MIT,
        'a.txt': noise(),
        'b.txt': noise(),
        'SKILL.md': '---\nname: a\ndescription: d\n---\nx\n',
      })
      expect((await run([`gh/acme/large-${name}`], env)).status).toBe(0)
    }
    expect((await stored()).map(name => name.replace(/-[0-9a-f]{16}$/, ''))).toEqual(['gh-acme-large-third'])
  })

  test.skipIf(!hasSmallDisks())('on a full disk the answer is printed all the same', async () => {
    const folder = await clone()
    await mkdir(join(home, 'small'))
    const before = process.env.XDG_CACHE_HOME
    process.env.XDG_CACHE_HOME = join(home, 'small')
    try {
      expect(await runOnSmallDisk(join(home, 'small'), '40k', [LAUNCHER, folder, '--json'])).toMatchObject({
        index: { status: 'ready' },
      })
    } finally {
      if (before === undefined) delete process.env.XDG_CACHE_HOME
      else process.env.XDG_CACHE_HOME = before
    }
  })
})

test('a proxy that does not answer is named, without its password', async () => {
  const env = { HTTPS_PROXY: 'http://me:secret@127.0.0.1:9', MOUNTGLASS_GITHUB_URL: '', MOUNTGLASS_GITHUB_API_URL: '' }
  const { status, stdout, stderr } = await start(process.execPath, [LAUNCHER, 'gh/acme/tools'], env)
  expect([status, stdout]).toEqual([1, ''])
  expect(stderr).toContain('through the proxy http://127.0.0.1:9 (HTTPS_PROXY)')
  expect(stderr).not.toContain('secret')
})

test('Ctrl-C while indexing ends with 130, prints nothing, and leaves nothing behind', async () => {
  const folder = await clone()
  const slow = join(home, 'slow')
  await mkdir(slow)
  await makeSlowGit(slow)
  const env = { ...programEnvironment(), ...environment(), PATH: `${slow}:${process.env.PATH}` }
  const child = spawn(process.execPath, [LAUNCHER, folder], { env, cwd: home })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk))
  await until(async () => spawnSync('pgrep', ['-P', String(child.pid), '-f', 'cat-file']).status === 0)
  child.kill('SIGINT')
  expect(await once(child, 'close')).toEqual([130, null])
  expect(output).toBe('')
  expect([await stored(), await readdir(temporary)]).toEqual([[], []])
})

test('a pipe that is closed early is no error', async () => {
  const { status, stderr } = await startWithClosedOutput(['read', 'gh/acme/tools', 'skills/long'], {
    env: environment(),
    cwd: home,
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
})

/** Runs the command on a terminal of so many columns. */
async function onTerminal(args: string[], columns: number, env: Record<string, string> = {}): Promise<Ran> {
  const command = ['stty cols', columns, '; exec', process.execPath, LAUNCHER, ...args].join(' ')
  const ran = await start('script', ['-qec', command, '/dev/null'], { ...env, TERM: 'xterm-256color' })
  return { ...ran, stdout: ran.stdout.replaceAll('\r\n', '\n') }
}

describe('on a terminal', () => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what a terminal receives
  const plain = (text: string) => text.replace(/\u001b\[[0-9;]*[mK]/g, '')

  test('of 40 columns lines fold between words, and paths, URLs and commands stand whole', async () => {
    const { status, stdout } = await onTerminal(['gh/acme/tools'], 40, { CI: 'true' })
    expect(status).toBe(0)
    const long = plain(stdout)
      .split('\n')
      .filter(line => [...line].length > 40)
    for (const line of long) expect(line).toMatch(/mountglass |[0-9a-f]{40}|^ {2}skills\/|license/)
    expect(plain(stdout)).toContain('mountglass read gh/acme/tools skills/a\n')
  })

  test('a line tells of the wait and goes with it; in CI there is none', async () => {
    github.faults.add({ delaySeconds: 2 })
    const { stdout } = await onTerminal(['gh/acme/tools', '--json'], 80)
    expect(stdout).toMatch(/^\r.*fetching \(\d\.\d s\)/)
    expect(stdout.slice(stdout.lastIndexOf('\r'))).toMatch(/^\r.{0,3}\{\n/)
    github.faults.add({ delaySeconds: 2 })
    const inCi = await onTerminal(['gh/acme/tools@main', '--json'], 80, { CI: 'true' })
    expect(inCi.stdout).toMatch(/^\{\n/)
  })

  test('controls of a text are marked; colours go with NO_COLOR', async () => {
    const { stdout } = await onTerminal(['read', 'gh/acme/tools', 'skills/a'], 80)
    expect(plain(stdout)).toContain('Do <U+001B>[31mit<U+202E>.')
    expect(stdout).toContain('\u001b[36m==> skills')
    expect((await onTerminal(['gh/acme/tools'], 80, { NO_COLOR: '1', CI: 'true' })).stdout).not.toContain('\u001b[')
  })
})
