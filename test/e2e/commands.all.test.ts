import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, onTestFailed, test } from 'vitest'
import { runCommand, startCommand } from '#test/support/command.ts'
import { startFakeGitHub } from '#test/support/fake-github/server.ts'
import { createRepositories, type TestRepositories } from '#test/support/repository.ts'
import { startService } from '#test/support/service.ts'

const LAUNCHER = fileURLToPath(new URL('../../bin/mountglass.mjs', import.meta.url))

let repositories: TestRepositories
let store: string

beforeAll(async () => {
  repositories = await createRepositories()
  store = await mkdtemp(join(tmpdir(), 'mountglass-commands-'))
  const tools = await repositories.create('acme', 'tools')
  await tools.commit({
    'package.json': '{"license":"MIT"}',
    'skills/a/SKILL.md': '---\nname: a\ndescription: d\n---\nDo.\n',
    'docs/b.md': '# B\n',
  })
})
afterAll(async () => {
  await repositories.remove()
  await rm(store, { recursive: true, force: true })
})

const where = (env: Record<string, string> = {}) => ({
  env: { MOUNTGLASS_LOCAL_REPOSITORIES: repositories.root, MOUNTGLASS_STORE: `disk:${store}`, ...env },
})
const run = (args: string[], env?: Record<string, string>) => runCommand(args, where(env))

describe('mountglass index', () => {
  test('indexes an address, prints one line a stage, and then the counts', async () => {
    const { status, stderr } = startCommand(['index', '/local/acme/tools'], where())
    expect(status).toBe(0)
    const lines = stderr.trimEnd().split('\n')
    expect(lines[0]).toMatch(/^\/local\/acme\/tools at [0-9a-f]{40}$/)
    expect(lines.slice(1, -1).map(line => line.split(/\s/)[0])).toEqual(['tree', 'rules', 'content', 'write'])
    expect(lines.at(-1)).toMatch(/^1 skill, 1 document, 2 objects, [\d,]+ bytes$/)
    expect(stderr).not.toContain('\u001B')
  })

  test('leaves an indexed address as it is, even with a service without an indexer', async () => {
    for (const address of ['local/acme/tools@main/docs', 'http://127.0.0.1:4321/local/acme/tools/?view=browse']) {
      expect(await run(['index', address])).toMatchObject({ status: 0, stderr: expect.stringContaining('already indexed') })
    }
    const service = await startService({
      MOUNTGLASS_LOCAL_REPOSITORIES: repositories.root,
      MOUNTGLASS_STORE: `disk:${store}`,
      MOUNTGLASS_INDEXER: 'none',
    })
    try {
      expect(await service.get('mounts', '/local/acme/tools')).toMatchObject({
        index: { status: 'ready', counts: { skills: 1, documents: 1 } },
      })
    } finally {
      await service.stop()
    }
  })

  test.each([
    ['an invalid address', ['index', '/local/acme'], {}, 'address.incomplete: '],
    ['an account', ['index', 'https://github.com/acme'], { MOUNTGLASS_GITHUB: 'on' }, 'acme is an account: '],
    ['an address of elsewhere', ['index', 'https://gitlab.com/acme/tools'], {}, 'only addresses of this deployment'],
    [
      'an unknown repository',
      ['index', '/local/acme/nothing'],
      {},
      'there is no repository /local/acme/nothing; check MOUNTGLASS_LOCAL_REPOSITORIES',
    ],
    ['an unknown ref', ['index', '/local/acme/tools@nothing'], {}, 'mount.ref_not_found: '],
    [
      'a store in memory, which no other process sees',
      ['index', '/local/acme/tools', '--store', 'memory:'],
      {},
      'MOUNTGLASS_STORE: ',
    ],
    ['a setting that is wrong', ['index', '/local/acme/tools'], { MOUNTGLASS_STORE: 'tape:' }, 'MOUNTGLASS_STORE: '],
  ])('%s: one line and exit code 2', async (_name, args, env, beginning) => {
    const { status, stderr } = await run(args, env)
    expect({ status, lines: stderr.trimEnd().split('\n').length }).toEqual({ status: 2, lines: 1 })
    expect(stderr).toContain(beginning)
  })

  test.each([
    ['a store that cannot be used', { MOUNTGLASS_STORE: 'disk:/dev/null/store' }, 'MOUNTGLASS_STORE: '],
    ['a folder that is not there', { MOUNTGLASS_LOCAL_REPOSITORIES: '/nowhere' }, 'MOUNTGLASS_LOCAL_REPOSITORIES: '],
    ['a host that cannot be asked', { MOUNTGLASS_GITHUB_API_URL: 'http://127.0.0.1:9' }, 'mount.unavailable: '],
  ])('%s: one line and exit code 1', async (_name, env, beginning) => {
    const { status, stderr } = await run(['index', '/gh/acme/tools'], env)
    expect({ status, lines: stderr.trimEnd().split('\n') }).toEqual({ status: 1, lines: [expect.stringContaining(beginning)] })
  })

  test('takes what the address field takes: the shortest branch that exists, and a local repository before one of GitHub', async () => {
    const atGitHub = await createRepositories()
    const github = await startFakeGitHub({ root: atGitHub.root })
    try {
      const tools = await atGitHub.create('acme', 'tools')
      const commit = await tools.commit({ 'docs/a.md': '# A\n' })
      await tools.branch('feature/new/x', commit)
      await (await atGitHub.create('acme', 'others')).commit({ 'docs/a.md': '# A\n' })
      const env = { MOUNTGLASS_GITHUB_URL: github.origins.web, MOUNTGLASS_GITHUB_API_URL: github.origins.api }
      const firstLineOf = async (text: string) => (await run(['index', text], env)).stderr.split('\n')[0]

      const page = 'https://github.com/acme/tools'
      const branch = '/gh/acme/tools@feature%2Fnew%2Fx'
      expect(await firstLineOf(`${page}/tree/feature/new/x/docs`)).toBe(`${branch}/docs at ${commit}`)
      expect(await firstLineOf(`${page}/blob/feature/new/x/docs/a.md`)).toBe(`${branch} at ${commit}`)
      const shortened = `/gh/acme/tools@${commit.slice(0, 7)}`
      expect(await firstLineOf(shortened)).toBe(`${shortened} at ${commit}`)
      expect(await firstLineOf(`${page}/tree/gone/new/x`)).toMatch(/^mount\.ref_not_found: /)
      expect(await firstLineOf('acme/tools')).toMatch(/^\/local\/acme\/tools at /)
      expect(await firstLineOf('acme/tools@feature%2Fnew%2Fx')).toMatch(/^mount\.ref_not_found: /)
      expect(await firstLineOf('npx skills add acme/tools')).toBe(`/gh/acme/tools at ${commit}`)
      expect(await firstLineOf('acme/others')).toMatch(/^\/gh\/acme\/others at /)
    } finally {
      await github.close()
      await atGitHub.remove()
    }
  })

  test('a repository that cannot be indexed: its code and exit code 1', async () => {
    const bomb = await repositories.create('acme', 'bomb')
    let tree = await bomb.rawTree([{ mode: '100644', name: 'f', oid: await bomb.writeBlob('x') }])
    for (let level = 0; level < 10; level++) {
      tree = await bomb.rawTree(Array.from({ length: 10 }, (_, item) => ({ mode: '40000', name: `d${item}`, oid: tree })))
    }
    await bomb.commitTree(tree)
    expect(startCommand(['index', '/local/acme/bomb'], where())).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('index.too_large: '),
    })
  })
})

describe('mountglass work', () => {
  test.each([
    ['a store in memory', { MOUNTGLASS_STORE: 'memory:' }, 'MOUNTGLASS_STORE: '],
    ['a folder that is not there', { MOUNTGLASS_LOCAL_REPOSITORIES: '/nowhere' }, 'MOUNTGLASS_LOCAL_REPOSITORIES: '],
    ['an unknown level', { MOUNTGLASS_LOG: 'loud' }, 'MOUNTGLASS_LOG: '],
    ['a PATH without git', { PATH: '/nowhere' }, 'mountglass: git 2.36 '],
  ])('with %s stops with one line and exit code 1', async (_name, env, beginning) => {
    const { status, stderr } = await run(['work'], env)
    expect({ status, lines: stderr.trimEnd().split('\n').length }).toEqual({ status: 1, lines: 1 })
    expect(stderr).toContain(beginning)
  })
})

test('a worker started by npm stops in order when npm is signalled, through a shell that passes nothing on', async () => {
  const env = {
    PATH: process.env.PATH,
    MOUNTGLASS_LOCAL_REPOSITORIES: repositories.root,
    MOUNTGLASS_STORE: `disk:${store}`,
    npm_lifecycle_event: 'npx',
  }
  // What npm has its shell do; with something behind it, every shell waits for the program.
  const shell = spawn('sh', ['-c', `'${process.execPath}' '${LAUNCHER}' work; true`], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  })
  // What is left of its group, should the worker not stop.
  onTestFailed(() => void process.kill(-(shell.pid ?? 0), 'SIGKILL'))
  let log = ''
  shell.stderr.setEncoding('utf8').on('data', text => {
    log += text
    if (log.includes('waiting for jobs')) shell.kill('SIGTERM')
  })
  // When nobody has its standard error open any more.
  await once(shell, 'close')
  expect(shell.signalCode).toBe('SIGTERM')
  expect(log).toContain('"msg":"stopping"')
})

test('mountglass --version prints the version, and --help every command', async () => {
  const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
  expect(startCommand(['--version'], where()).stdout.trim()).toBe(version)
  expect((await run(['--help'])).stdout).toMatch(/serve[\s\S]*work[\s\S]*index[\s\S]*check/)
})

test('wrong use has exit code 2 as a process, too', () => {
  expect(startCommand(['nothing'], where())).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/^mountglass: unknown command nothing/),
  })
  expect(startCommand(['index', '/local/acme'], where())).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/^address\.incomplete: /),
  })
})

test.each([
  [['work', '--concurrency', '0']],
  [['work', '--concurrency', '65']],
  [['work', '--concurrency', 'many']],
  [['index']],
  [['check', '--no-such-option']],
  [['index', '/local/a/b', 'more']],
])('wrong use has exit code 2: %j', async args => {
  const { status, stderr } = await run(args)
  expect(status).toBe(2)
  expect(stderr).toMatch(/^error: /)
})

describe('a proxy that cannot be used', () => {
  const env = { HTTPS_PROXY: 'socks5://user:hush@proxy:1080', http_proxy: 'http://:3128' }

  test.each([['check', '.'], ['diff', '.', '--from', 'HEAD'], ['keys', 'rotate'], ['sweep'], ['token', 'list']])(
    'does not stop a command that stays on this machine: %s',
    async (...args) => {
      expect((await run(args, env)).stderr).not.toMatch(/PROXY/i)
    },
  )

  test.each([
    ['index', '/local/acme/tools'],
    ['sweep', '--store', 's3:bucket'],
    ['pin', '/local/acme/tools'],
    ['mcp', 'local/acme/tools'],
  ])('stops the others, and is not quoted: %s', async (...args) => {
    const { status, stderr } = await run(args, env)
    expect([status === 0, stderr]).toEqual([false, expect.stringMatching(/^mountglass: HTTP_PROXY: .*\n$/)])
  })
})

test.each([
  ['mcp', 'https://user:hu@sh@example.org/acme/tools'],
  ['index', 'https://user:hu@sh@example.org/acme/tools'],
  ['sweep', '--store', 's3:bucket', 'https://user:hu@sh@example.org'],
  ['pin', '/local/acme/tools', '--service', 'https://user:hu@sh@example.org'],
])('no message quotes the password of an address: %s', async (...args) => {
  const { status, stderr } = await run(args)
  expect([status === 0, stderr]).toEqual([false, expect.not.stringMatching(/user:|sh@/)])
})
