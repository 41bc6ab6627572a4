import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SealingKeys } from '#api/purpose-keys.ts'
import { readOrCreateSecret } from '#infra/disk/secret-file.ts'
import { runCommand, startCommand } from '#test/support/command.ts'
import { keyOf } from '#test/support/oauth-scene.ts'
import { startService } from '#test/support/service.ts'
import { makeToken, openSignInScene, type SignInScene } from '#test/support/signed-in.ts'
import { freePort } from '../../scripts/servers/free-port.mjs'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mountglass-keys-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** A store as a first start leaves it. */
async function newStore(name: string, keys: SealingKeys = [keyOf('1', 1)]) {
  const store = join(folder, name)
  const file = join(store, 'secrets', 'keys')
  await readOrCreateSecret(file, () => JSON.stringify(keys))
  return {
    setting: { MOUNTGLASS_STORE: `disk:${store}` },
    secrets: join(store, 'secrets'),
    file,
    read: async () => JSON.parse(await readFile(file, 'utf8')) as SealingKeys,
  }
}

const rotate = (env: Record<string, string>, ...args: string[]) => runCommand(['keys', 'rotate', ...args], { env })

const kids = (keys: SealingKeys) => keys.map(({ kid }) => kid)

test('a disk store gets a new first key, which only its owner reads, and loses an old one on request', async () => {
  const store = await newStore('rotated')
  const added = await rotate(store.setting)
  expect([added.status, added.stderr]).toEqual([0, ''])
  expect(added.stdout).toContain('Key 2 is added, and seals.')
  expect(added.stdout).toContain('mountglass keys rotate --retire 1')
  const keys = await store.read()
  expect(kids(keys)).toEqual(['2', '1'])
  expect(keys[1]).toEqual(keyOf('1', 1))
  for (const { key } of keys) expect(added.stdout).not.toContain(key)
  expect((await stat(store.file)).mode & 0o777).toBe(0o600)
  expect(await readdir(store.secrets)).toEqual(['keys'])
  expect(startCommand(['keys', 'rotate', '--retire', '1'], { env: store.setting })).toMatchObject({ status: 0, stderr: '' })
  expect(await store.read()).toEqual([keys[0]])
})

test('an invalid command exits with 1, and changes nothing', async () => {
  const many = Array.from({ length: 8 }, (_, index) => keyOf(`${8 - index}`, index + 1))
  const store = await newStore('full', many)
  const cases: [args: string[], words: string][] = [
    [[], 'remove an old one first, with --retire 1'],
    [['--retire', '8'], 'key 8 seals'],
    [['--retire', '9'], 'there is no key 9'],
  ]
  for (const [args, words] of cases) {
    const ended = await rotate(store.setting, ...args)
    expect([ended.status, ended.stdout]).toEqual([1, ''])
    expect(ended.stderr).toContain(words)
  }
  await writeFile(`${store.file}.next`, '')
  expect(await rotate(store.setting, '--retire', '1')).toMatchObject({ status: 1, stdout: '' })
  expect(await store.read()).toEqual(many)
  const env = { MOUNTGLASS_STORE: `disk:${join(folder, 'nothing')}` }
  expect(startCommand(['keys', 'rotate'], { env })).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('there are no keys'),
  })
})

test('keys of the settings are printed in the order for several processes, and nothing is written', async () => {
  const store = await newStore('unused')
  const old = JSON.stringify([keyOf('b', 2), keyOf('a', 1)])
  const values = (text: string) =>
    text.split('\n').flatMap(line => (line.startsWith('MOUNTGLASS_KEYS=') ? [JSON.parse(line.slice(16)) as SealingKeys] : []))
  for (const setting of [store.setting, { MOUNTGLASS_STORE: 's3:a-bucket' }]) {
    const { status, stdout } = await rotate({ ...setting, MOUNTGLASS_KEYS: old })
    expect(status).toBe(0)
    const [second = [], promoted = []] = values(stdout)
    expect([kids(second), kids(promoted)]).toEqual([
      ['b', '1', 'a'],
      ['1', 'b', 'a'],
    ])
    expect(second[1]).toEqual(promoted[0])
    expect(stdout).toContain('--retire b')
    const retired = await rotate({ ...setting, MOUNTGLASS_KEYS: JSON.stringify(promoted) }, '--retire', 'b')
    expect(values(retired.stdout)).toEqual([[promoted[0], keyOf('a', 1)]])
  }
  expect(kids(await store.read())).toEqual(['1'])
})

test.each([
  [{ MOUNTGLASS_STORE: 's3:a-bucket' }, 'MOUNTGLASS_KEYS'],
  [{ MOUNTGLASS_STORE: 'memory:' }, 'MOUNTGLASS_STORE'],
  [{ MOUNTGLASS_STORE: 'memory:', MOUNTGLASS_KEYS: 'x' }, 'MOUNTGLASS_KEYS'],
])('settings %j end with 2 and the name of the wrong one', async (env, variable) => {
  const ended = await rotate(env)
  expect([ended.status, ended.stdout]).toEqual([2, ''])
  expect(ended.stderr).toContain(`mountglass: ${variable}: `)
})

test('a process ends with 2, too', () => {
  const ended = startCommand(['keys', 'rotate'], { env: { MOUNTGLASS_STORE: 'memory:' } })
  expect(ended).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining('mountglass: MOUNTGLASS_STORE: ') })
})

describe('people', () => {
  let scene: SignInScene
  beforeAll(async () => {
    scene = await openSignInScene()
  })
  afterAll(() => scene.close())

  test('stay signed in, and their tokens work, with a new key; without the key that sealed their sign-in they sign in again', async () => {
    const { setting } = await newStore('people')
    const env = { ...scene.settings, ...setting, PORT: String(await freePort()) }
    const during = async <Value>(work: (baseUrl: string) => Promise<Value>): Promise<Value> => {
      const service = await startService(env)
      return await work(service.baseUrl).finally(service.stop)
    }
    const credentials = await during(async baseUrl => {
      const cookie = await scene.signIn(baseUrl)
      return { cookie, token: await makeToken(baseUrl, cookie, scene.address) }
    })
    const statuses = (cookie: string) =>
      during(async baseUrl => {
        const [person, agent] = [{ cookie }, { authorization: `Bearer ${credentials.token}` }]
        const asked = [person, agent].map(headers => fetch(`${baseUrl}/api/v1/mounts${scene.address}`, { headers }))
        return (await Promise.all(asked)).map(({ status }) => status)
      })
    expect(await statuses(credentials.cookie)).toEqual([200, 200])
    expect((await rotate(setting)).status).toBe(0)
    expect(await statuses(credentials.cookie)).toEqual([200, 200])

    expect((await rotate(setting, '--retire', '1')).status).toBe(0)
    expect(await statuses(credentials.cookie)).toEqual([404, 401])
    const anew = await during(scene.signIn)
    expect(await statuses(anew)).toEqual([200, 200])
  })
})
