import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'
import { type Logger, pino } from 'pino'
import { buildApp, type SitePlugin } from '#api/app.ts'
import { rememberListings } from '#api/cards/list-on-visit.ts'
import type { Deps } from '#api/deps.ts'
import { listedRepositories } from '#api/front/search.ts'
import { clientNetwork } from '#api/http/admit.ts'
import { skillTextOf } from '#api/mcp/sent-text.ts'
import { requestRepair } from '#api/mount/request-indexing.ts'
import { type OperatorContent, REFERENCE_REPOSITORY } from '#api/operator/operator-content.ts'
import { fixedSource, type OperatorSource, publishedSource } from '#api/operator/published.ts'
import { readOperatorFolder } from '#api/operator/read-folder.ts'
import { createLogRedaction } from '#api/people/log-redaction.ts'
import { pagePeople } from '#api/people/page-people.ts'
import { deriveKeys } from '#api/purpose-keys.ts'
import { pageSkills } from '#api/reading/page-skills.ts'
import { pageVersions } from '#api/reading/page-versions.ts'
import { createHiddenNotes } from '#api/snapshot/hidden-notes.ts'
import { createSnapshotReader } from '#api/snapshot/snapshot-reader.ts'
import { closeAndThrow } from '#core/concurrency/timeout.ts'
import { createDamageReports } from '#core/damage-reports.ts'
import { JOBS_AT_ONCE } from '#core/limits.ts'
import { createOwnerListings } from '#core/owner-listings.ts'
import { createFallbacks, type FallbackLog, type Fallbacks } from '#core/ports/fallbacks.ts'
import type { HostAnswer, HostRepository } from '#core/ports/git-host.ts'
import type { IndexJob } from '#core/ports/job-queue.ts'
import type { Metrics } from '#core/ports/metrics.ts'
import { type ListenAddress, originAt, unknownSettings } from '#core/settings.ts'
import { createJobProcesses } from '#indexer/jobs/job-processes.ts'
import { startWorker } from '#indexer/jobs/worker.ts'
import { parseWorkerSettings, WORKER_SETTINGS, type WorkerSettings } from '#indexer/jobs/worker-settings.ts'
import { INFRA_SETTINGS, type InfraSettings, parseInfraSettings } from '#infra/infra-settings.ts'
import { listenForMonitoring, type MonitoringListener } from '#infra/monitoring/listener.ts'
import { createPrometheusMetrics, type PrometheusMetrics } from '#infra/monitoring/prometheus.ts'
import { createReadiness } from '#infra/monitoring/readiness.ts'
import { type Infra, openInfra } from '#infra/open.ts'
import { stopOnSignal } from '#infra/system/stop-signal.ts'
import { openWebDocuments } from '#infra/web-documents.ts'
import { createApiClient } from '#site/lib/api-client.ts'
import { docsPages, injectTransport, sitePlugin } from '#site/server.ts'
import { scrubbedLog } from '#words/scrubbed.ts'
import { SentenceError } from '#words/sentence.ts'
import { t } from '#words/t.ts'
import { announcement, type LocalAddresses, openAddresses } from './announcement.ts'
import { type DeploymentContext, deploymentKeys, deploymentOAuth, deploymentPeople, startKeepAlive } from './deployment-people.ts'
import { findPicturePrograms } from './picture-programs.ts'
import { createInProcessRunner, JOB_PROGRAM } from './runners.ts'
import { READER_SETTINGS } from './service.ts'
import { parseSettings, SERVICE_SETTINGS, type Settings } from './service-settings.ts'
import { statusPages } from './status.ts'

const PAGES = fileURLToPath(new URL('../dist/server/entry.mjs', import.meta.url))
/** What is published is served after this time at the latest. */
const OPERATOR_MILLISECONDS = 20_000
const STOP_MILLISECONDS = 10_000
/** The part of the stopping time that running requests may take. */
const GRACE_MILLISECONDS = 5_000

/**
 * Serves the API and the pages, and indexes beside them, until a stop signal. Resolves once it listens.
 *
 * @throws SentenceError for what the operator has to change, with whatever was opened closed again
 */
export async function serve(given: NodeJS.ProcessEnv): Promise<void> {
  const env = withQuietTerminal(await withPort(given))
  const settings = parseSettings(env)
  const infraSettings = parseInfraSettings(env)
  const workerSettings = parseWorkerSettings(env)
  for (const said of settingsToReconsider(env, settings)) process.stderr.write(`mountglass: ${said}\n`)
  const folder = settings.operator === null ? null : await readOperatorFolder(settings.operator, infraSettings.baseUrl)
  const metrics = createPrometheusMetrics()
  // Before all that may have something to log.
  const log = pino({ level: settings.logLevel }, scrubbedLog(process.stderr))
  const infra = await openInfra(infraSettings, metrics, ({ owner, name }, reason) =>
    log.warn({ repository: `local/${owner}/${name}` }, `not served: ${reason}`),
  )
  try {
    await serveFrom(infra, { env, settings, infraSettings, workerSettings, folder, metrics, log })
  } catch (error) {
    await closeAndThrow(error, infra.close)
  }
}

/** What `serve` read before it opened the outside world. */
interface Start {
  env: NodeJS.ProcessEnv
  settings: Settings
  infraSettings: InfraSettings
  workerSettings: WorkerSettings
  /** Content of the operator's folder; `null` without one. */
  folder: OperatorContent | null
  metrics: PrometheusMetrics
  log: Logger
}

async function serveFrom(infra: Infra, start: Start): Promise<void> {
  const { settings, infraSettings, folder, metrics, log } = start
  const { baseUrl } = infraSettings
  const readiness = createReadiness(infra, infraSettings.privateStore !== null)
  let indexer: Indexer = NO_INDEXER
  const fallbacks = createFallbacks(metrics, log)
  // A folder wins over what was published.
  const operator = folder ? fixedSource(folder) : publishedSource(infra, baseUrl, fallbacks)
  await operator.refresh()
  const refreshing = setInterval(() => void operator.refresh(), OPERATOR_MILLISECONDS).unref()
  const deps = await assembleDeps(settings, infra, operator, {
    metrics,
    checkReady: readiness.check,
    onOffered: job => indexer.wake(job),
    log,
    fallbacks,
    context: { baseUrl, isBucket: infraSettings.store.kind === 's3' },
  })
  const readStatus = statusPages(infra, operator.current, baseUrl)
  const readMetrics = settings.monitoring ? {} : { readMetrics: metrics.read }
  const pictures = findPicturePrograms(reason => process.stderr.write(`mountglass: ${reason}\n`))
  const options = { baseUrl, log, metrics, toolBytes: settings.toolBytes, docs: docsPages(), pictures, ...readMetrics }
  const hostUrls = infraSettings.github ? { gh: infraSettings.github.url } : {}
  const app = await buildApp(
    deps,
    options,
    existsSync(PAGES)
      ? pages(
          deps,
          {
            baseUrl,
            hasPictures: pictures !== null,
            hostUrls,
            listLocal: listLately(infra.local, deps, log),
            toolBytes: settings.toolBytes,
          },
          metrics,
        )
      : undefined,
  )
  process.on('uncaughtExceptionMonitor', (error, origin) => log.fatal({ err: error, origin }, 'crashed'))
  const endKeepAlive = startKeepAlive(deps.people)
  let monitoring: MonitoringListener | null = null
  const stop = async (signal: NodeJS.Signals) => {
    log.info({ signal }, 'stopping')
    readiness.end()
    clearInterval(refreshing)
    endKeepAlive()
    const closed = sleep(settings.drainSeconds * 1000).then(() => closeInTime(app))
    await Promise.all([closed, indexer.stop()])
    await deps.people?.close()
    await monitoring?.close()
    await infra.close()
  }
  stopOnSignal(stop, settings.drainSeconds * 1000 + STOP_MILLISECONDS, error =>
    log.error({ err: error }, 'could not stop cleanly'),
  )

  try {
    await app.listen({ host: settings.host, port: settings.port })
    if (settings.monitoring) {
      monitoring = await listenForMonitoring(settings.monitoring, metrics, readiness, readStatus)
      log.info({ metricsPort: monitoring.port }, 'monitoring on its own port')
    }
  } catch (error) {
    await closeAndThrow(toStartError(error, settings), () => app.close())
  }
  if (settings.indexer === 'inline') {
    const runner = jobRunner(infra, start, fallbacks)
    indexer = startIndexer({ queue: infra.queue, runner, metrics, log, fallbacks })
  }
  logCredentials(infra, log)
  const local = infraSettings.localRepositories === null ? null : await listLocal(infra.local, deps, log)
  const hasHandbook = await isHandbookOpen(infra.local, deps)
  process.stdout.write(announcement(baseUrl, { store: infraSettings.store, local, hasHandbook, withPages: existsSync(PAGES) }))
}

/** What the hosts let the operator's credentials see, once they say. */
function logCredentials({ hosts }: Pick<Infra, 'hosts'>, log: Logger): void {
  for (const host of hosts)
    void host.describeCredential?.().then(
      text => text !== null && log.info(text),
      () => {},
    )
}

/** Runs jobs in processes of their own, unless only this one sees the store: `memory:`. */
function jobRunner(infra: Infra, { env, infraSettings, workerSettings, metrics, log }: Start, fallbacks: Fallbacks) {
  if (infraSettings.store.kind === 'memory') return createInProcessRunner({ ...infra, fallbacks })
  const { handover, accessTo } = infra
  const memoryMegabytes = workerSettings.jobMegabytes
  const shared = { env, handover, accessTo, memoryMegabytes, metrics, fallbacks }
  return createJobProcesses({ program: JOB_PROGRAM, concurrency: JOBS_AT_ONCE, ...shared }, log)
}

/** What an operator probably did not mean. */
function settingsToReconsider(env: NodeJS.ProcessEnv, { host }: Settings): string[] {
  const unknown = unknownSettings(env, [...SERVICE_SETTINGS, ...INFRA_SETTINGS, ...WORKER_SETTINGS, ...READER_SETTINGS])
  const isOpen = ['0.0.0.0', '::'].includes(host) && !env.MOUNTGLASS_BASE_URL
  return isOpen ? [...unknown, t('problem.baseUrlNotSet', { host })] : unknown
}

/** What the metadata document of an app may take. */
const CLIENT_DOCUMENT = { bytes: 5 * 1024, milliseconds: 5_000 }

async function assembleDeps(
  settings: Settings,
  infra: Infra,
  operator: OperatorSource,
  {
    metrics,
    checkReady,
    onOffered,
    log,
    fallbacks,
    context,
  }: Pick<Deps, 'checkReady' | 'onOffered'> & {
    log: Logger
    metrics: Metrics
    fallbacks: Fallbacks
    context: Pick<DeploymentContext, 'baseUrl' | 'isBucket'>
  },
): Promise<Deps> {
  const { blobs, states, queue, hosts, local, clock } = infra
  const keys = await deploymentKeys(infra, settings)
  const names = createLogRedaction(deriveKeys(keys, 'log')[0])
  const people = await deploymentPeople(infra, settings, keys, { ...context, log, fallbacks })
  const documents = openWebDocuments(CLIENT_DOCUMENT)
  const oauth = deploymentOAuth(infra, settings, keys, { people, documents })
  const damages = createDamageReports(states)
  return {
    hosts,
    snapshots: createSnapshotReader(blobs, {
      metrics,
      fallbacks,
      onDamage: damage => requestRepair({ damages, queue, clock, onOffered, log }, damage),
    }),
    queue,
    listings: rememberListings(createOwnerListings(states, fallbacks), clock),
    hidden: createHiddenNotes({ blobs, states }, clock, fallbacks),
    fallbacks,
    get operator() {
      return operator.current()
    },
    clock,
    cursorKeys: deriveKeys(keys, 'cursor'),
    names,
    people,
    oauth,
    allow: settings.allow,
    deny: settings.deny,
    localSource: settings.localSource,
    onOffered,
    readRawFile: (repository, commit, path, reader) => local.readRawFile(repository, commit, path, reader),
    checkReady,
  }
}

/** The pages, which read through the API of the same process. */
function pages(
  deps: Deps,
  {
    baseUrl,
    hasPictures,
    hostUrls,
    listLocal,
    toolBytes,
  }: {
    baseUrl: string
    hasPictures: boolean
    hostUrls: Record<string, string>
    listLocal: () => Promise<readonly string[]>
    toolBytes: number
  },
  metrics: Metrics,
): SitePlugin {
  const { hosts, fallbacks, localSource } = deps
  return async instance => {
    const client = createApiClient(injectTransport(instance))
    await instance.register(sitePlugin, {
      client,
      baseUrl,
      hosts: hosts.map(host => host.segment),
      hasPictures,
      hostUrls,
      localSource,
      versions: pageVersions(deps),
      skills: pageSkills(deps),
      skillText: skillTextOf(toolBytes),
      people: deps.people && pagePeople(deps.people, baseUrl),
      legalKinds: () => deps.operator.legal.map(({ kind }) => kind),
      listLocal,
      listed: listedRepositories(deps),
      networkOf: clientNetwork,
      rendering: {
        onOutcome: outcome => metrics.record('mountglass_rendered_texts_total', { outcome }, 1),
        onFailure: error => fallbacks?.note('rendering', error),
      },
    })
  }
}

interface Indexer {
  wake(job: IndexJob): void
  stop(): Promise<void>
}

const NO_INDEXER: Indexer = { wake() {}, async stop() {} }

function startIndexer(deps: Parameters<typeof startWorker>[0]): Indexer {
  const stopping = new AbortController()
  const worker = startWorker(deps, { concurrency: JOBS_AT_ONCE, signal: stopping.signal })
  return {
    wake: worker.wake,
    async stop() {
      stopping.abort()
      await worker.stopped
    },
  }
}

/** Closes the service once running requests ended, and drops those that take too long: some clients never finish sending. */
async function closeInTime(app: FastifyInstance): Promise<void> {
  const drop = setTimeout(() => app.server.closeAllConnections(), GRACE_MILLISECONDS)
  await app.close()
  clearTimeout(drop)
}

/** Logs only warnings at a terminal, unless a level is set, so that the printed address stays visible. */
function withQuietTerminal(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return process.stderr.isTTY && !env.MOUNTGLASS_LOG ? { ...env, MOUNTGLASS_LOG: 'warn' } : env
}

/** Resolves `PORT=0` to a free port before the start, because links to this process contain the port. */
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

/** What the system says when it does not let this process listen. */
const LISTEN_PROBLEMS: Readonly<Record<string, 'portTaken' | 'portForbidden'>> = {
  EADDRINUSE: 'portTaken',
  EACCES: 'portForbidden',
}

/** The sentence for an address on which this process cannot listen. Other errors stay as they are. */
function toStartError(error: unknown, address: ListenAddress): unknown {
  const { code = '', syscall = '' } = error as NodeJS.ErrnoException
  if (!['listen', 'bind', 'getaddrinfo'].includes(syscall)) return error
  const place = originAt(address).slice('http://'.length)
  return new SentenceError(t(`problem.${LISTEN_PROBLEMS[code] ?? 'hostUnknown'}`, { place, code }), { cause: error })
}

/** The host of local repositories. */
type LocalRepositories = {
  list(max: number): Promise<{ repositories: HostRepository[]; isComplete: boolean }>
  repository(owner: string, name: string): Promise<HostAnswer<HostRepository>>
}

/** Folders that are looked at for addresses. */
const LISTED_FOLDERS = 500
const LISTED_MILLISECONDS = 5_000

/** The addresses of local repositories that everyone may open; `null` when the folder cannot be listed now. */
async function listLocal(local: LocalRepositories, deps: Deps, log: FallbackLog): Promise<LocalAddresses | null> {
  try {
    const listed = await local.list(LISTED_FOLDERS)
    return { addresses: openAddresses(deps, listed.repositories), isComplete: listed.isComplete }
  } catch (error) {
    log.warn({ err: error }, 'the folder of local repositories cannot be listed')
    return null
  }
}

/** The same addresses for visitors, and that of the handbook, looked up again after a few seconds. */
export function listLately(local: LocalRepositories, deps: Deps, log: FallbackLog): () => Promise<readonly string[]> {
  let listing: Promise<readonly string[]> = Promise.resolve([])
  let listedAt = Number.NEGATIVE_INFINITY
  return () => {
    if (performance.now() - listedAt < LISTED_MILLISECONDS) return listing
    listedAt = performance.now()
    listing = Promise.all([listLocal(local, deps, log), isHandbookOpen(local, deps)]).then(([listed, hasHandbook]) => {
      const addresses = listed?.addresses ?? []
      // Where no folder was chosen, the handbook is among what is listed.
      return hasHandbook && !addresses.includes(REFERENCE_REPOSITORY) ? [...addresses, REFERENCE_REPOSITORY] : addresses
    })
    return listing
  }
}

async function isHandbookOpen(local: LocalRepositories, deps: Deps): Promise<boolean> {
  const [, , owner = '', name = ''] = REFERENCE_REPOSITORY.split('/')
  // A line of text is not worth a start.
  const found = await local.repository(owner, name).catch(() => null)
  return found?.status === 'ok' && openAddresses(deps, [found.value]).length > 0
}
