import { describe, expect, onTestFinished, test } from 'vitest'
import { sharesConnections } from '#infra/postgres/pooler.ts'
import { runToEnd } from '#test/support/failed-start.ts'
import { createDatabase, type PoolMode, query, startPooler } from '#test/support/servers/postgres.ts'
import { hasServer } from '#test/support/servers/servers.ts'
import { startService, untilReady } from '#test/support/service.ts'
import { freePort } from '../../scripts/servers/free-port.mjs'

const HANDBOOK = '/local/mountglass/handbook'

async function database(): Promise<string> {
  const { url, remove } = await createDatabase()
  onTestFinished(remove)
  return url
}

async function pooled(mode: PoolMode, settings: Record<string, string | number> = {}): Promise<string> {
  const { url, stop } = await startPooler(await database(), mode, settings)
  onTestFinished(stop)
  return url
}

describe.runIf(hasServer('postgres'))('a connection pooler', () => {
  test('in session mode works without settings', async () => {
    const url = await pooled('session')
    const service = await startService({ MOUNTGLASS_DATABASE: url, MOUNTGLASS_GITHUB: 'off' })
    onTestFinished(() => service.stop())
    await untilReady(service)
    expect(await service.get('mounts', HANDBOOK)).toMatchObject({ index: { status: 'ready' } })
    const [limit] = await query(url, "SELECT setting FROM pg_settings WHERE name = 'statement_timeout'")
    expect(limit, 'the next client of the connection has the default').toEqual({ setting: '0' })
  })

  test.each<[PoolMode, Record<string, string | number>]>([
    ['transaction', {}],
    ['transaction', { default_pool_size: 1 }],
    ['transaction', { server_round_robin: 1, min_pool_size: 4 }],
    ['statement', {}],
  ])('in %s mode, with %j, stops the start with one line that names the required mode', async (mode, settings) => {
    const url = await pooled(mode, settings)
    // Connections that others left.
    await Promise.all(Array.from({ length: 4 }, () => query(url, 'SELECT 1 FROM pg_sleep(0.01)')))
    const env = { MOUNTGLASS_DATABASE: url, MOUNTGLASS_GITHUB: 'off', MOUNTGLASS_STORE: 'disk:/proc/store' }
    const { code, lines } = await runToEnd('serve', { ...env, PORT: String(await freePort()) })
    expect([code, lines]).toEqual([1, [expect.stringMatching(/^mountglass: MOUNTGLASS_DATABASE: .*session mode/)]])
  })

  test('in session mode without a second connection is no other mode, and neither is the server itself', async () => {
    expect(await sharesConnections(await pooled('session', { default_pool_size: 1 }))).toBe(false)
    expect(await sharesConnections(await database())).toBe(false)
  })
})
