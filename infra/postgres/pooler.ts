import pg from 'pg'

/**
 * The clients that ask, in order. A pooler gives a client the connection that became free last: then the second client gets that of the first. Or
 * it takes turns: then the first client gets another one. The order repeats, because other clients may ask in between.
 */
const ORDER = ['first', 'second', 'first', 'first', 'second', 'first', 'first', 'second'] as const
const ANSWER_MS = 5_000

/**
 * Whether a connection pooler gives one connection of the server to several of its clients in turn, as PgBouncer does by transaction and by
 * statement. Prepared statements, settings and notifications then reach the wrong client.
 *
 * @returns `false` when the server does not answer, or the URL names a file that cannot be read: the first statement fails with the reason
 */
export async function sharesConnections(url: string): Promise<boolean> {
  const opened: pg.Client[] = []
  const open = () => {
    const client = openClient(url)
    opened.push(client)
    return client
  }
  try {
    const clients = { first: open(), second: open() }
    const { first, second } = clients
    await first.connect()
    const server = await serverOf(first)
    // A pooler tells its clients numbers of its own.
    if ((first as unknown as { processID: number }).processID === server) return false
    await second.connect()
    for (const name of ORDER) if (((await serverOf(clients[name])) === server) !== (name === 'first')) return true
    return false
  } catch {
    // A pooler by session has no connection to spare for the second client.
    return false
  } finally {
    await Promise.allSettled(opened.map(client => client.end()))
  }
}

/** @throws Error when the URL names a certificate that cannot be read */
function openClient(url: string): pg.Client {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'mountglass, starting',
    connectionTimeoutMillis: ANSWER_MS,
    query_timeout: ANSWER_MS,
  })
  client.on('error', () => {})
  return client
}

/** The process of the server that answers. */
async function serverOf(client: pg.Client): Promise<number> {
  return (await client.query('SELECT pg_backend_pid() AS pid')).rows[0].pid
}
