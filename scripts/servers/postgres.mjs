/** A real PostgreSQL server from Debian's package `postgresql`, and PgBouncer before it. It starts in half a second. */
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { chown, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { runQuietly } from '../setup/step.mjs'
import { freePort } from './free-port.mjs'

const USER = 'mountglass'
const ANSWER_MS = 30_000
/** Debian installs the server's programs outside the `PATH`, in one folder for each version. */
const VERSIONS = '/usr/lib/postgresql'
/** Debian's packages read this file while they install a server. */
const CLUSTER_SETTINGS = '/etc/postgresql-common/createcluster.d'

// Settings for speed: the data survives a crash of the server, not of the machine. Everything else is the default.
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  fsync: 'off',
  full_page_writes: 'off',
  shared_buffers: '32MB',
  max_connections: '200',
}

/** @type {import('./supervise.mjs').ServerKind} */
export const postgresServer = {
  programs: ['initdb', 'postgres', 'pg_isready', 'pgbouncer'],
  packages: ['postgresql', 'pgbouncer'],
  get folders() {
    return [...programFolders(), '/usr/sbin']
  },
  endSignal: 'SIGINT',
  prepareInstall,

  async start(folder, daemons) {
    const cluster = await makeCluster(folder)
    const [program, ...args] = cluster.command
    daemons.keep(program, args)
    await waitUntilReady(cluster, daemons.requireAlive)
    return { MOUNTGLASS_DATABASE: cluster.url }
  },
}

/**
 * @typedef {object} Cluster
 * @property {string} url of its maintenance database, with the password of the only user
 * @property {number} port
 * @property {[program: string, ...args: string[]]} command starts it, in the foreground
 */

/**
 * Creates an empty cluster that listens on a free loopback port.
 *
 * @param {string} folder an empty one
 * @param {Record<string, string>} more settings, in place of those that make it fast
 * @returns {Promise<Cluster>}
 */
export async function makeCluster(folder, more = {}) {
  const [as, port] = [await asUnprivileged(), await freePort()]
  const [data, passwordFile, password] = [join(folder, 'data'), join(folder, 'password'), randomBytes(12).toString('hex')]
  await mkdir(data, { mode: 0o700 })
  await writeFile(passwordFile, password, { mode: 0o600 })
  if (as) for (const path of [data, passwordFile]) await chown(path, as.uid, as.gid)
  // A locale that does not sort by bytes, so that code relying on byte order has to ask for it.
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=icu', '--icu-locale=en']
  const access = [`--username=${USER}`, '--auth=scram-sha-256', `--pwfile=${passwordFile}`]
  const [program, ...args] = [...command(as), programPath('initdb'), `--pgdata=${data}`, ...locale, ...access, '--no-sync']
  await runQuietly(program ?? '', args)
  const settings = Object.entries({ ...SETTINGS, port, ...more }).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  return {
    url: `postgres://${USER}:${password}@127.0.0.1:${port}/postgres`,
    port,
    command: [...command(as), programPath('postgres'), '-D', data, ...settings],
  }
}

/**
 * @param {Cluster} cluster
 * @param {() => void} requireAlive
 */
export async function waitUntilReady({ port }, requireAlive) {
  for (const deadline = Date.now() + ANSWER_MS; ; await sleep(10)) {
    requireAlive()
    try {
      await runQuietly(programPath('pg_isready'), ['--quiet', '--host=127.0.0.1', `--port=${port}`, '--timeout=1'])
      return
    } catch (cause) {
      if (Date.now() > deadline) throw new Error('PostgreSQL does not answer', { cause })
    }
  }
}

/**
 * Creates a pooler before one database, as PgBouncer comes but for the mode.
 *
 * @param {string} folder an empty one
 * @param {string} url of the database, with the password of its user
 * @param {string} mode `session`, `transaction` or `statement`
 * @param {Record<string, string | number>} more further settings
 * @returns {Promise<{ url: string, command: [program: string, ...args: string[]] }>} the database by way of the pooler, and what starts that
 */
export async function makePooler(folder, url, mode, more = {}) {
  const [as, port, target] = [await asUnprivileged(), await freePort(), new URL(url)]
  const file = join(folder, 'pgbouncer.ini')
  const place = `host=${target.hostname} port=${target.port} user=${target.username} password=${target.password}`
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'any',
    pool_mode: mode,
    ...more,
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`)
  await writeFile(file, ['[databases]', `* = ${place}`, '[pgbouncer]', ...lines, ''].join('\n'), { mode: 0o600 })
  if (as) await chown(file, as.uid, as.gid)
  target.port = String(port)
  return { url: target.href, command: [...command(as), '/usr/sbin/pgbouncer', '--quiet', file] }
}

/**
 * By default Debian's package creates a cluster and starts it at every boot. A configuration file prevents that during the installation; it
 * is removed afterwards, so that later installations behave as usual.
 */
async function prepareInstall() {
  const file = join(CLUSTER_SETTINGS, 'mountglass-tests.conf')
  await mkdir(CLUSTER_SETTINGS, { recursive: true })
  await writeFile(file, 'create_main_cluster = false\n')
  return () => rm(file, { force: true })
}

/** The newest version first. */
function programFolders() {
  if (!existsSync(VERSIONS)) return []
  const versions = readdirSync(VERSIONS).sort((a, b) => Number(b) - Number(a))
  return versions.map(version => join(VERSIONS, version, 'bin'))
}

/** @param {string} name */
function programPath(name) {
  return (
    programFolders()
      .map(folder => join(folder, name))
      .find(existsSync) ?? name
  )
}

/** PostgreSQL refuses to run as root. */
async function asUnprivileged() {
  if (process.getuid?.() !== 0) return null
  /** @param {string} kind */
  const idOf = async kind => Number(await runQuietly('id', [kind, 'postgres']))
  return { uid: await idOf('-u'), gid: await idOf('-g') }
}

/**
 * The command prefix that starts a program as a child that is killed with its parent; as another user than root, with access to the folder.
 *
 * @param {{ uid: number, gid: number } | null} as
 * @returns {[program: string, ...args: string[]]}
 */
function command(as) {
  const reach = ['--inh-caps', '+dac_override', '--ambient-caps', '+dac_override']
  const who = as ? [`--reuid=${as.uid}`, `--regid=${as.gid}`, '--clear-groups', ...reach] : []
  return ['setpriv', ...who, '--pdeathsig', 'INT']
}
