import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, utimes, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { HostRepository } from '#core/ports/git-host.ts'
import { damageKey, headerKey, keysAt, SWEEP_LEASE_KEY, splitKey } from '#core/snapshot/store-keys.ts'
import { parseSharedInfraSettings } from '#infra/infra-settings.ts'
import { openS3Stores } from '#infra/s3/open.ts'
import { openStores, type Stores } from '#infra/stores.ts'
import { runCommand, startCommand } from '#test/support/command.ts'
import { s3Settings } from '#test/support/servers/s3.ts'
import { hasServer, testServer } from '#test/support/servers/servers.ts'
import { makeSnapshot, readTexts, type SmallSnapshot, writeWhole } from '#test/support/small-snapshots.ts'
import { temporaryFolder } from '#test/support/store-drivers.ts'
import { jobOf } from '#test/support/store-values.ts'

const LAUNCHER = fileURLToPath(new URL('../../bin/mountglass.mjs', import.meta.url))
const DAYS_AGO = new Date(Date.now() - 3 * 86_400_000).toISOString()

type Env = Record<string, string>

/** A store of its own, open here and given to processes by its settings. */
interface Place {
  settings: Env
  stores: Pick<Stores, 'blobs' | 'states'>
}

const PLACES: { name: string; openPlace: () => Promise<Place> }[] = [
  { name: 'a folder', openPlace: openFolder },
  ...(hasServer('s3') ? [{ name: 'a bucket', openPlace: openBucket }] : []),
]

async function openFolder(): Promise<Place> {
  const settings = { MOUNTGLASS_STORE: `disk:${await temporaryFolder()}` }
  const stores = await openStores(parseSharedInfraSettings(settings))
  onTestFinished(() => stores.close())
  return { settings, stores }
}

async function openBucket(): Promise<Place> {
  const env = await testServer('s3')
  const prefix = basename(await temporaryFolder())
  const stores = await openS3Stores({ ...(await s3Settings()), prefix })
  onTestFinished(() => stores.close())
  return { settings: { ...env, MOUNTGLASS_STORE: `${env.MOUNTGLASS_STORE}/${prefix}` }, stores }
}

const run = (settings: Env, ...args: string[]) => runCommand(['sweep', ...args], { env: settings })

const repositoryOf = (id: string): HostRepository => ({ ...jobOf(1).repository, id })
const placeOf = ({ repository, commit }: SmallSnapshot) => splitKey(headerKey(repository, commit))?.place ?? ''

/** A snapshot that cannot be read, with the report of a reader. */
async function writeDead({ blobs, states }: Place['stores'], id: string): Promise<void> {
  const snapshot = await makeSnapshot(repositoryOf(id), jobOf(1).commit, [`dead ${id}`])
  await snapshot.writePacks(blobs)
  await blobs.create(headerKey(snapshot.repository, snapshot.commit), Buffer.from('no header'))
  await states.create(damageKey(snapshot.repository, snapshot.commit), { state: 'reported', at: DAYS_AGO, repairs: 0 })
}

/** A snapshot in a repository with a pack of a dead job, which a sweep noted three days ago. */
async function writeAlive({ blobs, states }: Place['stores'], id: string): Promise<SmallSnapshot> {
  const earlier = await makeSnapshot(repositoryOf(id), jobOf(2).commit, [`shared ${id}`])
  const snapshot = await makeSnapshot(repositoryOf(id), jobOf(1).commit, [`alive ${id}`], earlier)
  const orphan = await makeSnapshot(repositoryOf(id), jobOf(3).commit, [`orphan ${id}`])
  await writeWhole(blobs, snapshot)
  await orphan.writePacks(blobs)
  // The shared pack was noted by mistake, too: it is used.
  const names = [...orphan.packs.keys(), ...earlier.packs.keys()]
  const packs = Object.fromEntries(names.map(name => [name, { since: DAYS_AGO, sizeBytes: null }]))
  await states.create(keysAt(placeOf(snapshot)).unusedPacks, { packs })
  return snapshot
}

describe.each(PLACES)('mountglass sweep over $name', ({ openPlace }) => {
  test('killed again and again leaves every snapshot that is used whole, and ends its work', async () => {
    const { settings, stores } = await openPlace()
    const alive: SmallSnapshot[] = []
    let written = 0
    const grow = async (count: number) => {
      const ids = Array.from({ length: count }, () => written++)
      await Promise.all(ids.map(async id => alive.push(await writeAlive(stores, `alive-${id}`))))
      await Promise.all(ids.map(id => writeDead(stores, `dead-${id}`)))
    }
    const left = async () => (await stores.blobs.list('pub/')).length
    const aliveObjects = () => alive.length * 3

    let killed = 0
    // Some come to their end first, on a machine with much to do.
    for (let round = 0; round < 5 || killed < 3; round++) {
      await grow(4)
      const before = await left()
      const child = spawn(process.execPath, [LAUNCHER, 'sweep', '--remove'], {
        env: { PATH: process.env.PATH, ...settings },
        stdio: 'ignore',
      })
      const ended = once(child, 'exit')
      // A little later every time, from the first removal on.
      while (child.exitCode === null && before - (await left()) <= round % 5) await setImmediate()
      child.kill('SIGKILL')
      await ended
      if (child.signalCode === 'SIGKILL') killed++
      for (const { repository, commit, texts } of alive) expect(await readTexts(stores.blobs, repository, commit)).toEqual(texts)
    }
    // Fewer would show nothing.
    expect(killed).toBeGreaterThan(2)

    // One more removes what is damaged, and the next one notes the packs of that.
    for (let times = 0; times < 2; times++) expect(await run(settings, '--remove')).toMatchObject({ status: 0, stderr: '' })
    for (const { repository, commit, texts } of alive) expect(await readTexts(stores.blobs, repository, commit)).toEqual(texts)
    const packs = (await stores.blobs.list('pub/')).filter(key => key.includes('/dead-'))
    expect(packs.filter(key => !key.includes('/p/'))).toEqual([])
    expect(await left()).toBe(aliveObjects() + packs.length)
    expect(await stores.states.list('ctl/')).toEqual([
      ...packs.map(key => keysAt(splitKey(key)?.place ?? '').unusedPacks),
      SWEEP_LEASE_KEY,
    ])
  })

  test('prints what it would remove, and changes nothing without --remove', async () => {
    const { settings, stores } = await openPlace()
    await writeDead(stores, 'dead')
    await writeAlive(stores, 'alive')
    const before = [await stores.blobs.list(''), await stores.states.list('')]
    const told = await run(settings)
    expect(told).toMatchObject({ status: 0, stderr: '' })
    expect(told.stdout.split('\n')).toEqual([
      'unused, removed with --remove:',
      '  1 snapshot: 1 damaged',
      '  1 pack that no snapshot uses',
      '  1 entry of the state store',
      expect.stringMatching(/^ {2}1\d\d B of objects$/),
      'kept:',
      '  1 snapshot in 2 repositories',
      '  0 unused packs, 0 B: removed by the first sweep a day after they were noted',
      '  all packs of 1 repository: a header cannot be read',
      '',
    ])
    expect([await stores.blobs.list(''), await stores.states.list('')]).toEqual(before)
    const done = startCommand(['sweep', '--remove'], { env: settings })
    expect(done.stdout.split('\n').slice(1)).toEqual(told.stdout.split('\n').slice(1))
    expect(done.stdout).toMatch(/^removed:\n/)
    expect((await run(settings)).stdout).toContain('\n  0 snapshots\n')
  })
})

describe('mountglass sweep', () => {
  test('takes the store from the command line as well', async () => {
    const { settings, stores } = await openFolder()
    await writeDead(stores, 'dead')
    expect((await run({}, '--store', settings.MOUNTGLASS_STORE ?? '')).stdout).toContain('\n  1 snapshot: ')
  })

  test.each([
    [['--days', '0'], 'whole number'],
    [['--days', '3651'], 'whole number'],
    [['--store', 'memory:'], 'memory:'],
    [['--all'], '--all'],
  ])('%j is a usage error, with a message', async (args, words) => {
    const { status, stderr } = await run((await openFolder()).settings, ...args)
    expect([status, stderr]).toEqual([2, expect.stringContaining(words)])
  })

  test('prints one line if the store cannot be opened', async () => {
    const { status, stdout, stderr } = startCommand(['sweep', '--store', 'disk:/dev/null'], {
      env: (await openFolder()).settings,
    })
    expect({ status, stdout, lines: stderr.trimEnd().split('\n') }).toEqual({
      status: 1,
      stdout: '',
      lines: [expect.stringMatching(/^MOUNTGLASS_STORE: cannot use the folder /)],
    })
  })

  test('creates no store if there is none', async () => {
    const folder = join(await temporaryFolder(), 'none')
    const { status, stderr } = await run((await openFolder()).settings, '--store', `disk:${folder}`)
    expect([status, stderr]).toEqual([1, `MOUNTGLASS_STORE: there is no store at ${folder}\n`])
    await expect(readdir(folder)).rejects.toThrow('ENOENT')
  })

  test('lists files of interrupted writes after an hour, and removes them with --remove', async () => {
    const { settings } = await openFolder()
    const folder = join(settings.MOUNTGLASS_STORE?.slice('disk:'.length) ?? '', 'tmp')
    for (const name of ['old', 'older', 'young']) await writeFile(join(folder, name), 'half')
    const overAnHourAgo = new Date(Date.now() - 61 * 60 * 1000)
    for (const name of ['old', 'older']) await utimes(join(folder, name), overAnHourAgo, overAnHourAgo)
    const line = '\n  2 files of interrupted writes, 8 B\n'
    expect(await run(settings)).toMatchObject({ status: 0, stdout: expect.stringContaining(line) })
    expect(await readdir(folder)).toHaveLength(3)
    expect(await run(settings, '--remove')).toMatchObject({ status: 0, stdout: expect.stringContaining(line) })
    expect(await readdir(folder)).toEqual(['young'])
    expect((await run(settings)).stdout).not.toContain('interrupted')
  })

  test('prints that another sweep is running', async () => {
    const { settings, stores } = await openFolder()
    await stores.states.create(SWEEP_LEASE_KEY, { machine: 'another', process: 1, id: 'a', until: '2999-01-01T00:00:00.000Z' })
    expect(await run(settings, '--remove')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('another sweep of this store is running'),
    })
    expect((await run(settings)).status).toBe(0)
  })
})
