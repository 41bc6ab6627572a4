import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { ensureBuilt } from '#test/site/support/built-site.ts'
import { type Service, startService } from '#test/support/service.ts'
import { pack } from '../../scripts/pack.mjs'

/* The packages as they are published, in folders that have nothing else. */

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const MEGABYTE = 1_000_000
/** What `mountglass-pictures` has installed with it, for this platform: copied from the checkout, since a registry may be out of reach. */
const NATIVE = ['@img', '@takumi-rs', 'detect-libc', 'semver', 'sharp']

let scratch: string
let packed: string[]
/** A folder with the service alone. */
let plain: string
/** A folder with the pictures, too. */
let full: string
/** A folder with Node and git, and no other program. */
let programs: string
/** A working folder with a skill, in a git repository. */
let work: string

beforeAll(async () => {
  await ensureBuilt()
  scratch = await realpath(await mkdtemp(join(tmpdir(), 'mountglass-package-')))
  packed = await pack(join(scratch, 'packed'))
  ;[plain, full, programs, work] = ['plain', 'full', 'bin', 'work'].map(name => join(scratch, name)) as [
    string,
    string,
    string,
    string,
  ]
  await mkdir(programs)
  await symlink(process.execPath, join(programs, 'node'))
  await symlink(execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim(), join(programs, 'git'))
  await install(plain, packed.slice(0, 1))
  for (const name of NATIVE)
    await cp(join(ROOT, 'node_modules', name), join(full, 'node_modules', name), { recursive: true, dereference: true })
  // Without its link, npm would fetch this one anew.
  await mkdir(join(full, 'node_modules', '.bin'))
  await symlink('../semver/bin/semver.js', join(full, 'node_modules', '.bin', 'semver'))
  await install(full, packed)
  await write(work, { LICENSE: await readFile(join(ROOT, 'LICENSE'), 'utf8'), 'pdf/SKILL.md': skill('Read the file.') })
  git('init', '-q', '-b', 'main')
  git('add', '.')
  git('commit', '-qm', 'first')
  await write(work, { 'pdf/SKILL.md': skill('Read the whole file.') })
})
afterAll(() => rm(scratch, { recursive: true, force: true }))

function skill(body: string): string {
  return `---\nname: pdf\ndescription: Reads PDF files.\n---\n${body}\n`
}

async function write(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), content)
  }
}

function git(...args: string[]): void {
  execFileSync('git', ['-C', work, '-c', 'user.name=a', '-c', 'user.email=a@example.org', ...args])
}

/** Installs packed files without a registry. */
async function install(folder: string, paths: readonly string[]): Promise<void> {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), '{"private":true}')
  const options = ['--offline', '--no-audit', '--no-fund', '--no-package-lock', '--no-update-notifier']
  execFileSync('npm', ['install', ...options, ...paths], { cwd: folder, stdio: 'pipe' })
}

/** These sources at the same commit in another folder, with the packages as hard links, until the end of the test. */
async function copyCheckout(): Promise<string> {
  await mkdir(join(ROOT, '.vitest'), { recursive: true })
  const folder = await mkdtemp(join(ROOT, '.vitest', 'checkout-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  execFileSync('git', ['clone', '--quiet', '--shared', ROOT, folder])
  const gitHere = (...args: string[]) => execFileSync('git', ['-C', ROOT, ...args], { encoding: 'utf8' }).split('\0')
  const changed = gitHere('ls-files', '-z', '--modified', '--others', '--exclude-standard').filter(path => path !== '')
  for (const path of changed) await cp(join(ROOT, path), join(folder, path))
  execFileSync('cp', ['-al', join(ROOT, 'node_modules'), folder])
  return folder
}

/** The program as npm links it. */
function linked(folder: string): string {
  return join(folder, 'node_modules', '.bin', 'mountglass')
}

function run(args: readonly string[], { input = '', env = {} }: { input?: string; env?: Record<string, string> } = {}) {
  const { status, stdout, stderr } = spawnSync(linked(plain), args, {
    cwd: work,
    env: { PATH: programs, HOME: scratch, MOUNTGLASS_GITHUB: 'off', ...env },
    encoding: 'utf8',
    input,
    timeout: 240_000,
  })
  return { status, stdout, stderr }
}

/** The paths of all files below a folder. */
async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter(entry => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
}

async function sizeOf(folder: string): Promise<number> {
  const sizes = await Promise.all((await filesBelow(folder)).map(async path => (await stat(path)).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}

describe('the packed files', () => {
  test('are the same when they are made from another checkout, which builds its own site', async () => {
    const checkout = await copyCheckout()
    const again = execFileSync(process.execPath, ['scripts/pack.mjs'], { cwd: checkout, encoding: 'utf8', stdio: 'pipe' })
    const bytesOf = (paths: string[]) => Promise.all(paths.map(path => readFile(path)))
    const [first, second] = [await bytesOf(packed), await bytesOf(again.trim().split('\n'))]
    expect(first.map((bytes, at) => bytes.equals(second[at] as Buffer))).toEqual([true, true])
  })

  test('name no path of the checkout', async () => {
    const paths = [
      ...(await filesBelow(join(plain, 'node_modules'))),
      ...(await filesBelow(join(full, 'node_modules/mountglass-pictures'))),
    ]
    const naming = await Promise.all(paths.map(async path => ((await readFile(path)).includes(ROOT) ? [path] : [])))
    expect([paths.length > 1_000, naming.flat()]).toEqual([true, []])
  })

  test('resolve nothing at their install but the native code of pictures, and run nothing', async () => {
    const manifestOf = async (name: string) =>
      JSON.parse(await readFile(join(full, 'node_modules', name, 'package.json'), 'utf8')) as Record<string, object>
    const [service, pictures] = [await manifestOf('mountglass'), await manifestOf('mountglass-pictures')]
    expect(service).not.toHaveProperty('dependencies')
    const { dependencies = {}, bundleDependencies = [] } = pictures
    const fetched = Object.keys(dependencies).filter(name => !(bundleDependencies as string[]).includes(name))
    expect(fetched).toEqual(['@takumi-rs/core', 'sharp'])
    for (const one of [service, pictures]) {
      expect(one).toMatchObject({ engines: { node: '^24.0.0 || >=26.0.0' }, license: 'Apache-2.0' })
      expect(one).not.toHaveProperty('scripts')
    }
  })

  test('are at most 15 MB unpacked, with pictures 80', async () => {
    expect(await sizeOf(join(plain, 'node_modules'))).toBeLessThan(15 * MEGABYTE)
    expect(await sizeOf(join(full, 'node_modules'))).toBeLessThan(80 * MEGABYTE)
  })

  test('hold licenses and a bill of materials of the commit', async () => {
    const head = execFileSync('git', ['-C', ROOT, 'log', '-1', '--format=%H'], { encoding: 'utf8' }).trim()
    for (const name of ['mountglass', 'mountglass-pictures']) {
      const read = (path: string) => readFile(join(full, 'node_modules', name, path), 'utf8')
      const { serialNumber, metadata, components } = JSON.parse(await read('sbom.cdx.json'))
      expect(serialNumber).toMatch(/^urn:uuid:[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-a[\da-f]{3}-[\da-f]{12}$/)
      expect(metadata.component).toMatchObject({ name, properties: [{ name: 'mountglass:commit', value: head }] })
      const texts = await read('THIRD-PARTY-LICENSES.txt')
      for (const part of components.filter((one: { name: string }) => !['core', 'sharp'].includes(one.name)))
        expect(texts).toContain(`${part.group === undefined ? '' : `${part.group}/`}${part.name} ${part.version} (`)
    }
  })
})

describe('the command of the package', () => {
  test('needs Node 24, or 26 and later, and says so in one line', async () => {
    const older = join(scratch, 'older.cjs')
    const startOn = async (version: string) => {
      await writeFile(older, `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`)
      return run(['--version'], { env: { NODE_OPTIONS: `--require=${older}` } })
    }
    for (const version of ['6.17.1', '22.20.0', '25.1.0'])
      expect(await startOn(version)).toEqual({
        status: 1,
        stdout: '',
        stderr: `mountglass: needs Node ^24.0.0 || >=26.0.0; this is Node ${version}\n`,
      })
    expect((await startOn('26.0.0')).status).toBe(0)
  })

  test('tells its version and its help, and the help of every command', async () => {
    const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string }
    expect(run(['--version'])).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' })
    const { status, stdout } = run(['--help'])
    const [, listed = ''] = stdout.split('\nCommands:\n')
    const commands = [...listed.matchAll(/^ {2}(?!help\b)([a-z]+)\b/gm)].map(([, name]) => name as string)
    const known = ['read', 'find', 'serve', 'check', 'diff', 'mcp', 'index', 'pin', 'verify']
    expect([status, commands]).toEqual([0, expect.arrayContaining(known)])
    for (const command of commands) expect(run([command, '--help'])).toMatchObject({ status: 0, stderr: '' })
  })

  test('checks and compares a folder', () => {
    const [checked, compared] = [run(['check', '--json']), run(['diff', '--json'])]
    expect([checked.status, compared.status]).toEqual([0, 0])
    expect(JSON.parse(checked.stdout)).toMatchObject({ skills: [{ name: 'pdf' }] })
    expect(compared.stdout).toContain('pdf/SKILL.md')
  })

  test('prints, reads and searches a folder', () => {
    expect(run(['.'])).toMatchObject({ status: 0, stdout: expect.stringContaining('Reads PDF files.') })
    expect(run(['read', '.'])).toMatchObject({ status: 0, stdout: expect.stringContaining('Read the whole file.') })
    expect(run(['find', '.', 'whole'])).toMatchObject({ status: 0, stdout: expect.stringContaining('pdf  skill') })
  })

  test('serves a folder over MCP', () => {
    const call = { name: 'load_skill', arguments: { path: 'pdf/SKILL.md' } }
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
    const messages = [
      { jsonrpc: '2.0', id: 1, method: 'initialize', params },
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: 2, method: 'tools/call', params: call },
    ]
    const { status, stdout } = run(['mcp'], { input: messages.map(one => `${JSON.stringify(one)}\n`).join('') })
    expect([status, stdout]).toEqual([0, expect.stringContaining('Read the whole file.')])
  })

  test('indexes, pins and verifies an address', async () => {
    const env = { MOUNTGLASS_STORE: `disk:${join(scratch, 'store')}` }
    const lock = ['--lock', join(scratch, 'lock.json')]
    const address = '/local/mountglass/handbook'
    expect(run(['index', address], { env })).toMatchObject({ status: 0 })
    expect(run(['pin', address, ...lock], { env })).toMatchObject({ status: 0 })
    expect(run(['verify', ...lock], { env })).toMatchObject({ status: 0 })
  })
})

/** A service of an installed package, until the end of the test. */
async function serve(folder: string): Promise<Service> {
  const service = await startService({ PATH: programs, HOME: scratch, MOUNTGLASS_GITHUB: 'off' }, linked(folder))
  onTestFinished(() => service.stop())
  await service.get('mounts', HANDBOOK)
  return service
}

const HANDBOOK = '/local/mountglass/handbook'
const READ_BY_REST = 'reading/read-by-rest/SKILL.md'
const PICTURES = [`/social${HANDBOOK}`, '/social/docs', `/picture${HANDBOOK}`]

describe('a service of the package', () => {
  test('answers a whole path, has badges and no picture, and names none', async () => {
    const { baseUrl, get } = await serve(plain)
    const page = async (path: string) => {
      const answer = await fetch(baseUrl + path)
      return { status: answer.status, text: await answer.text() }
    }
    const overview = await page(HANDBOOK)
    expect(overview).toMatchObject({ status: 200, text: expect.stringContaining('read-by-rest') })
    const shown = await page(`${HANDBOOK}?view=skill&path=${READ_BY_REST}`)
    // Rendered, by the thread.
    expect(shown).toMatchObject({ status: 200, text: expect.stringContaining('<pre') })
    expect(await page(`${HANDBOOK}?view=find&query=cursor`)).toMatchObject({
      status: 200,
      text: expect.stringContaining('<mark'),
    })
    expect(await get('find', HANDBOOK, { query: 'cursor' })).toMatchObject({
      items: expect.arrayContaining([expect.objectContaining({ path: READ_BY_REST })]),
    })
    expect(await get('files', HANDBOOK, { path: READ_BY_REST })).toMatchObject({ kind: 'file' })
    expect(await page(`/badge${HANDBOOK}`)).toMatchObject({ status: 200, text: expect.stringContaining('skills') })
    expect(await page('/docs')).toMatchObject({ status: 200 })
    const [, font = ''] = /href="(\/_a\/[^"]+\.woff2)"/.exec(overview.text) ?? []
    expect((await fetch(baseUrl + font)).status).toBe(200)
    expect(await Promise.all(PICTURES.map(async path => (await page(path)).status))).toEqual([404, 404, 404])
    for (const { text } of [overview, shown]) expect(text).not.toMatch(/\/(?:social|icon|picture)\//)
    expect((await page('/metrics')).text).toContain('mountglass_http_requests_total')
  })

  test('keeps its data in the folder of the user, which its jobs find, and says where', async () => {
    const home = join(scratch, 'home')
    const service = await startService(
      { PATH: programs, HOME: home, MOUNTGLASS_STORE: '', MOUNTGLASS_GITHUB: 'off' },
      linked(plain),
    )
    onTestFinished(() => service.stop())
    await service.get('skills', HANDBOOK, { path: READ_BY_REST })
    const data = join(home, '.local', 'share', 'mountglass')
    expect(service.output()).toContain(`Mountglass answers at ${service.baseUrl}/; its data is in ${data}\n`)
    expect(await readdir(data)).toContain('documents.sqlite')
  })

  test('has pictures where their package is installed beside it', async () => {
    const { baseUrl } = await serve(full)
    for (const path of PICTURES) {
      const answer = await fetch(baseUrl + path)
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, expect.stringMatching(/^image\//)])
      expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(1_000)
    }
    expect(await (await fetch(baseUrl + HANDBOOK)).text()).toContain(`${baseUrl}/social${HANDBOOK}`)
  })

  test('has no pictures, and warns once, where their package is of another version', async () => {
    const other = join(scratch, 'other')
    await cp(full, other, { recursive: true, verbatimSymlinks: true })
    const path = join(other, 'node_modules', 'mountglass-pictures', 'package.json')
    await writeFile(path, JSON.stringify({ ...JSON.parse(await readFile(path, 'utf8')), version: '9.9.9' }))
    const { baseUrl, output } = await serve(other)
    expect((await fetch(`${baseUrl}/social${HANDBOOK}`)).status).toBe(404)
    expect(output().match(/9\.9\.9/g)).toHaveLength(1)
  })

  test('finds pictures from the folder in which it is started, unless that belongs to a repository', async () => {
    expect(await cardFrom(full)).toEqual({ status: 200, stderr: expect.not.stringContaining('no pictures') })
    const clone = join(scratch, 'clone')
    const planted = join(clone, 'node_modules', 'mountglass-pictures')
    await mkdir(join(clone, '.git'), { recursive: true })
    await cp(join(full, 'node_modules', 'mountglass-pictures', 'package.json'), join(planted, 'package.json'))
    const reason = 'belongs to a repository, and nothing of a repository is executed'
    expect(await cardFrom(clone)).toEqual({ status: 404, stderr: expect.stringContaining(`no pictures: ${planted} ${reason}`) })
  })
})

/** Asks a service that is started in the folder for a card. */
async function cardFrom(cwd: string): Promise<{ status: number; stderr: string }> {
  const child = spawn(linked(plain), ['serve'], {
    cwd,
    env: { PATH: programs, HOME: scratch, PORT: '0', MOUNTGLASS_GITHUB: 'off', MOUNTGLASS_STORE: 'memory:' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'exit')
  let stderr = ''
  child.stderr.on('data', chunk => (stderr += chunk))
  let output = ''
  try {
    for await (const chunk of child.stdout) {
      output += chunk
      if (/http:\S+\d/.test(output)) break
    }
    const [origin = ''] = /http:\/\/[\d.:]+/.exec(output) ?? []
    return { status: (await fetch(`${origin}/social/docs`)).status, stderr }
  } finally {
    child.kill('SIGTERM')
    await exited
  }
}
