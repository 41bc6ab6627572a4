import pg from 'pg'
import { createDatabase, type TestDatabase } from './postgres.ts'

/** A copy of every row that the tables began with. */
const KEPT = 'kept'

/** Statements, with names as PostgreSQL quotes them, for each table of the stores. */
const STATEMENTS = `
  SELECT format('CREATE TABLE ${KEPT}.%I AS TABLE %s', oid::text, oid::regclass) AS keep,
         format('DELETE FROM %s', oid::regclass) AS empty,
         format('INSERT INTO %s SELECT * FROM ${KEPT}.%I', oid::regclass, oid::text) AS fill
  FROM pg_class WHERE relkind = 'r' AND relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname LIKE 'mountglass%')`

/** Whoever is still connected must not write any more. */
const DISCONNECT_OTHERS = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`

/**
 * Databases for tests whose stores are to find their tables, as at any later start of a service: to make a database with tables takes longer than
 * most tests. The tests of a process have the same ones, one after another, and each finds the rows that `prepare` left.
 *
 * @param prepare has the stores make their tables
 */
export function keptDatabases(prepare: (url: string) => Promise<void>): () => Promise<TestDatabase> {
  const free: TestDatabase[] = []

  async function make(): Promise<TestDatabase> {
    const { url } = await createDatabase()
    await prepare(url)
    const tables = await withClient(url, async client => {
      const { rows } = await client.query(STATEMENTS)
      await client.query([`CREATE SCHEMA ${KEPT}`, ...rows.map(({ keep }) => keep)].join(';'))
      return rows
    })
    // In any order: keys of other tables are not looked at.
    const restore = [...tables.map(({ empty }) => empty), ...tables.map(({ fill }) => fill)]
    const statements = ['SET session_replication_role = replica', DISCONNECT_OTHERS, ...restore].join(';')
    const database: TestDatabase = {
      url,
      async remove() {
        await withClient(url, client => client.query(statements))
        free.push(database)
      },
    }
    return database
  }

  return async () => free.pop() ?? (await make())
}

async function withClient<Result>(url: string, use: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await use(client)
  } finally {
    await client.end()
  }
}
