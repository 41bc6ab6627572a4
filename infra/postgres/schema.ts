import type { Database } from './database.ts'

/** A separate schema, so that the database may be shared. */
export const SCHEMA = 'mountglass'

/** One migration for each version. A released migration never changes. */
const STEPS = [
  // Collation "C" orders keys by their bytes. `earlier` has the latest etags before this one, the latest first.
  `CREATE TABLE ${SCHEMA}.doc (
    key text COLLATE "C" PRIMARY KEY, etag text NOT NULL, earlier text[] NOT NULL DEFAULT '{}', body text NOT NULL)`,
]

// Arbitrary: unlikely to be used by another program.
const LOCK = 4_820_613_097

/**
 * Creates the tables, or migrates those of an earlier version. Any number of processes may do this at once.
 *
 * @throws Error when a later version created them, or the encoding of the database is not UTF-8
 */
export async function prepareSchema(database: Database): Promise<void> {
  if ((await readVersion(database.repeat)) === STEPS.length) return
  await database.transaction(async run => {
    const { rows } = await run('SHOW server_encoding')
    if (rows[0].server_encoding !== 'UTF8')
      throw new Error(`its encoding is ${rows[0].server_encoding}; UTF8 is needed: create another database`)
    await run('SELECT pg_advisory_xact_lock($1)', [LOCK])
    const version = await readVersion(run)
    if (version > STEPS.length)
      throw new Error(`its tables have version ${version} and this program knows ${STEPS.length}: use a newer version of it`)
    if (version === 0) await createSchema(run)
    for (const step of STEPS.slice(version)) await run(step)
    await run(`UPDATE ${SCHEMA}.version SET version = $1`, [STEPS.length])
  })
}

// Names are looked up in the catalog: the session's cache of names may be older than the lock.

async function readVersion(run: Database['run']): Promise<number> {
  const isThere = await exists(run, "SELECT FROM pg_catalog.pg_tables WHERE schemaname = $1 AND tablename = 'version'")
  return isThere ? (await run(`SELECT version FROM ${SCHEMA}.version`)).rows[0].version : 0
}

async function createSchema(run: Database['run']): Promise<void> {
  // A role without the right to create schemas may still use an existing one.
  if (!(await exists(run, 'SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1'))) await run(`CREATE SCHEMA ${SCHEMA}`)
  await run(`CREATE TABLE ${SCHEMA}.version (version int NOT NULL)`)
  await run(`INSERT INTO ${SCHEMA}.version VALUES (0)`)
}

async function exists(run: Database['run'], sql: string): Promise<boolean> {
  return (await run(sql, [SCHEMA])).rowCount !== 0
}
