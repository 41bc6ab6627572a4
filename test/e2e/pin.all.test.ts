import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type LockFile, parseLockFile } from '#api/lock/lock-file.ts'
import { runCommand, startCommand } from '#test/support/command.ts'
import { createRepositories, type TestRepositories, type TestRepository } from '#test/support/repository.ts'
import { type Service, startService } from '#test/support/service.ts'
import { freePort } from '../../scripts/servers/free-port.mjs'

const MIT = '{"license":"MIT"}\n'
const skill = (name: string, body = 'Do it.\n', more = '') =>
  `---\nname: ${name}\ndescription: About ${name}.\n${more}---\n${body}`

let repositories: TestRepositories
let service: Service
beforeAll(async () => {
  repositories = await createRepositories()
  service = await startService({ MOUNTGLASS_LOCAL_REPOSITORIES: repositories.root, MOUNTGLASS_GITHUB: 'off' })
})
afterAll(async () => {
  await service?.stop()
  await repositories.remove()
})

let folder: string
let tools: TestRepository
let count = 0
/** A repository of its own for every test. */
let name: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mountglass-pin-'))
  name = `tools-${count++}`
  tools = await repositories.create('acme', name)
  await tools.commit({
    'package.json': MIT,
    'a/SKILL.md': skill('a'),
    'a/run.py': 'print(1)\n',
    'b/SKILL.md': skill('b'),
    'other/c/SKILL.md': skill('c'),
  })
  return () => rm(folder, { recursive: true, force: true })
})

const where = (env: Record<string, string> = {}) => ({
  cwd: folder,
  env: { MOUNTGLASS_LOCAL_REPOSITORIES: repositories.root, MOUNTGLASS_GITHUB: 'off', ...env },
})
const run = (args: string[], env?: Record<string, string>) => runCommand(args, where(env))

const lockPath = () => join(folder, 'mountglass.lock.json')
const readLock = async (): Promise<LockFile> => parseLockFile(await readFile(lockPath(), 'utf8'))
const verifyJson = async (...args: string[]) => {
  const { status, stdout } = await run(['verify', '--json', ...args])
  return { status, addresses: JSON.parse(stdout).addresses }
}

test('a process says what the command says, and ends with its code', async () => {
  const same = async (args: string[]) => {
    const started = startCommand(args, where())
    expect(started).toEqual(await run(args))
    return started.status
  }
  expect(await same(['pin', `local/acme/${name}`])).toBe(0)
  expect(await same(['pin', 'local/acme/none'])).toBe(2)
  await service.get('mounts', `/local/acme/${name}`)
  expect(await same(['verify', '--service', service.baseUrl])).toBe(0)
  await tools.commit({ 'a/SKILL.md': skill('a', 'Do more.\n') })
  expect(await same(['verify'])).toBe(1)
  expect(await same(['verify', '--service', `http://127.0.0.1:${await freePort()}`])).toBe(3)
})

describe('mountglass pin', () => {
  test('writes the commit of an address, and the digests that the service answers', async () => {
    const { status, stdout } = await run(['pin', `local/acme/${name}@main`])
    expect([status, stdout]).toEqual([0, expect.stringContaining('3 skills, 4 files at ')])
    const [pinned] = (await readLock()).addresses
    const mount = await service.get('mounts', `/local/acme/${name}@main`)
    expect(pinned).toMatchObject({ address: `/local/acme/${name}@main`, commit: mount.commit })
    expect(stdout).toContain(`/local/acme/${name}@${mount.commit} stay at this commit`)
    for (const { path, sha256, files } of pinned?.skills ?? []) {
      const page = await service.get('skills', mount.address, { path })
      if (page.status !== 'ready') throw new Error(page.status)
      expect(page.skill.sha256).toBe(sha256)
      for (const file of files) expect(await service.get('files', mount.address, { path: file.path })).toMatchObject(file)
      expect(files.map(file => file.path).slice(1)).toEqual(page.skill.files)
    }
  })

  test('reads the same from a running service as by itself', async () => {
    const addresses = [`local/acme/${name}`, `local/acme/${name}/a`, `local/acme/${name}/other`]
    expect((await run(['pin', ...addresses])).status).toBe(0)
    const own = await readFile(lockPath(), 'utf8')
    expect((await run(['pin', ...addresses, '--lock', 'remote.json', '--service', service.baseUrl])).status).toBe(0)
    expect(await readFile(join(folder, 'remote.json'), 'utf8')).toBe(own)
    expect((await readLock()).addresses.map(pin => pin.skills.map(skill => skill.path))).toEqual([
      ['a/SKILL.md', 'b/SKILL.md', 'other/c/SKILL.md'],
      ['a/SKILL.md'],
      ['other/c/SKILL.md'],
    ])
  })

  test('keeps the other addresses of the file, and replaces those that it names', async () => {
    await run(['pin', `local/acme/${name}/a`, `local/acme/${name}/b`])
    await tools.commit({ 'a/SKILL.md': skill('a', 'Do more.\n') })
    const before = await readLock()
    expect((await run(['pin', `local/acme/${name}/a/SKILL.md`])).status).toBe(0)
    const after = await readLock()
    expect(after.addresses.map(pin => pin.address)).toEqual(before.addresses.map(pin => pin.address))
    expect(after.addresses[0]).not.toEqual(before.addresses[0])
    expect(after.addresses[1]).toEqual(before.addresses[1])
  })

  test('says what has no digest', async () => {
    await tools.commit({ 'package.json': '{}', 'a/SKILL.md': skill('a', '', 'license: MIT\ninclude: [none.md]\n') })
    const { status, stdout } = await run(['pin', `local/acme/${name}`])
    expect([status, stdout]).toEqual([0, expect.stringContaining('2 skills described only')])
    await tools.commit({ 'x.md': 'X\n' }, { replace: true })
    expect((await run(['pin', `local/acme/${name}`])).stdout).toContain('no skills here: only the commit is pinned')
  })

  test.each<[string, () => string[], number, RegExp]>([
    ['a mistyped address', () => ['local/acme'], 2, /address\.incomplete/],
    ['a repository that is none', () => ['local/acme/none'], 2, /mount\.repo_not_found: \/local\/acme\/none/],
    ['a ref that is none', () => [`local/acme/${name}@none`], 2, /mount\.ref_not_found/],
    ['a folder that is none', () => [`local/acme/${name}/none`], 2, /mount\.path_not_found/],
    ['one of two that is none', () => [`local/acme/${name}`, 'local/acme/none'], 2, /mount\.repo_not_found/],
    ['no address', () => [], 2, /missing required argument/],
    ['a service that is no URL', () => ['local/acme/x', '--service', 'skills'], 2, /--service: must be the base URL/],
  ])('refuses %s, and writes nothing', async (_what, args, code, says) => {
    const { status, stderr } = await run(['pin', ...args()])
    expect([status, stderr]).toEqual([code, expect.stringMatching(says)])
    await expect(readLock()).rejects.toThrow(/ENOENT/)
  })

  test('does not touch a lock file that it cannot read', async () => {
    await writeFile(lockPath(), '{"version":7}')
    const { status, stderr } = await run(['pin', `local/acme/${name}`])
    expect([status, stderr]).toEqual([2, expect.stringMatching(/mountglass\.lock\.json is of version 7, /)])
    expect(await readFile(lockPath(), 'utf8')).toBe('{"version":7}')
  })

  test('never sends a token in clear over a network', async () => {
    const { status, stderr } = await run(['pin', `local/acme/${name}`, '--service', 'http://skills.example.org'], {
      MOUNTGLASS_TOKEN: 'mgp_secret',
    })
    expect([status, stderr]).toEqual([2, expect.stringContaining('MOUNTGLASS_TOKEN: is not sent over http')])
    expect(stderr).not.toContain('mgp_secret')
  })
})

describe('mountglass verify', () => {
  test('finds nothing where nothing changed, also at a pinned commit of which the branch moved on', async () => {
    const commit = await tools.git('rev-parse', 'main')
    await run(['pin', `local/acme/${name}@${commit}`])
    await tools.commit({ 'a/SKILL.md': skill('a', 'Do more.\n') })
    const { status, stdout } = await run(['verify'])
    expect([status, stdout]).toEqual([0, expect.stringContaining('1 address: 1 same')])
  })

  test('tells a commit that moved from a text that changed', async () => {
    await run(['pin', `local/acme/${name}`, `local/acme/${name}/other`])
    const before = await tools.git('rev-parse', 'main')
    const after = await tools.commit({ 'a/SKILL.md': skill('a', 'Do more.\n'), 'a/new.py': '', 'b/SKILL.md': null })
    const { status, addresses } = await verifyJson()
    expect(status).toBe(1)
    expect(addresses).toMatchObject([
      {
        status: 'different',
        commit: { before, after },
        skills: [
          {
            path: 'a/SKILL.md',
            change: 'changed',
            files: [
              { path: 'a/SKILL.md', change: 'changed' },
              { path: 'a/new.py', change: 'added' },
            ],
          },
          { path: 'b/SKILL.md', change: 'gone' },
        ],
      },
      { status: 'different', commit: { before, after }, skills: [] },
    ])
    expect((await run(['verify', '--allow-moved'])).status).toBe(1)
    await run(['pin', `local/acme/${name}`, '--lock', 'other.json'])
    await tools.commit({ 'x.txt': 'x' })
    expect((await run(['verify', 'other.json'])).status).toBe(1)
    expect((await run(['verify', 'other.json', '--allow-moved'])).status).toBe(0)
  })

  test('a rule above changes every skill below it', async () => {
    await run(['pin', `local/acme/${name}@main`])
    await tools.commit({ 'SKILLSET.md': '---\nname: all\n---\nBe brief.\n' })
    const { addresses } = await verifyJson()
    expect(addresses[0].skills.map((one: { path: string; files: unknown[] }) => [one.path, one.files])).toEqual([
      ['a/SKILL.md', []],
      ['b/SKILL.md', []],
      ['other/c/SKILL.md', []],
    ])
  })

  test('says what is gone: a repository, a ref, a folder', async () => {
    await tools.branch('next', await tools.git('rev-parse', 'main'))
    const gone = await repositories.create('acme', `gone-${name}`)
    await gone.commit({ 'package.json': MIT })
    await run(['pin', `local/acme/gone-${name}`, `local/acme/${name}@next`, `local/acme/${name}/other`])
    await rename(gone.gitDir, `${gone.gitDir}.away`)
    await tools.git('branch', '-D', 'next')
    await tools.commit({ 'other/c/SKILL.md': null })
    const { status, addresses } = await verifyJson()
    expect([status, addresses.map((one: { status: string }) => one.status)]).toEqual([1, ['gone', 'gone', 'gone']])
    // A repository that is not shown may be hidden: only what is surely gone leaves the file, and the rest is told again.
    expect((await verifyJson('--update')).status).toBe(1)
    expect((await readLock()).addresses.map(pin => pin.address)).toEqual([`/local/acme/gone-${name}`])
    expect((await verifyJson('--update')).status).toBe(1)
  })

  test('a host that cannot be reached says nothing about an address', async () => {
    await run(['pin', `local/acme/${name}`])
    const { status, addresses } = await verifyJson('--service', `http://127.0.0.1:${await freePort()}`)
    expect([status, addresses]).toMatchObject([3, [{ status: 'unverified', error: { code: 'service.unreachable' } }]])
    const elsewhere = await verifyJson('--service', `${service.baseUrl}/docs`)
    expect([elsewhere.status, elsewhere.addresses[0].status]).toEqual([3, 'unverified'])
  })

  test('a host that this deployment does not serve is not gone', async () => {
    const pinned = { address: '/gh/acme/tools', commit: 'a'.repeat(40), skills: [] }
    await writeFile(lockPath(), JSON.stringify({ version: 1, addresses: [pinned] }))
    for (const args of [[], ['--service', service.baseUrl]])
      expect(await verifyJson(...args)).toMatchObject({
        status: 3,
        addresses: [{ status: 'unverified', error: { code: 'address.unknown_host' } }],
      })
  })

  test('a local repository is not gone where no setting names its folder', async () => {
    await run(['pin', `local/acme/${name}`])
    const before = await readFile(lockPath(), 'utf8')
    const { status, stdout } = await run(['verify', '--update'], { MOUNTGLASS_LOCAL_REPOSITORIES: '' })
    const says = `not verified: this process does not read the local repository acme/${name}: set MOUNTGLASS_LOCAL_REPOSITORIES `
    expect([status, stdout]).toEqual([3, expect.stringContaining(says)])
    expect(stdout).toContain('[service.local_not_read]')
    expect(await readFile(lockPath(), 'utf8')).toBe(before)
  })

  test('an update is offered only where it would write something', async () => {
    const gone = await repositories.create('acme', `gone-${name}`)
    await gone.commit({ 'package.json': MIT })
    await run(['pin', `local/acme/gone-${name}`])
    await rename(gone.gitDir, `${gone.gitDir}.away`)
    const { status, stdout } = await run(['verify'])
    expect([status, stdout]).toEqual([1, expect.stringContaining('gone: there is no repository')])
    expect(stdout).not.toContain('--update')
  })

  test('an index that fails leaves the pin unverified, and an update keeps it', async () => {
    await run(['pin', `local/acme/${name}`])
    const before = await readFile(lockPath(), 'utf8')
    const commit = await tools.commit({ 'a/SKILL.md': skill('a', 'Do more.\n') })
    await tools.dropObject(await tools.git('rev-parse', `${commit}^{tree}`))
    const { status, addresses } = await verifyJson('--update')
    expect([status, addresses]).toMatchObject([3, [{ status: 'unverified', error: { code: expect.stringMatching(/^index\./) } }]])
    expect(await readFile(lockPath(), 'utf8')).toBe(before)
  })

  test('an update shows what it writes, and then nothing differs', async () => {
    await run(['pin', `local/acme/${name}`, `local/acme/${name}/other`])
    await tools.commit({ 'a/SKILL.md': skill('a', 'Do more.\n'), 'other/c/SKILL.md': null })
    const shown = await run(['verify'])
    expect([shown.status, shown.stdout]).toEqual([1, expect.stringContaining('accept this with: mountglass verify --update')])
    const updated = await run(['verify', '--update', '--service', service.baseUrl])
    expect([updated.status, updated.stdout]).toEqual([0, expect.stringContaining('~ a/SKILL.md  the SKILL.md itself')])
    expect(updated.stdout).toContain('mountglass.lock.json: written')
    // The deployment shows the difference.
    const [page = ''] = /(?<=see )http.*$/m.exec(updated.stdout) ?? []
    expect(page).toMatch(/\?view=changes&from=[0-9a-f]{40}$/)
    expect((await fetch(page)).status).toBe(200)
    expect(await run(['verify'])).toMatchObject({ status: 0, stdout: expect.stringContaining('1 address: 1 same') })
    expect((await readLock()).addresses.map(pin => pin.address)).toEqual([`/local/acme/${name}`])
  })

  test('names a lock file as `pin` does, and repeats the name', async () => {
    await run(['pin', `local/acme/${name}`, '--lock', 'other.json'])
    expect((await run(['verify', '--lock', 'other.json'])).status).toBe(0)
    await tools.commit({ 'a/SKILL.md': skill('a', 'Do more.\n') })
    expect((await run(['verify', '--lock', 'other.json'])).stdout).toContain(
      'accept this with: mountglass verify --update other.json',
    )
  })

  test.each<[string, string | null, RegExp]>([
    ['that is not there', null, /mountglass\.lock\.json does not exist: write it with mountglass pin/],
    ['that is cut off', '{"version":1', /mountglass\.lock\.json is damaged/],
    ['of a newer version', '{"version":2}', /is of version 2/],
  ])('does not verify with a lock file %s', async (_what, text, says) => {
    if (text !== null) await writeFile(lockPath(), text)
    const { status, stdout, stderr } = await run(['verify', '--update'])
    expect([status, stdout, stderr]).toEqual([2, '', expect.stringMatching(says)])
  })
})
