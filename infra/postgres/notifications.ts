import pg from 'pg'

/** Delays before the connection is opened again. */
const RETRY_MS = { first: 1_000, max: 30_000 }
const CONNECT_MS = 5_000

/**
 * Listens on a channel of a database, on a connection of its own that is opened again whenever it ends. Notifications sent meanwhile are lost, so
 * callers also poll. A proxy that shares connections between clients, such as PgBouncer by transaction, delivers nothing.
 *
 * @returns what ends it
 */
export function listenTo(url: string, channel: string, onNotified: () => void): () => Promise<void> {
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
