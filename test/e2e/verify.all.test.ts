import { readFile, rename, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { freePort } from '../../scripts/servers/free-port.mjs'
import { lockPath, MIT, name, readLock, repositories, run, service, skill, tools, usePinScene } from './pin-scene.ts'

usePinScene()

const verifyJson = async (...args: string[]) => {
  const { status, stdout } = await run(['verify', '--json', ...args])
  return { status, addresses: JSON.parse(stdout).addresses }
}

test('verify reports no difference if nothing changed, even at a pinned commit behind its branch', async () => {
  const commit = await tools.git('rev-parse', 'main')
  await run(['pin', `local/acme/${name}@${commit}`])
  await tools.commit({ 'a/SKILL.md': skill('a', 'Do more.\n') })
  const { status, stdout } = await run(['verify'])
  expect([status, stdout]).toEqual([0, expect.stringContaining('1 address: 1 same')])
})

test('verify distinguishes a commit that moved from a text that changed', async () => {
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
          parts: ['body', 'files'],
          causes: [
            { part: 'body', path: 'a/SKILL.md', change: 'changed' },
            { part: 'files', path: 'a/new.py', change: 'added' },
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
  const causes = [{ part: 'rules', path: 'SKILLSET.md', change: 'added' }]
  expect(addresses[0].skills.map((one: { path: string; causes: unknown[] }) => [one.path, one.causes])).toEqual([
    ['a/SKILL.md', causes],
    ['b/SKILL.md', causes],
    ['other/c/SKILL.md', causes],
  ])
})

test.each([
  ['by itself', () => []],
  ['from a running service', () => ['--service', service.baseUrl]],
])('verify names every changed part of a long skill, and of a described-only one, %s', async (_how, options) => {
  const rules = (words: string) => `---\nname: all\n---\n${words}\n`
  const long = (words: string) => skill('b', `${'A line of text.\n'.repeat(2_000)}${words}\n`, 'include: [../shared.md]\n')
  const closed = (words: string) => `---\nname: d\ndescription: ${words}\nlicense: Proprietary\n---\nHidden.\n`
  await tools.commit({
    'SKILLSET.md': rules('One.'),
    'b/SKILL.md': long('One.'),
    'shared.md': 'S1\n',
    'd/SKILL.md': closed('One.'),
  })
  expect((await run(['pin', `local/acme/${name}`])).status).toBe(0)
  await tools.commit({
    'SKILLSET.md': rules('Two.'),
    'b/SKILL.md': long('Two.'),
    'shared.md': 'S2\n',
    'd/SKILL.md': closed('Two.'),
  })
  const { stdout } = await run(['verify', ...options()])
  expect(stdout).toMatch(/~ a\/SKILL\.md +rules by SKILLSET\.md\n/)
  expect(stdout).toMatch(/~ b\/SKILL\.md +rules by SKILLSET\.md; body; includes by shared\.md\n/)
  expect(stdout).toMatch(/~ d\/SKILL\.md +metadata\n/)
})

test('verify reports a missing repository, ref or folder', async () => {
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

test('a host that does not answer proves nothing about an address', async () => {
  await run(['pin', `local/acme/${name}`])
  const { status, addresses } = await verifyJson('--service', `http://127.0.0.1:${await freePort()}`)
  expect([status, addresses]).toMatchObject([3, [{ status: 'unverified', error: { code: 'service.unreachable' } }]])
  const elsewhere = await verifyJson('--service', `${service.baseUrl}/docs`)
  expect([elsewhere.status, elsewhere.addresses[0].status]).toEqual([3, 'unverified'])
})

test('a host that this deployment does not serve does not make an address missing', async () => {
  const pinned = { address: '/gh/acme/tools', commit: 'a'.repeat(40), skills: [] }
  await writeFile(lockPath(), JSON.stringify({ version: 2, addresses: [pinned] }))
  for (const args of [[], ['--service', service.baseUrl]])
    expect(await verifyJson(...args)).toMatchObject({
      status: 3,
      addresses: [{ status: 'unverified', error: { code: 'address.unknown_host' } }],
    })
})

test('a local repository is not missing if no setting names its folder', async () => {
  await run(['pin', `local/acme/${name}`])
  const before = await readFile(lockPath(), 'utf8')
  const { status, stdout } = await run(['verify', '--update'], { MOUNTGLASS_LOCAL_REPOSITORIES: '' })
  const says = `not verified: this process does not read the local repository acme/${name}: set MOUNTGLASS_LOCAL_REPOSITORIES `
  expect([status, stdout]).toEqual([3, expect.stringContaining(says)])
  expect(stdout).toContain('[service.local_not_read]')
  expect(await readFile(lockPath(), 'utf8')).toBe(before)
})

test('an update is offered only if it would write something', async () => {
  const gone = await repositories.create('acme', `gone-${name}`)
  await gone.commit({ 'package.json': MIT })
  await run(['pin', `local/acme/gone-${name}`])
  await rename(gone.gitDir, `${gone.gitDir}.away`)
  const { status, stdout } = await run(['verify'])
  expect([status, stdout]).toEqual([1, expect.stringContaining('gone: there is no repository')])
  expect(stdout).not.toContain('--update')
})

test('a failed index leaves the pin unverified, and an update keeps it', async () => {
  await run(['pin', `local/acme/${name}`])
  const before = await readFile(lockPath(), 'utf8')
  const commit = await tools.commit({ 'a/SKILL.md': skill('a', 'Do more.\n') })
  await tools.dropObject(await tools.oidAt(commit, 'a'))
  const { status, addresses } = await verifyJson('--update')
  expect([status, addresses]).toMatchObject([3, [{ status: 'unverified', error: { code: expect.stringMatching(/^index\./) } }]])
  expect(await readFile(lockPath(), 'utf8')).toBe(before)
})

test('an update shows its changes, and a second one has none', async () => {
  await run(['pin', `local/acme/${name}`, `local/acme/${name}/other`])
  await tools.commit({ 'a/SKILL.md': skill('a', 'Do more.\n'), 'other/c/SKILL.md': null })
  const shown = await run(['verify'])
  expect([shown.status, shown.stdout]).toEqual([1, expect.stringContaining('accept this with: mountglass verify --update')])
  const updated = await run(['verify', '--update', '--service', service.baseUrl])
  expect([updated.status, updated.stdout]).toEqual([0, expect.stringMatching(/~ a\/SKILL\.md +body/)])
  expect(updated.stdout).toContain('mountglass.lock.json: written')
  // The deployment shows the difference.
  const [page = ''] = /(?<=see )http.*$/m.exec(updated.stdout) ?? []
  expect(page).toMatch(/\?view=changes&from=[0-9a-f]{40}$/)
  expect((await fetch(page)).status).toBe(200)
  expect(await run(['verify'])).toMatchObject({ status: 0, stdout: expect.stringContaining('1 address: 1 same') })
  expect((await readLock()).addresses.map(pin => pin.address)).toEqual([`/local/acme/${name}`])
})

test('verify takes the name of a lock file as `pin` does, and repeats it', async () => {
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
  ['of an older version', '{"version":1}', /is of version 1, .*: remove it, and pin its addresses again/],
  ['of a newer version', '{"version":3}', /is of version 3/],
])('verify refuses a lock file %s', async (_what, text, says) => {
  if (text !== null) await writeFile(lockPath(), text)
  const { status, stdout, stderr } = await run(['verify', '--update'])
  expect([status, stdout, stderr]).toEqual([2, '', expect.stringMatching(says)])
})
