import { describe, expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '#infra/postgres/database.ts'
import { createDatabase, query } from '#test/support/servers/postgres.ts'
import { hasServer } from '#test/support/servers/servers.ts'
import { describeDrivers, SERVER_STATE_STORES } from '#test/support/store-drivers.ts'
import { until } from '#test/support/until.ts'
import { changeFeedContract } from './change-feed-contract.ts'

describeDrivers('changes over a store', SERVER_STATE_STORES, changeFeedContract)

/** Connections that listen in this database; tests that run beside this one have others at the same server. */
const LISTENING = "pg_stat_activity WHERE application_name = 'mountglass, listening' AND datname = current_database()"

describe.runIf(hasServer('postgres'))('notifications of a database', () => {
  async function open() {
    const { url, remove } = await createDatabase()
    onTestFinished(remove)
    const database = openDatabase(url)
    onTestFinished(() => database.close())
    return { url, database }
  }

  test('reach listeners of the channel, and no other', async () => {
    const { database } = await open()
    const heard = { mine: 0, other: 0 }
    const ends = [database.listen('mine', () => heard.mine++), database.listen('other', () => heard.other++)]
    onTestFinished(async () => void (await Promise.all(ends.map(end => end()))))
    // Each begins with a look of its own.
    await until(() => heard.mine === 1 && heard.other === 1)
    await database.notify('mine')
    await until(() => heard.mine === 2)
    expect(heard.other).toBe(1)
  })

  test('are received on a new connection when the old one ends, and changes lost meanwhile are looked up', async () => {
    const { url, database } = await open()
    let heard = 0
    const end = database.listen('mine', () => heard++)
    onTestFinished(end)
    await until(() => heard === 1)
    await query(url, `SELECT pg_terminate_backend(pid) FROM ${LISTENING}`)
    await until(() => heard === 2)
    await database.notify('mine')
    await until(() => heard === 3)
  })

  test('end with their listener', async () => {
    const { url, database } = await open()
    let heard = 0
    const end = database.listen('mine', () => heard++)
    await until(() => heard === 1)
    await end()
    await database.notify('mine')
    expect(await query(url, `SELECT count(*)::int AS n FROM ${LISTENING}`)).toEqual([{ n: 0 }])
    expect(heard).toBe(1)
  })
})
