import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { InfraSettings } from '#infra/infra-settings.ts'
import { parseSharedInfraSettings } from '#infra/infra-settings.ts'
import { type Infra, openInfra } from '#infra/open.ts'
import { startFaultyProxy } from '../support/servers/faulty-proxy.ts'
import { createDatabase, query } from '../support/servers/postgres.ts'
import type { ServerName } from '../support/servers/servers.ts'
import type { AtEnd } from './program.ts'
import { type FaultShares, seededFaults } from './seeded-faults.ts'

/** Where a deployment keeps everything. */
export type PlaceKind = 'disk' | 's3' | 's3, bad line' | 'disk + postgres' | 's3 + postgres'

/** Which servers a place needs. */
export const SERVERS_OF: Readonly<Record<PlaceKind, readonly ServerName[]>> = {
  disk: [],
  s3: ['s3'],
  's3, bad line': ['s3'],
  'disk + postgres': ['postgres'],
  's3 + postgres': ['s3', 'postgres'],
}

/** A new place that any number of processes share. */
export interface Place {
  kind: PlaceKind
  /** Settings of every process. */
  env: Readonly<Record<string, string>>
  /** Its processes meet failures that are none of theirs. */
  isUnreliable: boolean
  /** As one more process sees it, to which nothing befalls. Closed at the end. */
  open(): Promise<Infra>
  /** What is damaged, as the database itself sees it; empty: nothing. */
  findDamage(): Promise<string[]>
}

/** Settings that use a server. It is started when it is asked for. */
export type Servers = (name: ServerName) => Promise<Readonly<Record<string, string>>>

/** What a program has to bear. */
export const BAD_LINE: FaultShares = { errors: 0.1, lostAnswers: 0.05, delays: 0.2 }

/** After so long without a word the job of a worker is another's: the least that the settings take. */
export const LEASE_SECONDS = 2

/** @param seed of what befalls requests on a bad line */
export async function makePlace(kind: PlaceKind, servers: Servers, atEnd: AtEnd, seed = 0): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'mountglass-soak-'))
  atEnd(() => rm(folder, { recursive: true, force: true }))
  const repositories = join(folder, 'repositories')
  await mkdir(repositories)
  const store = join(folder, 'store')
  const damages: (() => Promise<string[]>)[] = []
  const env: Record<string, string> = {
    MOUNTGLASS_LEASE_SECONDS: String(LEASE_SECONDS),
    MOUNTGLASS_LOCAL_REPOSITORIES: repositories,
    MOUNTGLASS_GITHUB: 'off',
    MOUNTGLASS_STORE: `disk:${store}`,
  }
  if (SERVERS_OF[kind].includes('s3')) {
    const s3 = await servers('s3')
    Object.assign(env, s3, { MOUNTGLASS_STORE: `${s3.MOUNTGLASS_STORE}/${randomUUID()}` })
  }
  const direct = { ...env }
  if (kind === 's3, bad line') {
    const proxy = await startFaultyProxy(env.AWS_ENDPOINT_URL_S3 ?? '')
    atEnd(proxy.close)
    proxy.befall(seededFaults(seed, BAD_LINE))
    env.AWS_ENDPOINT_URL_S3 = proxy.url
  }
  if (SERVERS_OF[kind].includes('postgres')) {
    const { url, remove } = await createDatabase((await servers('postgres')).MOUNTGLASS_DATABASE)
    atEnd(remove)
    env.MOUNTGLASS_DATABASE = url
    direct.MOUNTGLASS_DATABASE = url
    damages.push(() => findPostgresDamage(url))
  }
  if (kind === 'disk') damages.push(async () => findSqliteDamage(join(store, 'documents.sqlite')))
  return {
    kind,
    env,
    isUnreliable: kind === 's3, bad line',
    async open() {
      const infra = await openInfra(settingsOf(direct))
      atEnd(() => infra.close())
      return infra
    },
    async findDamage() {
      return (await Promise.all(damages.map(find => find()))).flat()
    },
  }
}

/** The SDK would look for credentials in the environment of this process. */
function settingsOf(env: Readonly<Record<string, string>>): InfraSettings {
  const settings = parseSharedInfraSettings(env)
  if (settings.store.kind !== 's3') return settings
  const credentials = { accessKeyId: env.AWS_ACCESS_KEY_ID ?? '', secretAccessKey: env.AWS_SECRET_ACCESS_KEY ?? '' }
  return { ...settings, store: { ...settings.store, credentials } }
}

function findSqliteDamage(file: string): string[] {
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    const rows = database.prepare('PRAGMA integrity_check').all() as { integrity_check: string }[]
    return rows.map(row => row.integrity_check).filter(said => said !== 'ok')
  } finally {
    database.close()
  }
}

/** Looks through every table and index of ours, and whether each row is in the index. */
async function findPostgresDamage(url: string): Promise<string[]> {
  await query(url, 'CREATE EXTENSION IF NOT EXISTS amcheck')
  const tables = await query(
    url,
    `SELECT c.oid::regclass::text AS name, problem.msg FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace,
      LATERAL verify_heapam(c.oid) problem WHERE n.nspname LIKE 'mountglass%' AND c.relkind = 'r'`,
  )
  try {
    await query(
      url,
      `SELECT bt_index_check(c.oid, true) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_am am ON am.oid = c.relam
        WHERE n.nspname LIKE 'mountglass%' AND c.relkind = 'i' AND am.amname = 'btree'`,
    )
  } catch (error) {
    tables.push({ name: 'index', msg: (error as Error).message })
  }
  return tables.map(({ name, msg }) => `${name}: ${msg}`)
}
