import pg from 'pg'
import { TestClock } from 'pg-boss'
import { onTestFinished } from 'vitest'
import { LEASE_MARGIN, LEASE_SECONDS } from '#core/limits.ts'
import type { JobQueue, Lease } from '#core/ports/job-queue.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import type { Clock } from '#core/ports/system.ts'
import { type Database, openDatabase, type Statement } from '#infra/postgres/database.ts'
import { openPostgresStateStore } from '#infra/postgres/state-store.ts'
import { NOTICE_SECONDS, openBossQueue } from '#infra/queue/boss-queue.ts'
import { createStateQueue } from '#infra/queue/state-queue.ts'
import { keptDatabases } from './servers/kept-databases.ts'
import { query } from './servers/postgres.ts'
import { LOCAL_STATE_STORES, SERVER_STATE_STORES, type StoreDriver, temporaryFolder } from './store-drivers.ts'
import { handClock } from './store-values.ts'

const START = '2026-03-01T12:00:00.000Z'

/** A queue whose time moves only when told. */
export interface TestQueue {
  queue: JobQueue
  /** The same queue as another process sees it. */
  another(): Promise<JobQueue>
  clock: Clock & { advance(seconds: number): Promise<void> }
  /** After this time without a word, the workers are told that one of them is silent. */
  noticeSeconds: number
  /** Everything that is kept of jobs. */
  contents(): Promise<unknown[]>
}

export interface QueueDriver extends Omit<StoreDriver<unknown>, 'open'> {
  open(): Promise<TestQueue>
}

/** After this time without a word the job of a worker is another's. */
export const SILENT_SECONDS = LEASE_SECONDS * (1 + LEASE_MARGIN)

/** @throws Error when there is no job to take */
export async function taken(queue: JobQueue, worker = 'worker'): Promise<Lease> {
  const lease = await queue.take(worker)
  if (lease === null) throw new Error('there is no job to take')
  return lease
}

export const LOCAL_QUEUES: readonly QueueDriver[] = LOCAL_STATE_STORES.map(stateQueueOver)

export const SERVER_QUEUES: readonly QueueDriver[] = [
  ...SERVER_STATE_STORES.map(stateQueueOver),
  { driver: 'pg-boss', server: 'postgres', open: bossQueue },
]

function stateQueueOver({ open, ...store }: StoreDriver<StateStore>): QueueDriver {
  return {
    ...store,
    driver: `documents, ${store.driver}`,
    async open() {
      const states = await open(await temporaryFolder())
      onTestFinished(() => states.close())
      return stateQueue(states)
    },
  }
}

function stateQueue(states: StateStore): TestQueue {
  const { now, advance } = handClock(START)
  return {
    clock: { now, advance: async seconds => advance(seconds) },
    queue: createStateQueue(states, { now }),
    another: async () => createStateQueue(states, { now }),
    noticeSeconds: 0,
    contents: () => entriesOf(states),
  }
}

async function bossQueue(): Promise<TestQueue> {
  const { url, clock, states, open } = await openBossDatabase()
  return {
    clock,
    queue: await open(),
    another: open,
    noticeSeconds: NOTICE_SECONDS + 1,
    async contents() {
      return [...(await query(url, 'SELECT * FROM mountglass_jobs.job ORDER BY id')), ...(await entriesOf(states))]
    },
  }
}

/** What the statements of a process go through. */
export type Through = (run: Database['run']) => Database['run']

const takeBossDatabase = keptDatabases(async url => {
  const [database, pool, clock] = [openDatabase(url), openBossPool(url), new TestClock(START)]
  const states = await openPostgresStateStore(database)
  const now = () => new Date(clock.now())
  const queue = await openBossQueue({ db: pool, states, clock: { now }, bossClock: clock, onWarning: fail })
  await queue.close()
  await pool.close()
  await states.close()
})

/** A database with a queue of pg-boss, whose time moves only when told. */
export async function openBossDatabase() {
  const { url, remove } = await takeBossDatabase()
  onTestFinished(remove)
  const time = new TestClock(START)
  const clock: TestQueue['clock'] = {
    now: () => new Date(time.now()),
    async advance(seconds) {
      await time.setTime(time.now() + seconds * 1000)
      await time.tick(0)
    },
  }

  async function openStates(through: Through): Promise<StateStore> {
    const database = openDatabase(url)
    onTestFinished(() => database.close())
    return openPostgresStateStore({ ...database, run: through(database.run), repeat: through(database.repeat) })
  }

  /** The queue as a process of its own sees it. */
  async function open(through: Through = run => run): Promise<JobQueue> {
    const pool = openBossPool(url)
    const db = { ...pool, executeSql: through(pool.executeSql) }
    const queue = await openBossQueue({ db, states: await openStates(through), clock, bossClock: time, onWarning: fail })
    onTestFinished(async () => {
      await queue.close()
      await pool.close()
    })
    return queue
  }

  return { url, clock, states: await openStates(run => run), open }
}

/** Connections that take the time of their statements from the clock of the test. */
function openBossPool(url: string) {
  let session: string[] = []
  const onConnect = async (client: pg.ClientBase) => {
    for (const statement of session) await client.query(statement)
  }
  const pool = new pg.Pool({ connectionString: url, max: 4, onConnect })
  pool.on('error', () => {})
  return {
    executeSql: (text: Statement, values?: unknown[]) => pool.query(text, values),
    async setSessionStatements(statements: string[]) {
      session = statements
      // At the start there is one connection already, that of the first look at the database.
      for (const statement of statements) await pool.query(statement)
    },
    close: () => pool.end(),
  }
}

function fail(problem: unknown): never {
  throw new Error(String(problem))
}

async function entriesOf(states: StateStore): Promise<unknown[]> {
  const keys = await states.list('')
  return Promise.all(keys.map(async key => ({ key, doc: await states.read(key) })))
}
