import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { formatNewKeys } from '#api/purpose-keys.ts'
import type { JsonValue } from '#core/ports/state-store.ts'
import { OPERATOR_KEY } from '#core/snapshot/store-keys.ts'
import { parseInfraSettings } from '#infra/infra-settings.ts'
import { openStores } from '#infra/stores.ts'
import { startFakeGitHub } from '#test/support/fake-github/server.ts'
import { createRepositories } from '#test/support/repository.ts'
import { startCarelessS3 } from '#test/support/servers/careless-s3.ts'
import { startForwardProxy } from '#test/support/servers/forward-proxy.ts'
import { createDatabase, query, startPooler } from '#test/support/servers/postgres.ts'
import { hasServer } from '#test/support/servers/servers.ts'
import { type Service, startService, untilReady } from '#test/support/service.ts'
import { until } from '#test/support/until.ts'

async function start(env: Record<string, string>): Promise<Service> {
  const service = await startService({ MOUNTGLASS_GITHUB: 'off', ...env })
  onTestFinished(() => service.stop())
  return service
}

async function diskStore(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mountglass-survives-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return `disk:${folder}`
}

async function pooledDatabase(): Promise<string> {
  const { url, remove } = await createDatabase()
  onTestFinished(remove)
  const pooler = await startPooler(url, 'session')
  onTestFinished(pooler.stop)
  return pooler.url
}

const CREDENTIALS = { accessKeyId: 'id', secretAccessKey: 'hush' }

async function bucket(): Promise<Record<string, string>> {
  const s3 = await startCarelessS3({ ifNoneMatch: 'kept', ifMatch: 'both' })
  onTestFinished(s3.close)
  return {
    MOUNTGLASS_STORE: 's3:bucket',
    MOUNTGLASS_KEYS: formatNewKeys('1', new Uint8Array(32)),
    AWS_ENDPOINT_URL_S3: s3.url,
    AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
  }
}

const TOLD = 'the published content of the operator could not be read'

/** Starts a service whose entry names published content that its store does not have, as after a backup of the entries alone. */
async function startWithout(env: Record<string, string>, value: JsonValue = { content: 'a'.repeat(64) }): Promise<Service> {
  const settings = parseInfraSettings(env)
  const store = settings.store.kind === 's3' ? { ...settings.store, credentials: CREDENTIALS } : settings.store
  const stores = await openStores({ ...settings, store })
  await stores.states.create(OPERATOR_KEY, value)
  await stores.close()
  return await start({ ...env, MOUNTGLASS_INDEXER: 'none' })
}

test.each([{ content: 'a'.repeat(64) }, { content: 7 }, {}])(
  'content that is unreadable at the start is logged once, and the rest is served: %j',
  async value => {
    const service = await startWithout({ MOUNTGLASS_STORE: await diskStore() }, value)
    expect(service.output()).toContain(TOLD)
    expect((await fetch(`${service.baseUrl}/`)).status).toBe(200)
  },
)

describe.runIf(hasServer('postgres'))('with a database', () => {
  test.each([
    ['a disk', async () => ({ MOUNTGLASS_STORE: await diskStore() })],
    ['a bucket', bucket],
  ])(
    'behind a pooler and %s, content that is unreadable at the start is logged once, and the rest is served',
    async (_name, place) => {
      const service = await startWithout({ ...(await place()), MOUNTGLASS_DATABASE: await pooledDatabase() })
      expect(service.output()).toContain(TOLD)
      expect((await fetch(`${service.baseUrl}/`)).status).toBe(200)
    },
  )

  test('a read-only database, as after a failover, makes the service unready until it is writable again', async () => {
    const { url, remove } = await createDatabase()
    onTestFinished(remove)
    const service = await start({ MOUNTGLASS_DATABASE: url })
    await untilReady(service)
    const name = new URL(url).pathname.slice(1)
    const set = async (value: string) => {
      await query(url, `ALTER DATABASE "${name}" SET default_transaction_read_only = ${value}`)
      await query(url, 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()', [
        name,
      ])
    }
    await set('on')
    await until(async () => (await fetch(`${service.baseUrl}/readyz`)).status === 503)
    const writable = new URL(url)
    writable.searchParams.set('options', '-c default_transaction_read_only=off')
    await query(writable.href, `ALTER DATABASE "${name}" RESET default_transaction_read_only`)
    await query(
      writable.href,
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()',
      [name],
    )
    await untilReady(service)
  })
})

test("behind a forward proxy, jobs read repositories of GitHub too, and no line has the proxy's password", async () => {
  const repositories = await createRepositories()
  onTestFinished(() => repositories.remove())
  await (await repositories.create('acme', 'tools')).commit({ 'a/SKILL.md': '---\nname: a\ndescription: A.\n---\nDo.\n' })
  const github = await startFakeGitHub({ root: repositories.root })
  onTestFinished(() => github.close())
  const proxy = await startForwardProxy()
  onTestFinished(proxy.close)
  const there = (url: string, host: string) => url.replace('127.0.0.1', host)
  const service = await start({
    MOUNTGLASS_GITHUB: 'on',
    MOUNTGLASS_GITHUB_URL: there(github.origins.web, 'github.test'),
    MOUNTGLASS_GITHUB_API_URL: there(github.origins.api, 'api.github.test'),
    HTTP_PROXY: proxy.url,
    MOUNTGLASS_LOG: 'trace',
  })
  expect(await service.get('browse', '/gh/acme/tools')).toMatchObject({ status: 'ready' })
  const asked = proxy.asked.map(({ what }) => what.replace(/\d+$/, 'port'))
  expect(asked, 'git and the API').toEqual(expect.arrayContaining(['POST github.test:port', 'CONNECT api.github.test:port']))
  expect(service.output()).not.toContain('hush')
})
