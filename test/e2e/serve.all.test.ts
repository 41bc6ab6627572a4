import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { startFakeGitHub } from '#test/support/fake-github/server.ts'
import { isAlive } from '#test/support/is-alive.ts'
import { programEnvironment } from '#test/support/program-environment.ts'
import { createRepositories, type TestRepositories } from '#test/support/repository.ts'
import { type Service, startService, untilReady } from '#test/support/service.ts'
import { until } from '#test/support/until.ts'

const LAUNCHER = fileURLToPath(new URL('../../bin/mountglass.mjs', import.meta.url))

let folder: string
let repositories: TestRepositories
let service: Service | null
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mountglass-serve-'))
  repositories = await createRepositories()
  service = null
})
afterEach(async () => {
  await service?.stop()
  await repositories.remove()
  await rm(folder, { recursive: true, force: true })
})

test('a port that is taken stops the start with one line and exit code 1', async () => {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  try {
    const { code, lines } = await run({ PORT: String(port) })
    expect(code).toBe(1)
    expect(lines).toEqual([expect.stringMatching(new RegExp(`^mountglass: cannot listen on 127\\.0\\.0\\.1:${port}: .*PORT`))])
  } finally {
    server.close()
  }
})

test.for([
  ['PORT', 'http'],
  ['MOUNTGLASS_STORE', 's3:bucket'],
  ['MOUNTGLASS_KEYS', '[]'],
  ['MOUNTGLASS_LOCAL_REPOSITORIES', '/nothing/here'],
  ['MOUNTGLASS_STORE', `disk:${LAUNCHER}`],
  ['MOUNTGLASS_OPERATOR', '/nothing/here'],
] as const)('%s="%s" stops the start with one line that names the variable, and exit code 1', async ([variable, value]) => {
  const { code, lines } = await run({ [variable]: value })
  expect([code, lines]).toEqual([1, [expect.stringMatching(new RegExp(`^mountglass: ${variable}: .+`))]])
})

test("a fault of the operator's content stops the start with one line that names its file and line and exit code 1", async () => {
  await writeFile(join(folder, 'featured.yaml'), '- address: /local/acme/tools\n  image: none.png\n')
  const { code, lines } = await run({ MOUNTGLASS_OPERATOR: folder })
  expect([code, lines]).toEqual([
    1,
    [`mountglass: MOUNTGLASS_OPERATOR: ${join(folder, 'featured.yaml')}:2: image: none.png is not a file in this folder`],
  ])
})

/** One pixel. */
const GIF = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')

test("the operator's content is read at the start", async () => {
  await (await repositories.create('acme', 'tools')).commit({ 'one/SKILL.md': '---\nname: one\ndescription: One.\n---\nDo.\n' })
  await writeFile(join(folder, 'cover.gif'), GIF)
  await writeFile(join(folder, 'featured.yaml'), '- address: /local/acme/tools\n  image: cover.gif\n  verified: true\n')
  service = await startService({ ...settings(), MOUNTGLASS_OPERATOR: folder })
  const { items } = await service.get('featured', '')
  expect(items).toMatchObject([
    { address: '/local/acme/tools', verified: true, image: expect.stringMatching(/\/media\/\w+\.gif$/) },
  ])
  const picture = await fetch(items[0]?.image ?? '')
  const bytes = Buffer.from(await picture.arrayBuffer())
  expect([picture.status, picture.headers.get('content-type'), bytes]).toEqual([200, 'image/gif', GIF])
})

test('an indexed repository appears on the page of its owner', async () => {
  await (await repositories.create('acme', 'tools')).commit({ 'one/SKILL.md': '---\nname: one\ndescription: One.\n---\nDo.\n' })
  const github = await startFakeGitHub({ root: repositories.root })
  try {
    service = await startService({ ...settings(), ...github.settings() })
    expect(await service.get('owners', '/acme')).toMatchObject({ indexed: [], repositories: [{ name: 'tools' }] })
    await service.get('browse', '/gh/acme/tools')
    const page = () => (service as Service).get('owners', '/acme')
    await until(async () => (await page()).indexed?.length === 1)
    expect(await page()).toMatchObject({
      owner: { login: 'acme' },
      indexed: [{ address: '/gh/acme/tools', index: { status: 'ready', counts: { skills: 1 }, skillNames: ['one'] } }],
      repositories: [],
    })
    expect(github.mistakes).toEqual([])
  } finally {
    await github.close()
  }
})

test('when stopped, the service ends in order together with its indexer', async () => {
  service = await startService(settings())
  const indexer = await indexerOf(service)
  const exited = once(service.process, 'exit')
  service.process.kill('SIGTERM')
  expect(await exited).toEqual([0, null])
  expect(isAlive(indexer)).toBe(false)
})

test('when stopped, the service does not wait for a client that never ends its request', async () => {
  service = await startService(settings())
  const { hostname, port } = new URL(service.baseUrl)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n')
  socket.on('error', () => {})
  // The half request was seen once a whole one behind it was answered.
  await fetch(`${service.baseUrl}/healthz`)
  const exited = once(service.process, 'exit')
  service.process.kill('SIGTERM')
  expect(await exited).toEqual([0, null])
  socket.destroy()
})

test('when stopped, the service is unready at once, and answers during the configured drain time', async () => {
  service = await startService({ ...settings(), MOUNTGLASS_DRAIN_SECONDS: '300' })
  const { baseUrl, process: child } = service
  const statusOf = async (path: string) => {
    const answer = await fetch(baseUrl + path, { headers: { connection: 'close' } })
    // Node's client throws when a connection ends before the body was read.
    await answer.arrayBuffer()
    return answer.status
  }
  await untilReady(service)
  const indexer = await indexerOf(service)
  child.kill('SIGTERM')
  await until(async () => (await statusOf('/readyz')) === 503)
  expect([await statusOf('/healthz'), await statusOf('/api/v1/openapi.json')]).toEqual([200, 200])
  // Nothing is indexed meanwhile.
  await until(() => !isAlive(indexer))
  const exited = once(child, 'exit')
  // Within a second it would be the same ask: see stop-signal.ts.
  await until(() => !child.kill('SIGTERM'))
  expect(await exited).toEqual([1, null])
})

test('metrics of the service and its jobs are at /metrics, or only on a separate port', async () => {
  await (await repositories.create('acme', 'tools')).commit({ 'a.md': '# A\n' })
  service = await startService(settings())
  await service.get('browse', '/local/acme/tools')
  const metrics = async (origin: string) => (await fetch(`${origin}/metrics`)).text()
  const { baseUrl } = service
  // The end of the job is recorded after its snapshot can be seen.
  await until(async () => (await metrics(baseUrl)).includes('mountglass_jobs_total{outcome="indexed",code=""} 1'))
  const text = await metrics(baseUrl)
  expect(text).toContain('mountglass_store_requests_total{store="blobs",operation="create",outcome="answered"} 2')
  expect(text).toMatch(/mountglass_http_requests_total\{route="\/api\/v1\/browse\/\*",status="200"\} \d/)
  expect(text).not.toContain('acme')
  await service.stop()

  service = await startService({ ...settings(), MOUNTGLASS_METRICS_PORT: '0' })
  const [, port] = await seen(service, /"metricsPort":(\d+)/)
  expect(await metrics(`http://127.0.0.1:${port}`)).toContain('mountglass_http_requests_total')
  await untilReady({ baseUrl: `http://127.0.0.1:${port}` })
  expect((await fetch(`${service.baseUrl}/metrics`)).status).toBe(404)
})

test('an indexer that dies is replaced, and the next job is done', async () => {
  const repository = await repositories.create('acme', 'tools')
  await repository.commit({ 'a.md': '# A\n' })
  service = await startService(settings())
  const first = await indexerOf(service)
  process.kill(first, 'SIGKILL')
  const answer = await service.get('browse', '/local/acme/tools')
  expect(answer).toMatchObject({ status: 'ready', entries: [{ path: 'a.md' }] })
  expect(await indexerOf(service)).not.toBe(first)
})

test('an indexer whose service is killed does not live on alone', async () => {
  service = await startService(settings())
  const indexer = await indexerOf(service)
  const exited = once(service.process, 'exit')
  service.process.kill('SIGKILL')
  await exited
  await until(() => !isAlive(indexer))
})

test('a store in memory is indexed by the process itself', async () => {
  const repository = await repositories.create('acme', 'tools')
  await repository.commit({ 'a.md': '# A\n' })
  service = await startService({ ...settings(), MOUNTGLASS_STORE: 'memory:' })
  expect(await service.get('browse', '/local/acme/tools')).toMatchObject({ status: 'ready', entries: [{ path: 'a.md' }] })
})

test('cursors outlive a restart: the keys are kept with the store, for its owner alone', async () => {
  const repository = await repositories.create('acme', 'tools')
  await repository.commit({ 'a.md': '# A\n', 'b.md': '# B\n' })
  const store = { ...settings(), MOUNTGLASS_STORE: `disk:${join(folder, 'store')}` }
  service = await startService(store)
  const page = await service.get('browse', '/local/acme/tools', { limit: '1' })
  const cursor = 'nextCursor' in page ? String(page.nextCursor) : ''
  await service.stop()
  expect((await stat(join(folder, 'store', 'secrets', 'keys'))).mode & 0o777).toBe(0o600)
  service = await startService(store)
  expect(await service.get('browse', '/local/acme/tools', { cursor })).toMatchObject({
    status: 'ready',
    entries: [{ path: 'b.md' }],
  })
})

test('port 0 takes a free port, and the printed URL has that port', async () => {
  const origin = await startAsUsersDo()
  expect((await fetch(`${origin}/healthz`)).status).toBe(200)
  const description = await fetch(`${origin}/api/v1/openapi.json`)
  expect(await description.json()).toMatchObject({ servers: [{ url: origin }] })
})

/** The command alone, without what `startService` does for it. Runs until the test ends. */
async function startAsUsersDo(): Promise<string | undefined> {
  const child = spawn(process.execPath, [LAUNCHER, 'serve'], {
    env: { ...environment(), PORT: '0' },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const exited = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await exited
  })
  let printed = ''
  child.stdout.on('data', chunk => {
    printed += chunk
  })
  await until(() => printed.includes('\n'))
  return /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0]
}

function settings(): Record<string, string> {
  return { MOUNTGLASS_LOCAL_REPOSITORIES: repositories.root }
}

function environment(): NodeJS.ProcessEnv {
  return { ...programEnvironment(), MOUNTGLASS_STORE: `disk:${join(folder, 'store')}`, ...settings() }
}

/** Runs the command until it ends by itself; what it printed, line by line. */
async function run(env: Record<string, string>): Promise<{ code: number; lines: string[] }> {
  const child = spawn(process.execPath, [LAUNCHER, 'serve'], {
    env: { ...environment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', chunk => {
      printed += chunk
    })
  }
  const [code] = await once(child, 'close')
  return { code, lines: printed.split('\n').filter(line => line !== '') }
}

/** The process for jobs that was started last. */
async function indexerOf(service: Service): Promise<number> {
  return Number((await seen(service, /"process":(\d+)[^\n]*"msg":"job process ready"/))[1])
}

/** What the service printed last of this kind. */
async function seen({ output }: Service, pattern: RegExp): Promise<RegExpExecArray> {
  const find = () => [...output().matchAll(new RegExp(pattern, 'g'))].at(-1)
  await until(() => find() !== undefined)
  return find() as RegExpExecArray
}
