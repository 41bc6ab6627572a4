import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

/** A PostgreSQL database: statements over a bounded number of connections. */
export interface Database {
  /**
   * Runs a statement at most once. Retries for a moment while the server cannot be reached.
   *
   * @throws LostAnswerError when the connection ended before the answer: the statement may have run
   * @throws the error of the server or of the network
   */
  run(statement: Statement, values?: unknown[]): Promise<Answer>

  /** Runs an idempotent statement. Retries also after a lost answer. @throws as `run` */
  repeat(statement: Statement, values?: unknown[]): Promise<Answer>

  /** Runs statements in one transaction. Retries as `run`. @throws as `run` */
  transaction<Result>(work: (run: Database['run']) => Promise<Result>): Promise<Result>

  /** Notifies the listeners of the channel, in every process. @throws as `run` */
  notify(channel: string): Promise<void>

  /** Listens on the channel, see `listenTo`. @returns what ends it */
  listen(channel: string, onNotified: () => void): () => Promise<void>

  /** Waits for running statements. Idempotent. */
  close(): Promise<void>
}

/** SQL text, or named text that each connection prepares once, which runs up to twice as fast. */
export type Statement = string | { name: string; text: string }

export interface Answer {
  // biome-ignore lint/suspicious/noExplicitAny: a row has the columns that its statement names
  rows: any[]
  /** Rows that the statement returned or changed. */
  rowCount: number | null
}

/** The connection ended between a statement and its answer. */
export class LostAnswerError extends Error {}

/** The statement did not run: there was no connection. */
class AbsenceError extends Error {}

/** By default a server accepts a hundred connections, shared by all processes of a fleet. */
const CONNECTIONS = 5
const CONNECT_MS = 5_000
/** The server aborts a statement after this time. */
const STATEMENT_MS = 10_000
/** The answer counts as lost after this time. */
const ANSWER_MS = 15_000
/** Delays before retries. They cover a restart of the server, which takes about a second, and no longer outage. */
const RETRY_DELAYS_MS = [50, 200, 750]
/** No retry once an attempt took this long. */
const PATIENCE_MS = 2_000

export interface DatabaseOptions {
  /** At most. */
  connections?: number | undefined
  /** How long a connection is waited for, and how long statements are tried again. For tests. */
  patienceMs?: number
}

/**
 * Opens a database; the first statement connects to it. No error contains the password.
 *
 * @param url `postgres://…`, as the settings accept it
 */
export function openDatabase(url: string, { connections = CONNECTIONS, patienceMs }: DatabaseOptions = {}): Database {
  const database = new PooledDatabase(openPool(url, connections, patienceMs ?? CONNECT_MS), patienceMs ?? PATIENCE_MS)
  return {
    run: (statement, values) => database.run(statement, values),
    repeat: (statement, values) => database.repeat(statement, values),
    transaction: work => database.transaction(work),
    notify: async channel => void (await database.repeat('SELECT pg_notify($1, $2)', [channel, ''])),
    listen: (channel, onNotified) => listenTo(url, channel, onNotified),
    close: () => database.close(),
  }
}

function openPool(url: string, connections: number, connectMs: number): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'mountglass',
    max: connections,
    connectionTimeoutMillis: connectMs,
    idleTimeoutMillis: 30_000,
    query_timeout: ANSWER_MS,
    keepAlive: true,
    // Not a parameter of the connection: poolers refuse those that they do not know.
    onConnect: async client => void (await client.query(`SET statement_timeout = ${STATEMENT_MS}`)),
  })
  // An idle connection ended. The pool drops it, and the next statement reports an unreachable server.
  pool.on('error', () => {})
  // A busy connection ended: its statement fails. The end may arrive with the connection itself, before any caller could listen.
  pool.on('connect', client => client.on('error', () => {}))
  return pool
}

class PooledDatabase implements Omit<Database, 'notify' | 'listen'> {
  readonly #pool: pg.Pool
  readonly #patienceMs: number
  #closed: Promise<void> | null = null

  constructor(pool: pg.Pool, patienceMs: number) {
    this.#pool = pool
    this.#patienceMs = patienceMs
  }

  run(statement: Statement, values?: unknown[]): Promise<Answer> {
    return retry(() => this.#runOnce(statement, values), isNotRun, this.#patienceMs)
  }

  repeat(statement: Statement, values?: unknown[]): Promise<Answer> {
    const isRetryable = (error: unknown) => isNotRun(error) || error instanceof LostAnswerError
    return retry(() => this.#runOnce(statement, values), isRetryable, this.#patienceMs)
  }

  transaction<Result>(work: (run: Database['run']) => Promise<Result>): Promise<Result> {
    return retry(() => this.#connected(client => inTransaction(client, work)), isNotRun, this.#patienceMs)
  }

  close(): Promise<void> {
    this.#closed ??= this.#pool.end()
    return this.#closed
  }

  #runOnce(statement: Statement, values: unknown[] | undefined): Promise<Answer> {
    return this.#connected(client => ask(client, statement, values))
  }

  async #connected<Result>(work: (client: pg.PoolClient) => Promise<Result>): Promise<Result> {
    if (this.#closed) throw new Error('the database is closed')
    const client = await this.#pool.connect().catch(error => {
      throw isAbsence(error) ? new AbsenceError('the database cannot be reached', { cause: error }) : error
    })
    let failure: Error | undefined
    try {
      return await work(client)
    } catch (error) {
      failure = error as Error
      throw error
    } finally {
      // With an error, the pool discards the connection: it may be in the middle of a statement.
      client.release(failure)
    }
  }
}

async function inTransaction<Result>(client: pg.PoolClient, work: (run: Database['run']) => Promise<Result>): Promise<Result> {
  await ask(client, 'BEGIN')
  const result = await work((statement, values) => ask(client, statement, values))
  await ask(client, 'COMMIT')
  return result
}

/** The message of an error, in one line, for an operator. */
export function problemOf(error: unknown): string {
  if (error instanceof AbsenceError) return problemOf(error.cause)
  // A host name with several addresses, each of which was tried.
  if (error instanceof AggregateError && error.errors.length > 0) return problemOf(error.errors[0])
  const { message } = error as Error
  return message.split('\n')[0] || 'it cannot be reached'
}

async function ask(client: pg.PoolClient, statement: Statement, values?: unknown[]): Promise<Answer> {
  try {
    return await (typeof statement === 'string'
      ? client.query(statement, values)
      : client.query({ ...statement, values: values ?? [] }))
  } catch (error) {
    // An error of the server is an answer, unless it says that the connection ends.
    if (error instanceof pg.DatabaseError && !isEnd(error)) throw error
    throw new LostAnswerError('the database ended the connection before it answered', { cause: error })
  }
}

async function retry<Result>(
  attempt: () => Promise<Result>,
  isRetryable: (error: unknown) => boolean,
  patienceMs: number,
): Promise<Result> {
  const startedAt = performance.now()
  for (const delayMs of RETRY_DELAYS_MS) {
    try {
      return await attempt()
    } catch (error) {
      if (!isRetryable(error) || performance.now() - startedAt > patienceMs) throw error
    }
    await sleep(delayMs)
  }
  return attempt()
}

function isNotRun(error: unknown): boolean {
  return error instanceof AbsenceError
}

/** Whether a later connection may succeed: the server starts, stops, has no free connection, or does not answer. */
function isAbsence(error: unknown): boolean {
  return !(error instanceof pg.DatabaseError) || isEnd(error) || error.code === TOO_MANY_CONNECTIONS
}

const TOO_MANY_CONNECTIONS = '53300'

/** Whether the error ends the connection: SQLSTATE 57P.. (operator intervention) and class 08 (connection exception). */
function isEnd({ code = '' }: pg.DatabaseError): boolean {
  return code.startsWith('57P') || code.startsWith('08')
}

/** Delays before the connection is opened again. */
const RETRY_MS = { first: 1_000, max: 30_000 }

/**
 * Listens on a channel of a database, on a connection of its own that is opened again whenever it ends. Notifications sent meanwhile are lost, so
 * callers also poll. A proxy that shares connections between clients, such as PgBouncer by transaction, delivers nothing.
 *
 * @returns what ends it
 */
function listenTo(url: string, channel: string, onNotified: () => void): () => Promise<void> {
  let client: pg.Client | null = null
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  let delayMs = RETRY_MS.first

  async function open(): Promise<void> {
    const opened = new pg.Client({
      connectionString: url,
      application_name: 'mountglass, listening',
      connectionTimeoutMillis: CONNECT_MS,
      keepAlive: true,
    })
    client = opened
    opened.on('error', () => {})
    opened.once('end', again)
    opened.on('notification', onNotified)
    try {
      await opened.connect()
      await opened.query(`LISTEN ${opened.escapeIdentifier(channel)}`)
      delayMs = RETRY_MS.first
      // What was notified while there was no connection.
      onNotified()
    } catch {
      await opened.end().catch(() => {})
      again()
    }
  }

  function again(): void {
    if (isClosed || timer !== undefined) return
    timer = setTimeout(() => {
      timer = undefined
      void open()
    }, delayMs)
    timer.unref()
    delayMs = Math.min(RETRY_MS.max, delayMs * 2)
  }

  void open()
  return async () => {
    isClosed = true
    clearTimeout(timer)
    await client?.end().catch(() => {})
  }
}
