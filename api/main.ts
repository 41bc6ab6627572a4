import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'
import { createOwnerListings } from '#core/owner-listings.ts'
import { SettingsError } from '#core/settings.ts'
import { parseInfraSettings } from '#infra/config.ts'
import { type Infra, openInfra } from '#infra/open.ts'
import { createApiClient } from '#site/lib/api-client.ts'
import { injectTransport, sitePlugin } from '#site/server.ts'
import { buildApp, type SitePlugin } from './app.ts'
import { parseSettings, type Settings } from './config.ts'
import type { Deps } from './deps.ts'
import { startIndexerProcess } from './indexer-process.ts'
import { deriveKeys, formatNewKeys, parseSealingKeys } from './keys.ts'
import { type OperatorContent, REFERENCE_REPOSITORY } from './operator/content.ts'
import { readOperatorFolder } from './operator/read-folder.ts'
import { rememberListings } from './owners/keep-listed.ts'
import { createSnapshotReader } from './reading/snapshot-reader.ts'

const INDEXER = fileURLToPath(new URL('../indexer/main.ts', import.meta.url))
const INDEXER_HEAP_MEGABYTES = 1024
const PAGES = fileURLToPath(new URL('../dist/server/entry.mjs', import.meta.url))
const STOP_MILLISECONDS = 10_000
/** What of the stopping time requests and the job under way may take. The job is then left to another worker. */
const GRACE_MILLISECONDS = 5_000

/**
 * Serves the API and the pages, and indexes beside them, until the process is told to stop. Resolves once it listens.
 * What stops the start is said in one line, and the process ends with exit code 1.
 */
export async function serve(env: NodeJS.ProcessEnv): Promise<void> {
  try {
    await start(withQuietTerminal(await withPort(env)))
  } catch (error) {
    if (!(error instanceof StartError || error instanceof SettingsError)) throw error
    process.stderr.write(`mountglass: ${error.message}\n`)
    process.exitCode = 1
  }
}

/** The start cannot go on, for a reason that one line tells. */
class StartError extends Error {}

async function start(env: NodeJS.ProcessEnv): Promise<void> {
  const settings = parseSettings(env)
  const infraSettings = parseInfraSettings(env)
  const { baseUrl } = infraSettings
  const operator = await readOperatorFolder(settings.operator, baseUrl)
  const infra = await openInfra(infraSettings)
  let indexer: Indexer = NO_INDEXER
  const deps = await assembleDeps(settings, infra, operator, () => indexer.wake())
  const logger = { level: settings.logLevel, stream: process.stderr }
  const app = await buildApp(deps, { baseUrl, logger }, existsSync(PAGES) ? pages(deps, baseUrl) : undefined)
  process.on('uncaughtExceptionMonitor', (error, origin) => app.log.fatal({ err: error, origin }, 'crashed'))
  stopOnSignal(app, async () => {
    await Promise.all([closeInTime(app), indexer.stop()])
    await infra.close()
  })

  try {
    await app.listen({ host: settings.host, port: settings.port })
  } catch (error) {
    await app.close()
    await infra.close()
    throw toStartError(error, settings)
  }
  if (settings.indexer === 'inline') {
    // What `memory:` holds is seen by this process alone.
    indexer = infraSettings.store.kind === 'memory' ? await indexHere(app, infra) : indexBeside(app, env)
  }
  const address = infra.local && infraSettings.localRepositories === null ? REFERENCE_REPOSITORY : ''
  process.stdout.write(announcement(baseUrl, address, existsSync(PAGES)))
}

async function assembleDeps(settings: Settings, infra: Infra, operator: OperatorContent, onOffered: () => void): Promise<Deps> {
  const { blobs, docs, queue, hosts, local, clock, random } = infra
  const keys = settings.keys ?? parseSealingKeys(await infra.secret('keys', () => formatNewKeys('1', random.bytes(32))))
  if (keys === null)
    throw new StartError('the kept sealing keys are damaged: remove the file secrets/keys of the store to have new ones made')
  return {
    hosts,
    snapshots: createSnapshotReader(blobs),
    queue,
    listings: rememberListings(createOwnerListings(docs)),
    operator,
    clock,
    cursorKeys: deriveKeys(keys, 'cursor'),
    allow: settings.allow,
    deny: settings.deny,
    onOffered,
    readRawFile: async (repository, commit, path) => local?.readRawFile(repository, commit, path) ?? null,
    async probeStore() {
      await Promise.all([blobs.list('probe/', { limit: 1 }), docs.read('probe')])
    },
  }
}

/** The pages read through the API of the same process. */
function pages(deps: Deps, baseUrl: string): SitePlugin {
  return async instance => {
    const client = createApiClient(injectTransport(instance))
    await instance.register(sitePlugin, { client, baseUrl, hosts: deps.hosts.map(host => host.segment) })
  }
}

interface Indexer {
  wake(): void
  stop(): Promise<void>
}

const NO_INDEXER: Indexer = { wake() {}, async stop() {} }

function indexBeside(app: FastifyInstance, env: NodeJS.ProcessEnv): Indexer {
  const child = startIndexerProcess({
    module: INDEXER,
    env,
    heapMegabytes: INDEXER_HEAP_MEGABYTES,
    onExit: exit => app.log.error(exit, 'the indexer ended; it is started again'),
  })
  return { wake: child.wake, stop: () => child.stop(GRACE_MILLISECONDS) }
}

async function indexHere(app: FastifyInstance, infra: Infra): Promise<Indexer> {
  const { startWorker } = await import('#indexer/main.ts')
  const stopping = new AbortController()
  const worker = startWorker({ ...infra, log: app.log }, stopping.signal)
  return {
    wake: worker.wake,
    async stop() {
      stopping.abort()
      await worker.stopped
    },
  }
}

/** Lets requests under way end, and drops those that take too long: some clients never finish what they send. */
async function closeInTime(app: FastifyInstance): Promise<void> {
  const drop = setTimeout(() => app.server.closeAllConnections(), GRACE_MILLISECONDS)
  await app.close()
  clearTimeout(drop)
}

function stopOnSignal(app: FastifyInstance, stop: () => Promise<void>): void {
  let stopping = false
  const onSignal = (signal: NodeJS.Signals) => {
    // Whoever asks twice does not want to wait.
    if (stopping) process.exit(1)
    stopping = true
    app.log.info({ signal }, 'stopping')
    setTimeout(() => process.exit(1), STOP_MILLISECONDS).unref()
    stop().then(
      () => process.exit(0),
      error => {
        app.log.error({ err: error }, 'could not stop in order')
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
}

function announcement(baseUrl: string, address: string, withPages: boolean): string {
  if (!withPages)
    return `Mountglass answers at ${baseUrl}/api/v1${address && `/mounts${address}`} (the pages are not built: npm run build)\n`
  return `Mountglass answers at ${baseUrl}/\n${address && `  an address to begin with: ${baseUrl}${address}\n`}`
}

function toStartError(error: unknown, { host, port }: Pick<Settings, 'host' | 'port'>): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE')
    return new StartError(`cannot listen on ${host}:${port}: something listens there already; set PORT to another port`)
  if (code === 'EACCES')
    return new StartError(`cannot listen on ${host}:${port}: the system does not permit it; set PORT to another port`)
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new StartError(`cannot listen on ${host}:${port}: this machine has no such address; set HOST`)
  return error
}

/** At a terminal the printed address should stay in sight, so only what is wrong is logged there unless a level is asked for. */
function withQuietTerminal(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return process.stderr.isTTY && !env.MOUNTGLASS_LOG ? { ...env, MOUNTGLASS_LOG: 'warn' } : env
}

/** With `PORT=0` any free port is taken. It is looked for first because links to this process hold it. */
async function withPort(env: NodeJS.ProcessEnv): Promise<NodeJS.ProcessEnv> {
  const { host, port } = parseSettings(env)
  return port === 0 ? { ...env, PORT: String(await findFreePort(host)) } : env
}

function findFreePort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', error => reject(toStartError(error, { host, port: 0 })))
    server.listen(0, host, () => {
      const address = server.address()
      server.close(() => resolve(address !== null && typeof address === 'object' ? address.port : 0))
    })
  })
}
