import { randomUUID } from 'node:crypto'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { StateStore, WriteOutcome } from '#core/ports/state-store.ts'
import { type Database, LostAnswerError, openDatabase, problemOf } from '#infra/postgres/database.ts'
import { openPostgresStateStore } from '#infra/postgres/state-store.ts'
import { PATIENT } from '#test/support/patient.ts'
import { createDatabase, query, startOwnPostgres, type TestDatabase } from '#test/support/servers/postgres.ts'
import { startProxy } from '#test/support/servers/proxy.ts'
import { hasServer, testServer } from '#test/support/servers/servers.ts'
import { until } from '#test/support/until.ts'

async function database(): Promise<TestDatabase> {
  const created = await createDatabase()
  onTestFinished(created.remove)
  return created
}

async function openStore(url: string): Promise<StateStore> {
  const store = await openPostgresStateStore(openDatabase(url, { patienceMs: PATIENT.patienceMs }))
  onTestFinished(() => store.close())
  return store
}

async function behindProxy() {
  const { url } = await database()
  const proxy = await startProxy(url)
  onTestFinished(() => proxy.shut())
  return { url, proxy, store: await openStore(proxy.url) }
}

describe.runIf(hasServer('postgres'))('entries in a database', () => {
  test('documents exist after the store is opened again, under the same etag', async () => {
    const { url } = await database()
    const first = await openStore(url)
    await first.create('key', { a: 1 })
    const kept = await first.read('key')
    await first.close()
    expect(await (await openStore(url)).read('key')).toEqual(kept)
  })

  test('closing twice is no error, and a closed store answers nothing', async () => {
    const store = await openStore((await database()).url)
    await store.close()
    await store.close()
    await expect(store.read('key')).rejects.toThrow('closed')
  })

  test('32 openings of an empty database at once make its tables once', async () => {
    const { url } = await database()
    const stores = await Promise.all(Array.from({ length: 32 }, () => openStore(url)))
    const written = await Promise.all(stores.map((store, index) => store.create(`key/${index}`, index)))
    expect(written.map(({ status }) => status)).toEqual(stores.map(() => 'written'))
    expect(await stores[0]?.list('')).toHaveLength(32)
    expect(await query(url, 'SELECT * FROM mountglass.version')).toEqual([{ version: 1 }])
  })

  test('tables of the same names in a shared database stay unchanged', async () => {
    const { url } = await database()
    await query(url, 'CREATE TABLE doc (key int)')
    await query(url, 'CREATE TABLE version (key int)')
    const store = await openStore(url)
    await store.create('key', 1)
    const tables = await query(
      url,
      "SELECT schemaname || '.' || tablename AS name FROM pg_tables WHERE schemaname !~ '^pg_|^information' ORDER BY 1",
    )
    expect(tables.map(({ name }) => name)).toEqual(['mountglass.doc', 'mountglass.version', 'public.doc', 'public.version'])
    expect(await query(url, 'SELECT * FROM public.doc')).toEqual([])
  })

  test('a user without the right to create a schema can be given one', async () => {
    const server = (await testServer('postgres')).MOUNTGLASS_DATABASE ?? ''
    const role = `role-${randomUUID()}`
    await query(server, `CREATE ROLE "${role}" LOGIN PASSWORD 'secret'`)
    onTestFinished(async () => {
      await query(server, `DROP ROLE "${role}"`)
    })
    const { url } = await database()
    const limited = new URL(url)
    limited.username = role
    limited.password = 'secret'
    await expect(openStore(limited.href)).rejects.toThrow('permission denied')
    await query(url, `CREATE SCHEMA mountglass AUTHORIZATION "${role}"`)
    const store = await openStore(limited.href)
    expect(await store.create('key', 1)).toMatchObject({ status: 'written' })
  })

  test('documents of a later version are refused and left unchanged', async () => {
    const { url } = await database()
    await (await openStore(url)).create('key', 1)
    await query(url, 'UPDATE mountglass.version SET version = 99')
    await expect(openStore(url)).rejects.toThrow('its tables have version 99')
    expect(await query(url, 'SELECT key, body FROM mountglass.doc')).toEqual([{ key: 'key', body: '1' }])
  })

  test('a database that cannot hold every character is refused', async () => {
    const { url } = await database()
    const latin = `${new URL(url).pathname.slice(1)}-latin`
    await query(url, `CREATE DATABASE "${latin}" ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0`)
    onTestFinished(async () => {
      await query((await testServer('postgres')).MOUNTGLASS_DATABASE ?? '', `DROP DATABASE "${latin}" WITH (FORCE)`)
    })
    const other = new URL(url)
    other.pathname = latin
    await expect(openStore(other.href)).rejects.toThrow('its encoding is LATIN1; UTF8 is needed')
  })

  test.each(['answer', 'question'] as const)('a create whose %s was lost is made once, and reported as made', async how => {
    const { proxy, store } = await behindProxy()
    proxy.lose('create entry', 1, how)
    const outcome = await store.create('key', 1)
    expect(proxy.toLose()).toBe(0)
    expect(await store.read('key')).toEqual({ value: 1, etag: outcome.status === 'written' ? outcome.etag : '' })
    proxy.lose('create entry', 1, how)
    expect(await store.create('key', 2)).toEqual({ status: 'conflict' })
  })

  test.each(['answer', 'question'] as const)('a replace whose %s was lost is made once, and reported as made', async how => {
    const { proxy, store } = await behindProxy()
    const first = await store.create('key', 1)
    if (first.status !== 'written') throw new Error('not written')
    proxy.lose('replace entry', 2, how)
    const second = await store.replace('key', 2, first.etag)
    expect(proxy.toLose()).toBe(0)
    expect(await store.read('key')).toEqual({ value: 2, etag: second.status === 'written' ? second.etag : '' })
    proxy.lose('replace entry', 1, how)
    expect(await store.replace('key', 3, first.etag)).toEqual({ status: 'conflict' })
  })

  test('reading, listing and removing go on after a lost answer', async () => {
    const { proxy, store } = await behindProxy()
    await store.create('key', 1)
    proxy.lose('read entry', 2)
    expect((await store.read('key'))?.value).toBe(1)
    proxy.lose('SELECT', 1)
    expect(await store.list('')).toEqual(['key'])
    proxy.lose('DELETE', 1)
    await store.remove('key')
    expect(proxy.toLose()).toBe(0)
    expect(await store.read('key')).toBeNull()
  })

  test.each([
    { lost: 'answer', writesSince: 0, told: 'written' },
    { lost: 'answer', writesSince: 1, told: 'written' },
    { lost: 'answer', writesSince: 16, told: 'written' },
    { lost: 'answer', writesSince: 17, told: 'unknown' },
    { lost: 'question', writesSince: 0, told: 'written' },
    { lost: 'question', writesSince: 1, told: 'conflict' },
    { lost: 'question', writesSince: 16, told: 'conflict' },
    { lost: 'question', writesSince: 17, told: 'unknown' },
  ] as const)(
    'a replace whose $lost was lost, with $writesSince writes of others since: $told',
    async ({ lost, writesSince, told }) => {
      const { proxy, store, url } = await behindProxy()
      const other = await openStore(url)
      const first = await store.create('key', 1)
      if (first.status !== 'written') throw new Error('not written')
      // The next try waits until the others have written.
      proxy.lose('replace entry', 1, lost, 'hold')
      const answer = store.replace('key', 2, first.etag).then(
        ({ status }) => status,
        error => (error instanceof LostAnswerError ? 'unknown' : error),
      )
      await until(() => proxy.toLose() === 0)
      for (let write = 0; write < writesSince; write++) {
        const doc = await other.read('key')
        await other.replace('key', 3, doc?.etag ?? '')
      }
      proxy.letIn()
      expect(await answer).toBe(told)
      expect((await other.read('key'))?.value).toBe(writesSince === 0 ? 2 : 3)
    },
  )

  test('8 callers that read, add one and write lose nothing while every seventh answer is lost', async () => {
    const { proxy, store } = await behindProxy()
    await store.create('counter', 0)
    let [writes, made, unknown] = [0, 0, 0]
    const increment = async () => {
      for (let done = 0; done < 25; ) {
        const doc = await store.read('counter')
        if (++writes % 7 === 0) proxy.lose('replace entry', 1, writes % 2 === 0 ? 'answer' : 'question')
        const outcome: WriteOutcome | null = await store
          .replace('counter', Number(doc?.value) + 1, doc?.etag ?? '')
          .catch((error: unknown) => {
            if (!(error instanceof LostAnswerError)) throw error
            unknown++
            return null
          })
        if (outcome?.status === 'written') made++
        if (outcome?.status !== 'conflict') done++
      }
    }
    await Promise.all(Array.from({ length: 8 }, increment))
    const counted = Number((await store.read('counter'))?.value)
    expect(made + unknown).toBe(200)
    expect(counted).toBeGreaterThanOrEqual(made)
    expect(counted).toBeLessThanOrEqual(made + unknown)
    expect(unknown).toBeLessThan(20)
  })

  test('no more connections are opened than a process may have', async () => {
    const { url } = await database()
    const name = new URL(url).pathname.slice(1)
    const counted = async (limited: Database) => {
      onTestFinished(() => limited.close())
      const all = Array.from({ length: 12 }, () =>
        limited.run('SELECT count(*)::int FROM pg_stat_activity WHERE datname = $1', [name]),
      )
      return Math.max(...(await Promise.all(all)).map(({ rows }) => rows[0].count))
    }
    expect(await counted(openDatabase(url, { connections: 2 }))).toBeLessThanOrEqual(2)
  })

  test('no server, a wrong password and a missing database are reported in one line without the password', async () => {
    const { url } = await database()
    const addresses = { noServer: new URL(url), wrongPassword: new URL(url), noDatabase: new URL(url) }
    addresses.noServer.port = '1'
    addresses.wrongPassword.password = 'hunter2'
    addresses.noDatabase.pathname = '/nowhere'
    const problems = await Promise.all(
      Object.values(addresses).map(address => openStore(address.href).then(() => 'opened', problemOf)),
    )
    expect(problems).toEqual([
      'connect ECONNREFUSED 127.0.0.1:1',
      'password authentication failed for user "mountglass"',
      'database "nowhere" does not exist',
    ])
  })
})

const WRITERS = 8

describe.runIf(hasServer('postgres'))('a server that goes away and comes back', () => {
  test.each(['in order', 'crashed'] as const)(
    '%s, under load: acknowledged writes are kept, and the store recovers',
    async how => {
      const server = await startOwnPostgres()
      onTestFinished(() => server.remove())
      const store = await openStore(server.url)
      let isOver = false
      const perWriter = new Map<string, number>()
      const haveWritten = (more: number) => {
        const goal = new Map([...perWriter].map(([key, writes]) => [key, writes + more]))
        return until(() => goal.size === WRITERS && [...goal].every(([key, writes]) => (perWriter.get(key) ?? 0) >= writes))
      }
      const failures: unknown[] = []
      const lies: unknown[] = []
      // Every document has one writer, so a conflict would be a lie.
      const write = async (key: string) => {
        let etag: string | null = null
        let value = 0
        let writes = 0
        while (!isOver) {
          perWriter.set(key, writes)
          try {
            const outcome: WriteOutcome =
              etag === null ? await store.create(key, value + 1) : await store.replace(key, value + 1, etag)
            if (outcome.status === 'written') etag = outcome.etag
            else lies.push({ key, value, outcome })
            value++
            writes++
          } catch (error) {
            failures.push(error)
            const doc = await store.read(key).catch(() => null)
            if (doc === null) continue
            if (doc.value !== value && doc.value !== value + 1) lies.push({ key, value, doc })
            value = Number(doc.value)
            etag = doc.etag
          }
        }
        return { key, value, writes }
      }
      const writers = Array.from({ length: WRITERS }, (_, index) => write(`key/${index}`))
      for (let restart = 0; restart < 3; restart++) {
        await haveWritten(5)
        await server.end(how)
        // The last absence is longer than a caller is kept waiting.
        if (restart === 2) await until(() => failures.length > 0)
        await server.start()
      }
      await haveWritten(5)
      isOver = true
      for (const { key, value, writes } of await Promise.all(writers)) {
        expect(writes).toBeGreaterThan(10)
        expect((await store.read(key))?.value).toBe(value)
      }
      expect(lies).toEqual([])
      expect(failures.length).toBeGreaterThan(0)
      expect(failures.every(error => error instanceof Error)).toBe(true)
    },
  )
})
