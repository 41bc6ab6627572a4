import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { JOB_PROGRAM } from '#cli/runners.ts'
import { type Ended, runToEnd } from '#test/support/failed-start.ts'
import { createDatabase } from '#test/support/servers/postgres.ts'
import { hasServer, testServer } from '#test/support/servers/servers.ts'
import { hasSmallDisks } from '#test/support/small-disk.ts'
import { freePort } from '../../scripts/servers/free-port.mjs'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mountglass-start-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** Root without its right to read and write everything: a user whose files these are. */
const AS_USER = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search', '--'] : []

async function start(
  env: Record<string, string>,
  prefix: readonly string[] = [],
  command: 'serve' | 'work' = 'serve',
): Promise<Ended> {
  const PORT = String(await freePort())
  const settings = { PORT, MOUNTGLASS_GITHUB: 'off', MOUNTGLASS_STORE: `disk:${join(folder, 'store')}`, ...env }
  return await runToEnd(command, settings, prefix)
}

function expectOneLine({ code, lines }: Ended, pattern: RegExp): void {
  expect([code, lines]).toEqual([1, [expect.stringMatching(pattern)]])
  expect(lines.join()).not.toContain('hush')
}

const APP = {
  MOUNTGLASS_GITHUB: 'on',
  MOUNTGLASS_GITHUB_APP_ID: '1',
  MOUNTGLASS_GITHUB_APP_CLIENT_ID: 'id',
  MOUNTGLASS_GITHUB_APP_CLIENT_SECRET: 'hush',
}
const BUCKET = { MOUNTGLASS_STORE: 's3:bucket', AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'hush' }

test.each<[Record<string, string>, RegExp]>([
  [{ PORT: '65536' }, /^mountglass: PORT: /],
  [{ PORT: 'http' }, /^mountglass: PORT: /],
  [{ HOST: 'a name' }, /^mountglass: HOST: /],
  [{ HOST: '[::1' }, /^mountglass: HOST: /],
  [{ HOST: '127.0.0.1:4321' }, /^mountglass: HOST: /],
  [{ HOST: 'http://127.0.0.1' }, /^mountglass: HOST: /],
  [{ HOST: '203.0.113.7' }, /^mountglass: .*203\.0\.113\.7:\d+.*HOST$/],
  [{ HOST: '[2001:db8::7]' }, /^mountglass: .*\[2001:db8::7\]:\d+.*HOST$/],
  [{ HOST: 'nowhere.invalid' }, /^mountglass: .*nowhere\.invalid:\d+.*HOST$/],
  [{ HOST: 'nowhere.invalid', PORT: '0' }, /^mountglass: .*nowhere\.invalid:0.*HOST$/],
  [{ MOUNTGLASS_METRICS_PORT: '65536' }, /^mountglass: MOUNTGLASS_METRICS_PORT: /],
  [{ MOUNTGLASS_BASE_URL: 'https://skills.example.org/sub' }, /^mountglass: MOUNTGLASS_BASE_URL: /],
  [{ MOUNTGLASS_STORE: '/data' }, /^mountglass: MOUNTGLASS_STORE: /],
  [{ MOUNTGLASS_STORE: 'disk:/proc/store' }, /^mountglass: MOUNTGLASS_STORE: .*\/proc\/store/],
  [{ MOUNTGLASS_STORE: 'disk:~other/store' }, /^mountglass: MOUNTGLASS_STORE: ~other\/store /],
  [{ MOUNTGLASS_STORE: 'disk:~/store', HOME: '' }, /^mountglass: MOUNTGLASS_STORE: ~\/store /],
  [{ MOUNTGLASS_LOCAL_REPOSITORIES: '~other' }, /^mountglass: MOUNTGLASS_LOCAL_REPOSITORIES: ~other /],
  [{ MOUNTGLASS_LOCAL_REPOSITORIES: '/nothing/here' }, /^mountglass: MOUNTGLASS_LOCAL_REPOSITORIES: .*\/nothing\/here/],
  [{ MOUNTGLASS_OPERATOR: '~other' }, /^mountglass: MOUNTGLASS_OPERATOR: ~other /],
  [{ MOUNTGLASS_KEYS: 'hush' }, /^mountglass: MOUNTGLASS_KEYS: /],
  [{ MOUNTGLASS_ID_KEY: 'hush' }, /^mountglass: MOUNTGLASS_ID_KEY: /],
  [{ ...APP, MOUNTGLASS_GITHUB_APP_PRIVATE_KEY: 'hush' }, /^mountglass: MOUNTGLASS_GITHUB_APP_PRIVATE_KEY: /],
  [
    { ...APP, MOUNTGLASS_GITHUB_APP_PRIVATE_KEY: 'file:~/app.pem', HOME: '/none' },
    /^mountglass: MOUNTGLASS_GITHUB_APP_PRIVATE_KEY: .*\/none\/app\.pem/,
  ],
  [{ ALL_PROXY: 'socks5://user:hush@127.0.0.1:1080' }, /^mountglass: ALL_PROXY: .*SOCKS/],
  [
    { ...BUCKET, AWS_ENDPOINT_URL_S3: 'http://s3.example.org', HTTP_PROXY: 'http://user:a@hush@127.0.0.1:9' },
    /^mountglass: MOUNTGLASS_STORE: .*HTTP_PROXY.*ECONNREFUSED/,
  ],
  [{ MOUNTGLASS_DATABASE: 'postgres://user:a@hush@127.0.0.1:9/mountglass' }, /^mountglass: MOUNTGLASS_DATABASE: .*ECONNREFUSED/],
  [{ HTTPS_PROXY: 'socks5://user:hush@127.0.0.1:1080' }, /^mountglass: HTTPS_PROXY: /],
  [{ http_proxy: 'http://user:hush@:3128' }, /^mountglass: HTTP_PROXY: /],
  [{ ...BUCKET, AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:9' }, /^mountglass: MOUNTGLASS_STORE: .*bucket/],
  [{ ...BUCKET, AWS_ENDPOINT_URL_S3: 'http://nowhere.invalid' }, /^mountglass: MOUNTGLASS_STORE: .*nowhere\.invalid/],
  [{ MOUNTGLASS_DATABASE: 'postgres://user:hush@127.0.0.1:9/mountglass' }, /^mountglass: MOUNTGLASS_DATABASE: .*ECONNREFUSED/],
  [
    { MOUNTGLASS_DATABASE: 'postgres://user:hush@nowhere.invalid/mountglass' },
    /^mountglass: MOUNTGLASS_DATABASE: .*nowhere\.invalid/,
  ],
  [
    { MOUNTGLASS_DATABASE: 'postgres://user:hush@127.0.0.1:9/mountglass?sslrootcert=/nothing/here.pem' },
    /^mountglass: MOUNTGLASS_DATABASE: .*\/nothing\/here\.pem/,
  ],
  [{ MOUNTGLASS_STORE: 'memory:', TMPDIR: '/nothing/here' }, /^mountglass: TMPDIR: .*\/nothing\/here/],
])('the settings %j stop the start with one line that names the setting to change', async (env, pattern) => {
  expectOneLine(await start(env), pattern)
})

test('a worker with wrong settings prints one line as well', async () => {
  expectOneLine(await start({ MOUNTGLASS_STORE: 'disk:/proc/store' }, [], 'work'), /^mountglass: MOUNTGLASS_STORE: /)
  expectOneLine(await start({ MOUNTGLASS_STORE: 'memory:' }, [], 'work'), /^mountglass: MOUNTGLASS_STORE: /)
})

test.each(['serve', 'work'] as const)('without git, or with one that is too old, %s stops with one line', async command => {
  expectOneLine(await start({ PATH: folder }, [], command), /^mountglass: git 2\.36 or newer .*PATH$/)
  await writeFile(join(folder, 'git'), '#!/bin/sh\necho git version 2.35.9\n', { mode: 0o755 })
  expectOneLine(await start({ PATH: folder }, [], command), /^mountglass: git 2\.36 or newer .*found git version 2\.35\.9$/)
})

test('a job process that finds no git any more says so in one line', async () => {
  const env = { PATH: folder, MOUNTGLASS_GITHUB: 'off', MOUNTGLASS_STORE: `disk:${join(folder, 'store')}` }
  const started = promisify(execFile)(process.execPath, [JOB_PROGRAM, '{}'], { env })
  await expect(started).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(/^mountglass: git 2\.36 or newer .*\n$/) })
})

test.each(['keys', 'id-key'])(
  'a secret file that is empty, as after a full disk, or a folder stops the start with the name of secrets/%s',
  async name => {
    const file = join(folder, 'store', 'secrets', name)
    await mkdir(join(file, '..'), { recursive: true })
    await writeFile(file, '')
    expectOneLine(await start({}), new RegExp(`^mountglass: .*secrets/${name}`))
    await rm(file)
    await mkdir(file)
    expectOneLine(await start({}), new RegExp(`^mountglass: .*secrets/${name}`))
  },
)

test.each([
  ['MOUNTGLASS_STORE', 'disk:'],
  ['MOUNTGLASS_LOCAL_REPOSITORIES', ''],
  ['MOUNTGLASS_OPERATOR', ''],
])('a folder of %s that this user may not read stops the start with one line', async (name, scheme) => {
  const closed = join(folder, 'closed')
  await mkdir(join(closed, 'legal'), { recursive: true })
  await chmod(closed, 0)
  const ended = await start({ [name]: scheme + closed }, AS_USER).finally(() => chmod(closed, 0o700))
  expectOneLine(ended, new RegExp(`^mountglass: ${name}: .*closed`))
})

test('a store that this user may only read stops the start with one line', async () => {
  const readOnly = join(folder, 'read-only')
  await mkdir(readOnly, { mode: 0o500 })
  expectOneLine(await start({ MOUNTGLASS_STORE: `disk:${readOnly}` }, AS_USER), /^mountglass: MOUNTGLASS_STORE: .*read-only/)
})

test("a file of the operator's content that this user may not read stops the start with its name", async () => {
  await writeFile(join(folder, 'featured.yaml'), '- address: /local/mountglass/handbook\n', { mode: 0 })
  expectOneLine(await start({ MOUNTGLASS_OPERATOR: folder }, AS_USER), /^mountglass: MOUNTGLASS_OPERATOR: .*featured\.yaml/)
})

test.runIf(hasSmallDisks())('a disk without room stops the start with one line', async () => {
  const disk = ['unshare', '--map-root-user', '--mount', 'sh', '-c', 'mount -t tmpfs -o size=64k tmpfs "$0" && exec "$@"', folder]
  expectOneLine(await start({}, disk), /^mountglass: MOUNTGLASS_STORE: .*(ENOSPC|no space|diskspace|full)/i)
})

describe.runIf(hasServer('postgres'))('a database', () => {
  test('that refuses the password, or is missing, stops the start with one line', async () => {
    const { url, remove } = await createDatabase()
    onTestFinished(remove)
    const wrong = new URL(url)
    wrong.password = 'hush'
    expectOneLine(await start({ MOUNTGLASS_DATABASE: wrong.href }), /^mountglass: MOUNTGLASS_DATABASE: .*password/)
    const absent = new URL(url)
    absent.pathname = '/absent'
    expectOneLine(await start({ MOUNTGLASS_DATABASE: absent.href }), /^mountglass: MOUNTGLASS_DATABASE: .*absent/)
  })
})

describe.runIf(hasServer('s3'))('a bucket', () => {
  test('that is missing, or refuses the credentials, stops the start with one line', async () => {
    const env = await testServer('s3')
    const MOUNTGLASS_STORE = `s3:absent-${randomBytes(4).toString('hex')}`
    expectOneLine(await start({ ...env, MOUNTGLASS_STORE }), /^mountglass: MOUNTGLASS_STORE: .*absent-/)
    expectOneLine(await start({ ...env, AWS_SECRET_ACCESS_KEY: 'hush' }), /^mountglass: MOUNTGLASS_STORE: .*credentials/)
  })
})
