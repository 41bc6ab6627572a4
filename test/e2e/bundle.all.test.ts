import { execFileSync } from 'node:child_process'
import { cp, mkdtemp, readdir, readFile, rm, stat, symlink, truncate, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bundleProgram } from '../../scripts/setup/bundle.mjs'
import { findProgram } from '../../scripts/setup/program.mjs'
import { ensureBuilt } from '../site/support/built-site.ts'
import { programEnvironment } from '../support/program-environment.ts'
import { startService } from '../support/service.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const COPIED = ['api', 'bin', 'core', 'dist/client', 'dist/server', 'examples', 'indexer', 'infra', 'scripts', 'site']

let root: string
let launcher: string
beforeAll(async () => {
  await ensureBuilt()
  root = await mkdtemp(join(tmpdir(), 'mountglass-checkout-'))
  for (const path of [...COPIED, 'package.json', 'package-lock.json'])
    await cp(join(ROOT, path), join(root, path), { recursive: true, preserveTimestamps: true })
  await symlink(join(ROOT, 'node_modules'), join(root, 'node_modules'))
  launcher = join(root, 'bin', 'mountglass.mjs')
  await bundleProgram(root)
})
afterAll(() => rm(root, { recursive: true, force: true }))

/** Files of the current build. */
async function readBuild(): Promise<Map<string, string>> {
  const folder = dirname(fileURLToPath(findProgram(root) ?? ''))
  const names = await readdir(folder)
  return new Map(await Promise.all(names.map(async name => [name, await readFile(join(folder, name), 'utf8')] as const)))
}

/** @returns the version that the command prints */
const askVersion = () =>
  execFileSync(process.execPath, [launcher, '--version'], { env: programEnvironment(), encoding: 'utf8' }).trim()

test('every program that a source names is in the build, and no package in it looks for files beside its own', async () => {
  const build = await readBuild()
  const sources = execFileSync(
    'git',
    ['grep', '-hoE', "new URL\\('\\./[a-z-]+\\.ts', import\\.meta\\.url\\)", '--', 'api', 'core', 'indexer', 'infra', 'site'],
    { cwd: ROOT, encoding: 'utf8' },
  )
  const programs = [...sources.matchAll(/'\.\/([a-z-]+)\.ts'/g)].map(([, name]) => `${name}.mjs`)
  expect(programs.length).toBeGreaterThan(5)
  expect([...build.keys()]).toEqual(expect.arrayContaining(programs))
  for (const [name, code] of build) {
    const lines = code.split('\n').filter(line => !/^\s*\*/.test(line))
    const placed = lines.filter(line => /\b__dirname\b|\b__filename\b|\brequire\.resolve\b|\bimport\.meta\b/.test(line))
    for (const line of placed)
      expect(line, name).toMatch(/new URL\(["'][\w./-]+["'], import\.meta\.url\)|requireFrom\(import\.meta\.url\)/)
  }
})

test('an edit runs at once', async () => {
  const manifest = join(root, 'package.json')
  const { atime, mtime } = await stat(manifest)
  const text = await readFile(manifest, 'utf8')
  const { version } = JSON.parse(text) as { version: string }
  expect(askVersion()).toBe(version)

  // Only the bundle does not see an edit that leaves size and time as they were.
  const edited = `${version.slice(0, -1)}9`
  await writeFile(manifest, text.replace(`"version": "${version}"`, `"version": "${edited}"`))
  await utimes(manifest, atime, mtime)
  expect(askVersion()).toBe(version)
  await utimes(manifest, atime, new Date(mtime.getTime() + 1000))
  expect(askVersion()).toBe(edited)

  await writeFile(manifest, text)
  await utimes(manifest, atime, mtime)
})

test('a build that was cut does not run, nor one of sources that changed meanwhile; the next one does, with the same bytes', async () => {
  const commands = findProgram(root) ?? ''
  await truncate(fileURLToPath(commands), 100)
  expect(findProgram(root)).toBeNull()
  expect(askVersion()).toMatch(/^\d/)

  const bundling = bundleProgram(root)
  const file = join(root, 'core', 'limits.ts')
  await utimes(file, new Date(), new Date())
  await bundling
  expect(findProgram(root)).toBeNull()

  await bundleProgram(root)
  expect(findProgram(root)).toBe(commands)
})

test('a service runs jobs, threads and programs of the build alone, and finds the files of the checkout', async () => {
  const loaded = join(root, 'loaded.txt')
  const hook = join(root, 'hook.mjs')
  await writeFile(loaded, '')
  await writeFile(
    hook,
    `import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
registerHooks({ load(url, context, next) { appendFileSync(${JSON.stringify(loaded)}, url + '\\n'); return next(url, context) } })`,
  )
  const service = await startService({ MOUNTGLASS_GITHUB: 'off', NODE_OPTIONS: `--import ${pathToFileURL(hook)}` }, launcher)
  try {
    // The handbook is found, and indexed by a job process.
    const mount = await service.get('mounts', '/local/mountglass/handbook')
    expect(mount.index.status).toBe('ready')
    // Rendered by a thread.
    const page = await fetch(`${service.baseUrl}/local/mountglass/handbook`)
    expect(await page.text()).toContain('<h2')
    // Drawn by a process, with fonts and emoji of packages.
    const card = await fetch(`${service.baseUrl}/social/local/mountglass/handbook`)
    expect(card.headers.get('content-type')).toBe('image/png')
    const children = await readFile(`/proc/${service.process.pid}/task/${service.process.pid}/children`, 'utf8')
    const commands = await Promise.all(
      children
        .trim()
        .split(' ')
        .map(pid => readFile(`/proc/${pid}/cmdline`, 'utf8')),
    )
    expect(commands.join('\n')).toContain('/.bundle/')
    expect(commands.join('\n')).toContain('/drawer-main.mjs')
  } finally {
    await service.stop()
  }
  const urls = (await readFile(loaded, 'utf8')).split('\n')
  const names = new Set(urls.map(url => basename(url)))
  expect(urls.filter(url => url.endsWith('.ts'))).toEqual([])
  for (const program of ['commands', 'main', 'job-main', 'job-watchdog', 'render-worker'])
    expect(names).toContain(`${program}.mjs`)
})
