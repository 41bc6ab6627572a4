import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createRepositories, type TestRepositories } from '#test/support/repository.ts'
import { createDatabase, query, startOwnPostgres } from '#test/support/servers/postgres.ts'
import { hasServer, testServer } from '#test/support/servers/servers.ts'
import { type Service, startService, untilReady } from '#test/support/service.ts'
import { until } from '#test/support/until.ts'
import { startWorkerProcess } from '#test/support/worker-process.ts'
import { freePort } from '../../scripts/servers/free-port.mjs'

const LAUNCHER = fileURLToPath(new URL('../../bin/mountglass.mjs', import.meta.url))

async function database(): Promise<string> {
  const { url, remove } = await createDatabase()
  onTestFinished(remove)
  return url
}

/** Repositories `acme/one` to `acme/<last>`, of one skill each. */
async function threeRepositories(): Promise<TestRepositories> {
  const repositories = await createRepositories()
  onTestFinished(() => repositories.remove())
  for (const name of ['one', 'two', 'three']) {
    const repository = await repositories.create('acme', name)
    await repository.commit({ 'a/SKILL.md': `---\nname: a\ndescription: ${name}\n---\nDo.\n` })
  }
  return repositories
}

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mountglass-database-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Settings of a deployment whose processes share a folder and a database. */
async function deployment(url: string): Promise<{ env: Record<string, string>; folder: string }> {
  const [repositories, folder] = [await threeRepositories(), await temporaryFolder()]
  const env = {
    MOUNTGLASS_STORE: `disk:${folder}`,
    MOUNTGLASS_DATABASE: url,
    MOUNTGLASS_LOCAL_REPOSITORIES: repositories.root,
    MOUNTGLASS_GITHUB: 'off',
  }
  return { env, folder }
}

async function serve(env: Record<string, string>): Promise<Service> {
  const service = await startService(env)
  onTestFinished(() => service.stop())
  return service
}

describe.runIf(hasServer('postgres'))('a database beside the store', () => {
  test('a service without an indexer leaves jobs in the database, and a separate worker runs them', async () => {
    const url = await database()
    const { env, folder } = await deployment(url)
    const service = await serve({ ...env, MOUNTGLASS_INDEXER: 'none' })
    const jobs = () => query(url, "SELECT state::text FROM mountglass_jobs.job WHERE state <= 'active'")
    await fetch(`${service.baseUrl}/api/v1/mounts/local/acme/one`)
    await fetch(`${service.baseUrl}/api/v1/mounts/local/acme/one`)
    expect(await jobs()).toEqual([{ state: 'created' }])

    const worker = startWorkerProcess(env)
    for (const name of ['one', 'two', 'three']) {
      const mount = await service.get('mounts', `/local/acme/${name}`)
      expect(mount.index).toMatchObject({ status: 'ready', counts: { skills: 1 } })
      await worker.said('indexed')
    }
    await until(async () => (await jobs()).length === 0)
    expect(await query(url, "SELECT key FROM mountglass.doc WHERE key LIKE 'ctl/job/%'")).toEqual([])
    expect((await query(url, "SELECT key FROM mountglass.doc WHERE key LIKE 'ctl/last/%'")).length).toBe(3)
    expect((await readdir(folder)).filter(name => name.includes('sqlite'))).toEqual([])
    worker.child.kill('SIGTERM')
    expect(await worker.ended).toEqual({ code: 0, signal: null })
  })

  test('a service with an indexer leaves its index in the database for the next one', async () => {
    const { env } = await deployment(await database())
    const service = await serve(env)
    expect((await service.get('browse', '/local/acme/two')).status).toBe('ready')
    await service.stop()
    const again = await serve({ ...env, MOUNTGLASS_INDEXER: 'none' })
    expect((await again.get('browse', '/local/acme/two')).status).toBe('ready')
  })

  test.runIf(hasServer('s3'))('beside a bucket too, which then has no documents', async () => {
    const s3 = await testServer('s3')
    const prefix = randomUUID()
    const repositories = await threeRepositories()
    const url = await database()
    const env = {
      ...s3,
      MOUNTGLASS_STORE: `${s3.MOUNTGLASS_STORE}/${prefix}`,
      MOUNTGLASS_DATABASE: url,
      MOUNTGLASS_LOCAL_REPOSITORIES: repositories.root,
      MOUNTGLASS_GITHUB: 'off',
    }
    const service = await serve({ ...env, MOUNTGLASS_INDEXER: 'none' })
    startWorkerProcess(env)
    const mount = await service.get('mounts', '/local/acme/one')
    expect(mount.index).toMatchObject({ status: 'ready', counts: { skills: 1 } })
    // The worker ends its job after the snapshot is there.
    await until(async () => (await query(url, "SELECT key FROM mountglass.doc WHERE key LIKE 'ctl/last/%'")).length === 1)
    const { S3Client, ListObjectsV2Command } = await import('@aws-sdk/client-s3')
    const credentials = { accessKeyId: s3.AWS_ACCESS_KEY_ID ?? '', secretAccessKey: s3.AWS_SECRET_ACCESS_KEY ?? '' }
    const client = new S3Client({
      endpoint: s3.AWS_ENDPOINT_URL_S3 ?? '',
      region: s3.AWS_REGION ?? '',
      credentials,
      forcePathStyle: true,
    })
    const [, bucket = ''] = (s3.MOUNTGLASS_STORE ?? '').split(':')
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: `${prefix}/` }))
    client.destroy()
    expect(Contents.length).toBeGreaterThan(1)
    expect(Contents.filter(({ Key = '' }) => Key.startsWith(`${prefix}/ctl/`))).toEqual([])
  })

  test('while the database is down, ready mounts are served, the rest is 503, and both recover', async () => {
    const server = await startOwnPostgres()
    onTestFinished(() => server.remove())
    const { env } = await deployment(server.url)
    const service = await serve({ ...env, MOUNTGLASS_INDEXER: 'none' })
    const worker = startWorkerProcess(env)
    const ready = await service.get('browse', '/local/acme/one')
    expect(ready.status).toBe('ready')

    await server.end('crashed')
    expect(await service.getError('mounts', '/local/acme/two')).toEqual({ status: 503, code: 'skill.unavailable' })
    await until(async () => (await fetch(`${service.baseUrl}/readyz`)).status === 503)
    expect((await fetch(`${service.baseUrl}/healthz`)).status).toBe(200)
    expect(await service.get('browse', '/local/acme/one')).toEqual(ready)
    await worker.said('cannot take a job from the queue')

    await server.start()
    expect((await service.get('browse', '/local/acme/two')).status).toBe('ready')
    await untilReady(service)
    const { password } = new URL(server.url)
    expect(service.output()).not.toContain(password)
    expect(JSON.stringify(worker.log)).not.toContain(password)
  })

  test.each<{ what: string; change: (url: URL) => void; line: RegExp }>([
    {
      what: 'the password is wrong',
      change: url => (url.password = 'hunter2'),
      line: /password authentication failed for user "mountglass"$/,
    },
    { what: 'nobody listens', change: url => (url.port = '9'), line: /connect ECONNREFUSED 127\.0\.0\.1:9$/ },
    { what: 'there is no such database', change: url => (url.pathname = '/nowhere'), line: /database "nowhere" does not exist$/ },
    {
      what: 'there is no such server',
      change: url => (url.hostname = 'nowhere.invalid'),
      line: /getaddrinfo E\w+ nowhere\.invalid$/,
    },
  ])('when $what, the start stops with one line without the password', async ({ change, line }) => {
    const server = (await testServer('postgres')).MOUNTGLASS_DATABASE ?? ''
    const url = new URL(server)
    change(url)
    const { env } = await deployment(url.href)
    for (const command of ['serve', 'work']) {
      const { code, output } = await runToEnd(command, env)
      expect([code, output.split('\n').length]).toEqual([1, 1])
      expect(output).toMatch(/^mountglass: MOUNTGLASS_DATABASE: the database cannot be used: /)
      expect(output).toMatch(line)
      for (const password of ['hunter2', new URL(server).password]) expect(output).not.toContain(password)
    }
  })
})

async function runToEnd(command: string, env: Record<string, string>): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [LAUNCHER, command], {
    env: { PATH: process.env.PATH, PORT: String(await freePort()), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk))
  const code = await new Promise<number | null>(resolve => child.once('close', resolve))
  return { code, output: output.trimEnd() }
}
