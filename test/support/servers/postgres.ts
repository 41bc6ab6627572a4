import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { makeCluster, makePooler, waitUntilReady } from '../../../scripts/servers/postgres.mjs'
import { until } from '../until.ts'
import { testServer } from './servers.ts'

/** A database of a test: empty at first. */
export interface TestDatabase {
  url: string
  /** Removes it, whoever is still connected. */
  remove(): Promise<void>
}

/** @param serverUrl any database of the server; that of the run when left out */
export async function createDatabase(serverUrl?: string): Promise<TestDatabase> {
  const server = serverUrl ?? (await testServer('postgres')).MOUNTGLASS_DATABASE ?? ''
  const name = `test-${randomUUID()}`
  await query(server, `CREATE DATABASE "${name}"`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return {
    url: url.href,
    async remove() {
      await query(server, `DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`)
    },
  }
}

/** Rows of one statement, over a connection of its own. */
export async function query(url: string, sql: string, values?: unknown[]): Promise<pg.QueryResultRow[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql, values)).rows
  } finally {
    await client.end()
  }
}

/** A server of a test alone, which may end and come back. */
export interface OwnPostgres {
  /** Its maintenance database. */
  url: string
  /** Ends it `in order`, or at once, as if it had `crashed`. What it holds stays. */
  end(how: 'in order' | 'crashed'): Promise<void>
  /** Starts it again, at the same address. */
  start(): Promise<void>
  remove(): Promise<void>
}

/** @param settings in place of those that make it fast */
export async function startOwnPostgres(settings: Record<string, string> = {}): Promise<OwnPostgres> {
  const folder = await mkdtemp(join(tmpdir(), 'mountglass-postgres-'))
  const cluster = await makeCluster(folder, settings)
  let child: ChildProcess | null = null

  async function start(): Promise<void> {
    const [program, ...args] = cluster.command
    const started = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
    child = started
    let errors = ''
    started.stderr.setEncoding('utf8').on('data', text => (errors = (errors + text).slice(-4_000)))
    await waitUntilReady(cluster, () => {
      if (started.exitCode !== null || started.signalCode !== null) throw new Error(`PostgreSQL ended\n${errors}`)
    })
  }

  async function end(how: 'in order' | 'crashed'): Promise<void> {
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill(how === 'crashed' ? 'SIGQUIT' : 'SIGINT')
    await exited
  }

  await start()
  return {
    url: cluster.url,
    end,
    start,
    async remove() {
      await end('in order')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export type PoolMode = 'session' | 'transaction' | 'statement'

/** PgBouncer before a database, as it comes but for the mode and `settings`. */
export async function startPooler(
  databaseUrl: string,
  mode: PoolMode,
  settings: Record<string, string | number> = {},
): Promise<{ url: string; stop(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'mountglass-pooler-'))
  const { url, command } = await makePooler(folder, databaseUrl, mode, settings)
  const [program, ...args] = command
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', text => (errors = (errors + text).slice(-4_000)))
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`PgBouncer ended\n${errors}`)
    return await query(url, 'SELECT 1').then(
      () => true,
      () => false,
    )
  })
  return {
    url,
    async stop() {
      const exited = once(child, 'exit')
      child.kill('SIGINT')
      child.kill('SIGTERM')
      await exited
      await rm(folder, { recursive: true, force: true })
    },
  }
}
