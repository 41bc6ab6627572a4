import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { formatNewKeys } from '#api/purpose-keys.ts'
import { StatusReport } from '#api/reading/status.ts'
import { runCommand } from '#test/support/command.ts'
import { type FaultyProxy, startFaultyProxy } from '#test/support/servers/faulty-proxy.ts'
import { hasServer, testServer } from '#test/support/servers/servers.ts'
import { type Service, startService, untilReady } from '#test/support/service.ts'
import { withoutInstants } from '#test/support/without-instants.ts'
import { startWorkerProcess } from '#test/support/worker-process.ts'
import { freePort } from '../../scripts/servers/free-port.mjs'

const LAUNCHER = fileURLToPath(new URL('../../bin/mountglass.mjs', import.meta.url))
const HANDBOOK = '/local/mountglass/handbook'

/** The settings of a deployment of its own in the bucket of the run. */
async function deployment(): Promise<Record<string, string>> {
  const env = await testServer('s3')
  return { ...env, MOUNTGLASS_STORE: `${env.MOUNTGLASS_STORE}/${randomUUID()}`, MOUNTGLASS_LOG: 'warn' }
}

async function start(env: Record<string, string>): Promise<Service> {
  const service = await startService(env)
  onTestFinished(() => service.stop())
  return service
}

/** What a visitor of the handbook comes by. */
async function visit(service: Service) {
  const mount = await service.get('mounts', HANDBOOK)
  const listing = await service.get('browse', HANDBOOK)
  const found = await service.get('find', HANDBOOK, { query: 'review a skill' })
  const file = await service.get('files', HANDBOOK, { path: 'SKILLSET.md' })
  return { mount, listing, found, file }
}

describe.runIf(hasServer('s3'))('mountglass serve with a bucket', () => {
  let env: Record<string, string>
  let first: Service
  /** What the service answers that indexed the handbook into the bucket. */
  let before: Awaited<ReturnType<typeof visit>>
  beforeAll(async () => {
    env = await deployment()
    first = await startService(env)
    before = await visit(first)
  })
  afterAll(() => first?.stop())

  test('mountglass status tells from the bucket what is indexed', async () => {
    const { status, stdout, stderr } = await runCommand(['status', '--json'], { env })
    expect([status, stderr]).toEqual([0, ''])
    const { repositories } = StatusReport.parse(JSON.parse(stdout))
    expect(repositories.find(({ repository }) => `/${repository}` === HANDBOOK)).toMatchObject({
      state: 'ready',
      skills: expect.any(Number),
    })
  })

  test('opens, finds and reads, and another process that indexes nothing answers the same afterwards', async () => {
    expect(before.mount.index).toMatchObject({ status: 'ready', counts: { skills: 16 } })
    expect(before.found).toMatchObject({ status: 'ready' })
    expect(before.file).toMatchObject({ kind: 'file', path: 'SKILLSET.md' })
    await untilReady(first)
    await first.stop()
    expect(first.process.exitCode).toBe(0)

    const second = await start({ ...env, MOUNTGLASS_INDEXER: 'none' })
    // The cursors of both are sealed with the same keys, and differ all the same.
    expect(withoutCursors(await visit(second), second)).toEqual(withoutCursors(before, first))
  })

  test('an unreadable store is 503, and is read again as soon as the server is back', async () => {
    const proxy = await startFaultyProxy(env.AWS_ENDPOINT_URL_S3 ?? '')
    onTestFinished(() => proxy.close())
    const service = await start({ ...env, MOUNTGLASS_INDEXER: 'none', AWS_ENDPOINT_URL_S3: proxy.url })
    const unavailable = { status: 503, code: 'skill.unavailable' }
    for (const fault of [
      { kind: 'reset' },
      { kind: 'answered', status: 503 },
      { kind: 'body breaks off' },
      { kind: 'hangs' },
    ] as const) {
      proxy.befall(() => fault)
      const asked = [service.getError('mounts', HANDBOOK), service.getError('find', HANDBOOK, { query: 'review' })]
      expect(await Promise.all(asked), fault.kind).toEqual([unavailable, unavailable])
    }
    expect((await fetch(`${service.baseUrl}/readyz`)).status).toBe(503)
    expect((await fetch(`${service.baseUrl}/healthz`)).status).toBe(200)
    proxy.befall(() => null)
    expect((await service.get('mounts', HANDBOOK)).index).toMatchObject({ status: 'ready' })
    await untilReady(service)
    expectNoCredentials(service.output(), env)
  })

  test('the handbook is indexed through a line on which nothing succeeds at once', async () => {
    const proxy = await startFaultyProxy(env.AWS_ENDPOINT_URL_S3 ?? '')
    onTestFinished(() => proxy.close())
    const other = await deployment()
    const service = await start({ ...other, AWS_ENDPOINT_URL_S3: proxy.url })
    firstTimesFail(proxy)
    expect(withoutCursors(await visit(service), service)).toEqual(withoutCursors(before, first))
  })
})

test.runIf(hasServer('s3'))('a worker tries the buckets once, and its processes for jobs believe it', async () => {
  const env = await deployment()
  const proxy = await startFaultyProxy(env.AWS_ENDPOINT_URL_S3 ?? '')
  onTestFinished(() => proxy.close())
  const PRIVATE = { MOUNTGLASS_PRIVATE_STORE: `${env.MOUNTGLASS_STORE}-private` }
  const worker = startWorkerProcess({ ...env, ...PRIVATE, AWS_ENDPOINT_URL_S3: proxy.url, MOUNTGLASS_LOG: 'info' })
  for (const _ of [1, 2]) {
    const { process: pid } = await worker.said('job process ready')
    process.kill(pid, 'SIGKILL')
  }
  await worker.said('job process ready')
  const tried = proxy.requests.filter(({ target }) => target.includes('/probe/')).map(({ method }) => method)
  expect(tried.sort()).toEqual([...Array(2).fill('DELETE'), ...Array(10).fill('PUT')])
})

describe.runIf(hasServer('s3')).concurrent('a bucket that cannot be used stops the start with one line', () => {
  const KEYS = formatNewKeys('1', Buffer.alloc(32, 7))
  const unreachable = 'http://127.0.0.1:9'

  test.for<{ what: string; env: Record<string, string>; line: RegExp }>([
    {
      what: 'there is none',
      env: { MOUNTGLASS_STORE: 's3:nothing-here' },
      line: /^MOUNTGLASS_STORE: there is no bucket nothing-here at http/,
    },
    {
      what: 'the secret is wrong',
      env: { AWS_SECRET_ACCESS_KEY: 'wrong' },
      line: /^MOUNTGLASS_STORE: the credentials of bucket \S+ at \S+ are refused/,
    },
    {
      what: 'the credentials are unknown',
      env: { AWS_ACCESS_KEY_ID: 'wrong' },
      line: /^MOUNTGLASS_STORE: the credentials of bucket \S+ at \S+ are refused/,
    },
    {
      what: 'there are no credentials',
      env: { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' },
      line: /^MOUNTGLASS_STORE: there are no credentials .* set AWS_ACCESS_KEY_ID/,
    },
    {
      what: 'nobody listens',
      env: { AWS_ENDPOINT_URL_S3: unreachable },
      line: /^MOUNTGLASS_STORE: bucket \S+ at http:\/\/127.0.0.1:9 cannot be reached \(ECONNREFUSED\): check the endpoint/,
    },
    {
      what: 'it is at AWS, and nobody said where',
      env: { AWS_ENDPOINT_URL_S3: '', AWS_REGION: '' },
      line: /^MOUNTGLASS_STORE: the region .* set AWS_REGION$/,
    },
    {
      what: 'there are no keys',
      env: { MOUNTGLASS_KEYS: '' },
      line: /^MOUNTGLASS_KEYS: must be set where the store is a bucket/,
    },
    {
      what: 'that of private repositories is missing',
      env: { MOUNTGLASS_PRIVATE_STORE: 's3:nothing-here' },
      line: /^MOUNTGLASS_PRIVATE_STORE: there is no bucket nothing-here/,
    },
  ])('when $what', async ({ env, line }) => {
    const settings = { ...(await deployment()), MOUNTGLASS_KEYS: KEYS, ...env }
    const { code, lines } = await runToEnd('serve', settings)
    expect([code, lines]).toEqual([1, [expect.stringContaining('mountglass: ')]])
    expect(lines[0]?.slice('mountglass: '.length)).toMatch(line)
    expectNoCredentials(lines.join('\n'), { ...(await testServer('s3')), MOUNTGLASS_KEYS: KEYS })
  })

  test('when the server never answers', async () => {
    const silent = createServer().listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const env = { ...(await deployment()), AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${(silent.address() as AddressInfo).port}` }
    const { code, lines } = await runToEnd('serve', env)
    const line = expect.stringMatching(
      /^mountglass: MOUNTGLASS_STORE: bucket \S+ at \S+ cannot be reached \(timeout\): check the endpoint/,
    )
    expect([code, lines]).toEqual([1, [line]])
    silent.close()
  })

  test('of a worker too, and of the other commands', async () => {
    const settings = { ...(await deployment()), MOUNTGLASS_STORE: 's3:nothing-here' }
    expect(await runToEnd('work', settings)).toEqual({
      code: 1,
      lines: [expect.stringMatching(/^mountglass: MOUNTGLASS_STORE: there is no bucket/)],
    })
    for (const command of [`index ${HANDBOOK}`, 'sweep']) {
      expect(await runToEnd(command, settings), command).toEqual({
        code: 1,
        lines: [expect.stringMatching(/^MOUNTGLASS_STORE: there is no bucket/)],
      })
    }
  })
})

/** Whatever is asked for the first time is not done, or done without an answer, or answered by a busy server. */
function firstTimesFail(proxy: FaultyProxy): void {
  const faults = [
    { kind: 'answer lost' },
    { kind: 'answered', status: 503 },
    { kind: 'reset' },
    { kind: 'body breaks off' },
  ] as const
  const seen = new Set<string>()
  proxy.befall(({ method, target }) => {
    // Every probe is for another key.
    const request = `${method} ${target.replace(/\/probe\/[^?]*/, '/probe/')}`
    return seen.size < seen.add(request).size ? (faults[seen.size % faults.length] ?? null) : null
  })
}

async function runToEnd(command: string, env: Record<string, string>): Promise<{ code: number | null; lines: string[] }> {
  const child = spawn(process.execPath, [LAUNCHER, ...command.split(' ')], {
    env: { PATH: process.env.PATH, PORT: String(await freePort()), AWS_EC2_METADATA_DISABLED: 'true', ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let output = ''
  child.stderr.on('data', chunk => (output += chunk))
  const code = await new Promise<number | null>(resolve => child.once('close', resolve))
  return { code, lines: output.trimEnd().split('\n') }
}

/** Cursors are sealed anew each time, and addresses have the port of their process. */
function withoutCursors(visited: unknown, { baseUrl }: Service): unknown {
  const text = JSON.stringify(visited)
    .replaceAll(baseUrl, '')
    .replaceAll(/"(?:next)?cursor":"[^"]*"/gi, '')
  return JSON.parse(withoutInstants(text.replaceAll(/,(?=[},])|(?<=\{),/g, '')))
}

function expectNoCredentials(output: string, env: Record<string, string>): void {
  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'MOUNTGLASS_KEYS']) expect(output).not.toContain(env[name])
}
