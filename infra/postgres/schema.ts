import type { Database } from './database.ts'

/** A schema of its own, so that a database may be shared. */
export const SCHEMA = 'mountglass'

/** One step for each version. What was released is never changed: a change is another step. */
const STEPS = [
  // Keys are in the order of their bytes. `earlier` has the etags before this one, the last first, as far as they are kept.
  `CREATE TABLE ${SCHEMA}.doc (
    key text COLLATE "C" PRIMARY KEY, etag text NOT NULL, earlier text[] NOT NULL DEFAULT '{}', body text NOT NULL)`,
]

// Any number that nobody else is likely to lock.
const LOCK = 4_820_613_097

/**
 * Makes the tables, or brings those of an earlier version up to date. Any number of processes may do this at once.
 *
 * @throws Error when a later version made them, or the database cannot hold every character
 */
export async function prepareSchema(database: Database): Promise<void> {
  if ((await readVersion(database.repeat)) === STEPS.length) return
  await database.transaction(async run => {
    const { rows } = await run('SHOW server_encoding')
    if (rows[0].server_encoding !== 'UTF8') throw new Error(`its encoding is ${rows[0].server_encoding}; UTF8 is needed`)
    await run('SELECT pg_advisory_xact_lock($1)', [LOCK])
    const version = await readVersion(run)
    if (version > STEPS.length) throw new Error(`its documents are of a later version of this program: ${version}`)
    if (version === 0) await createSchema(run)
    for (const step of STEPS.slice(version)) await run(step)
    await run(`UPDATE ${SCHEMA}.version SET version = $1`, [STEPS.length])
  })
}

// Names are looked up in the catalog itself: what a session remembers of them may be older than the lock that it has just been given.

async function readVersion(run: Database['run']): Promise<number> {
  const isThere = await exists(run, "SELECT FROM pg_catalog.pg_tables WHERE schemaname = $1 AND tablename = 'version'")
  return isThere ? (await run(`SELECT version FROM ${SCHEMA}.version`)).rows[0].version : 0
}

async function createSchema(run: Database['run']): Promise<void> {
  // Who may not create a schema can still be given one.
  if (!(await exists(run, 'SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1'))) await run(`CREATE SCHEMA ${SCHEMA}`)
  await run(`CREATE TABLE ${SCHEMA}.version (version int NOT NULL)`)
  await run(`INSERT INTO ${SCHEMA}.version VALUES (0)`)
}

async function exists(run: Database['run'], sql: string): Promise<boolean> {
  return (await run(sql, [SCHEMA])).rowCount !== 0
}
