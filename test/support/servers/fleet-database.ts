import type { Clock } from '#core/ports/system.ts'
import { openDatabase } from '#infra/postgres/database.ts'
import { openPostgresStateStore } from '#infra/postgres/state-store.ts'
import { openBossQueue } from '#infra/queue/boss-queue.ts'
import { systemClock } from '#infra/system/system.ts'
import { keptDatabases } from './kept-databases.ts'

const takeDatabase = keptDatabases(async url => (await openStores(url, systemClock)).close())

/** State entries and the queue of a fleet, in a database with nothing of earlier tests in it. */
export async function openFleetDatabase(clock: Clock) {
  const { url, remove } = await takeDatabase()
  const { states, queue, close } = await openStores(url, clock)
  return {
    states,
    queue,
    async close() {
      await close()
      await remove()
    },
  }
}

async function openStores(url: string, clock: Clock) {
  const database = openDatabase(url)
  const states = await openPostgresStateStore(database)
  const queue = await openBossQueue({ db: { executeSql: database.run }, states, clock, onWarning: fail })
  return {
    states,
    queue,
    async close() {
      await queue.close()
      await states.close()
    },
  }
}

function fail(message: string): never {
  throw new Error(message)
}
