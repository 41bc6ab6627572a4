import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

/** A database of PostgreSQL: statements over a bounded number of connections. */
export interface Database {
  /**
   * Runs a statement at most once. While the server is away it is asked again for a moment.
   *
   * @throws LostAnswerError when the connection ended before the answer came: nobody knows whether the statement was run
   * @throws whatever the server or the network says
   */
  run(statement: Statement, values?: unknown[]): Promise<Answer>

  /** The same for a statement that does no harm when it is run twice: it is run again after a lost answer as well. */
  repeat(statement: Statement, values?: unknown[]): Promise<Answer>

  /** Statements of which all are kept, or none. */
  transaction<Result>(work: (run: Database['run']) => Promise<Result>): Promise<Result>

  /** Lets end what is running. Closing twice is no error. */
  close(): Promise<void>
}

/** Its text, or one that the server prepares once for each connection: it runs up to twice as fast under its name. */
export type Statement = string | { name: string; text: string }

export interface Answer {
  // biome-ignore lint/suspicious/noExplicitAny: a row has the columns that its statement names
  rows: any[]
  /** How many rows a statement gave, or changed. */
  rowCount: number | null
}

/** The connection ended between a statement and its answer. */
export class LostAnswerError extends Error {}

/** The statement was not run: there was no connection to run it over. */
class AbsenceError extends Error {}

/** A server of PostgreSQL has a hundred unless told otherwise, for all processes of a fleet. */
const CONNECTIONS = 5
const CONNECT_MS = 5_000
/** The server ends what runs longer. */
const STATEMENT_MS = 10_000
/** A network may lose an answer without a word. */
const ANSWER_MS = 15_000
/** Rests between tries. A restart of the server takes about a second; nobody is kept waiting for a longer absence. */
const REST_MS = [50, 200, 750]
/** Who waited this long for one try makes no other. */
const PATIENCE_MS = 2_000

/**
 * Opens a database; the first statement connects to it. No error of it tells the password.
 *
 * @param url `postgres://…`, as the settings accept it
 * @param connections at most
 */
export function openDatabase(url: string, connections: number = CONNECTIONS): Database {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'mountglass',
    max: connections,
    connectionTimeoutMillis: CONNECT_MS,
    idleTimeoutMillis: 30_000,
    statement_timeout: STATEMENT_MS,
    query_timeout: ANSWER_MS,
    keepAlive: true,
  })
  // A connection ended that nobody used. The pool forgets it, and whoever asks next is told if the server is away.
  pool.on('error', () => {})
  let closed: Promise<void> | null = null

  async function connected<Result>(work: (client: pg.PoolClient) => Promise<Result>): Promise<Result> {
    if (closed) throw new Error('the database is closed')
    const client = await pool.connect().catch(error => {
      throw isAbsence(error) ? new AbsenceError('the database cannot be reached', { cause: error }) : error
    })
    // The end of a connection is told to the statement that waits for its answer; without a listener it would also end the process.
    const ignore = () => {}
    client.on('error', ignore)
    let failure: Error | undefined
    try {
      return await work(client)
    } catch (error) {
      failure = error as Error
      throw error
    } finally {
      client.off('error', ignore)
      // After an error the connection may be in the middle of something: another one is made in its place.
      client.release(failure)
    }
  }

  const runOnce = (statement: Statement, values?: unknown[]) => connected(client => ask(client, statement, values))

  return {
    run: (statement, values) => tryAgain(() => runOnce(statement, values), isNotRun),

    repeat: (statement, values) =>
      tryAgain(
        () => runOnce(statement, values),
        error => isNotRun(error) || error instanceof LostAnswerError,
      ),

    transaction: work =>
      tryAgain(
        () =>
          connected(async client => {
            await ask(client, 'BEGIN')
            const result = await work((statement, values) => ask(client, statement, values))
            await ask(client, 'COMMIT')
            return result
          }),
        isNotRun,
      ),

    close() {
      closed ??= pool.end()
      return closed
    },
  }
}

/** What a failure says to a reader, in one line. */
export function problemOf(error: unknown): string {
  if (error instanceof AbsenceError) return problemOf(error.cause)
  // Of a name with several addresses, each of which was tried.
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
    // What the server says of a statement is an answer, but not that it ends.
    if (error instanceof pg.DatabaseError && !isEnd(error)) throw error
    throw new LostAnswerError('the database ended the connection before it answered', { cause: error })
  }
}

async function tryAgain<Result>(attempt: () => Promise<Result>, isWorthwhile: (error: unknown) => boolean): Promise<Result> {
  const startedAt = performance.now()
  for (const restMs of REST_MS) {
    try {
      return await attempt()
    } catch (error) {
      if (!isWorthwhile(error) || performance.now() - startedAt > PATIENCE_MS) throw error
    }
    await sleep(restMs)
  }
  return attempt()
}

function isNotRun(error: unknown): boolean {
  return error instanceof AbsenceError
}

/** Whether who failed to connect may be luckier later: the server starts, stops, is full, or does not answer at all. */
function isAbsence(error: unknown): boolean {
  return !(error instanceof pg.DatabaseError) || isEnd(error) || error.code === TOO_MANY_CONNECTIONS
}

const TOO_MANY_CONNECTIONS = '53300'

/** "Operator intervention", as far as it ends connections, and "connection exception". */
function isEnd({ code = '' }: pg.DatabaseError): boolean {
  return code.startsWith('57P') || code.startsWith('08')
}
