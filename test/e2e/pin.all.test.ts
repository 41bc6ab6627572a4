import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Ran, startCommand } from '#test/support/command.ts'
import { freePort } from '../../scripts/servers/free-port.mjs'
import { folder, lockPath, name, readLock, run, service, skill, tools, usePinScene, where } from './pin-scene.ts'

usePinScene()

test('a process prints the output of the command, and exits with its code', async () => {
  const same = async (args: string[]) => {
    // What takes longer than a second is told, and both may be of different speed.
    const said = ({ stderr, ...ran }: Ran) => ({ ...ran, stderr: stderr.replace(/^.* is being indexed\n/gm, '') })
    const started = said(startCommand(args, where()))
    expect(started).toEqual(said(await run(args)))
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

test('without git a command has exit code 2: that of a difference would lie', async () => {
  expect((await run(['pin', `local/acme/${name}`])).status).toBe(0)
  for (const args of [['pin', `local/acme/${name}`], ['verify']]) {
    const { status, stderr } = await run(args, { PATH: '/nowhere' })
    expect([status, stderr]).toEqual([2, expect.stringMatching(/^mountglass: git 2\.36 or newer .*\n$/)])
  }
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

  test('writes the whole hash where its beginning was asked for, which is no other name', async () => {
    const { commit } = await service.get('mounts', `/local/acme/${name}`)
    const { status, stdout } = await run(['pin', `local/acme/${name}@${commit?.slice(0, 7)}`])
    expect([status, stdout.split('\n')[0]]).toEqual([0, `/local/acme/${name}@${commit}`])
    expect((await readLock()).addresses[0]).toMatchObject({ address: `/local/acme/${name}@${commit}`, commit })
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

  test('keeps the other addresses of the file, and replaces the named ones', async () => {
    await run(['pin', `local/acme/${name}/a`, `local/acme/${name}/b`])
    await tools.commit({ 'a/SKILL.md': skill('a', 'Do more.\n') })
    const before = await readLock()
    expect((await run(['pin', `local/acme/${name}/a/SKILL.md`])).status).toBe(0)
    const after = await readLock()
    expect(after.addresses.map(pin => pin.address)).toEqual(before.addresses.map(pin => pin.address))
    expect(after.addresses[0]).not.toEqual(before.addresses[0])
    expect(after.addresses[1]).toEqual(before.addresses[1])
  })

  test('reports files without a digest', async () => {
    await tools.commit({ 'package.json': '{}', 'a/SKILL.md': skill('a', '', 'license: MIT\ninclude: [none.md]\n') })
    const { status, stdout } = await run(['pin', `local/acme/${name}`])
    expect([status, stdout]).toEqual([0, expect.stringContaining('2 skills with withheld text')])
    await tools.commit({ 'x.md': 'X\n' }, { replace: true })
    expect((await run(['pin', `local/acme/${name}`])).stdout).toContain('no skills here: only the commit is pinned')
  })

  test.each<[string, () => string[], number, RegExp]>([
    ['a mistyped address', () => ['local/acme'], 2, /address\.incomplete/],
    ['an unknown repository', () => ['local/acme/none'], 2, /mount\.repo_not_found: \/local\/acme\/none/],
    ['an unknown ref', () => [`local/acme/${name}@none`], 2, /mount\.ref_not_found/],
    ['an unknown folder', () => [`local/acme/${name}/none`], 2, /mount\.path_not_found/],
    ['two addresses, one of them unknown', () => [`local/acme/${name}`, 'local/acme/none'], 2, /mount\.repo_not_found/],
    ['no address', () => [], 2, /missing required argument/],
    ['a service that is no URL', () => ['local/acme/x', '--service', 'skills'], 2, /--service: must be the base URL/],
  ])('refuses %s, and writes nothing', async (_what, args, code, says) => {
    const { status, stderr } = await run(['pin', ...args()])
    expect([status, stderr]).toEqual([code, expect.stringMatching(says)])
    await expect(readLock()).rejects.toThrow(/ENOENT/)
  })

  test('leaves a lock file unchanged that it cannot parse', async () => {
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
