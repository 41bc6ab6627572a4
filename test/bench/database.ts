import type { JobQueue } from '#core/ports/job-queue.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { openDatabase } from '#infra/postgres/database.ts'
import { openPostgresStateStore } from '#infra/postgres/state-store.ts'
import { openBossQueue } from '#infra/queue/boss-queue.ts'
import { createStateQueue } from '#infra/queue/state-queue.ts'
import { systemClock } from '#infra/system/system.ts'
import { createDatabase, startOwnPostgres } from '#test/support/servers/postgres.ts'
import { jobOf } from '#test/support/store-values.ts'
import { printTable } from './measure.ts'

const SECONDS = 2
const JOBS = 1_000
const CALLERS = 16

/** Documents and jobs in a PostgreSQL on this machine that writes to its disk as one in use does. */
export async function measureDatabase(): Promise<void> {
  const server = await startOwnPostgres({ fsync: 'on', full_page_writes: 'on' })
  try {
    const { url } = await createDatabase(server.url)
    const database = openDatabase(url)
    const states = await openPostgresStateStore(database)
    try {
      printTable('Documents in PostgreSQL (a second)', [await measureDocs(states)])
      const boss = await openBossQueue({ db: { executeSql: database.run }, states, clock: systemClock, onWarning() {} })
      printTable(`${JOBS} jobs, ${CALLERS} at once (a second; a look in milliseconds)`, [
        { queue: 'pg-boss', ...(await measureQueue(boss)) },
        { queue: 'documents in PostgreSQL', ...(await measureQueue(createStateQueue(states, systemClock))) },
      ])
      await boss.close()
    } finally {
      await states.close()
    }
  } finally {
    await server.remove()
  }
}

async function measureDocs(states: StateStore): Promise<Record<string, number>> {
  for (let index = 0; index < 64; index++) await states.create(`doc/${index}`, 0)
  const read = (index: number) => states.read(`doc/${index}`)
  const swap = (index: number) => async () => {
    const doc = await read(index)
    return states.replace(`doc/${index}`, Number(doc?.value) + 1, doc?.etag ?? '')
  }
  return {
    'reads, 1 caller': await rate(1, () => read(0)),
    'reads, 16 callers': await rate(CALLERS, caller => read(caller)),
    'swaps of one, 1 caller': await rate(1, swap(0)),
    'swaps of 16, 16 callers': await rate(CALLERS, caller => swap(caller)()),
    'made swaps of one, 8 callers': await rate(8, async () => (await swap(0)()).status === 'written'),
  }
}

async function measureQueue(queue: JobQueue): Promise<Record<string, number>> {
  const jobs = Array.from({ length: JOBS }, (_, number) => jobOf(number))
  const left = await times(jobs, job => queue.offer(job))
  const again = await times(jobs, job => queue.offer(job))
  const done = await times(jobs, async () => {
    const lease = await queue.take('worker')
    if (lease) await queue.finish(lease)
  })
  const looks = await times(Array.from({ length: 200 }), () => queue.take('worker'), 1)
  return { left, 'left again': again, 'taken and finished': done, 'a look at nothing, ms': Math.round(10_000 / looks) / 10 }
}

/** How often a second the callers, each after itself, do the work; `false` does not count. */
async function rate(callers: number, work: (caller: number) => Promise<unknown>): Promise<number> {
  const end = performance.now() + SECONDS * 1000
  let done = 0
  const call = async (caller: number) => {
    while (performance.now() < end) if ((await work(caller)) !== false) done++
  }
  await Promise.all(Array.from({ length: callers }, (_, caller) => call(caller)))
  return Math.round(done / SECONDS)
}

/** How many a second are done. */
async function times<Item>(items: Item[], work: (item: Item) => Promise<unknown>, callers = CALLERS): Promise<number> {
  const startedAt = performance.now()
  const rest = items.values()
  const call = async () => {
    for (const item of rest) await work(item)
  }
  await Promise.all(Array.from({ length: callers }, call))
  return Math.round(items.length / ((performance.now() - startedAt) / 1000))
}
