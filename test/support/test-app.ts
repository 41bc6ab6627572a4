import type { FastifyInstance, InjectOptions } from 'fastify'
import { type AppOptions, buildApp, type SitePlugin } from '#api/app.ts'
import { rememberListings } from '#api/cards/list-on-visit.ts'
import type { Deps } from '#api/deps.ts'
import { requestRepair } from '#api/mount/request-indexing.ts'
import { NO_CONTENT, type OperatorContent } from '#api/operator/operator-content.ts'
import { createLogRedaction } from '#api/people/log-redaction.ts'
import type { People } from '#api/people/people.ts'
import { deriveKeys, type SealingKeys } from '#api/purpose-keys.ts'
import { createHiddenNotes } from '#api/snapshot/hidden-notes.ts'
import { createSnapshotReader } from '#api/snapshot/snapshot-reader.ts'
import { createInProcessRunner } from '#cli/runners.ts'
import type { CommitSha } from '#core/commit-sha.ts'
import type { AnswerOf, EndpointName } from '#core/contract/endpoints.ts'
import { createDamageReports } from '#core/damage-reports.ts'
import { createOwnerListings } from '#core/owner-listings.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { GitHost } from '#core/ports/git-host.ts'
import type { JobQueue } from '#core/ports/job-queue.ts'
import { NO_METRICS } from '#core/ports/metrics.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import type { Clock } from '#core/ports/system.ts'
import type { WebDocuments } from '#core/ports/web-documents.ts'
import { runLease } from '#indexer/jobs/run-lease.ts'
import { type GitHubHost, type GitHubHostOptions, openGitHubHost } from '#infra/github/host.ts'
import { openLocalHost } from '#infra/local/host.ts'
import type { PrometheusMetrics } from '#infra/monitoring/prometheus.ts'
import { createReadiness } from '#infra/monitoring/readiness.ts'
import { createStateQueue } from '#infra/queue/state-queue.ts'
import { type Answer, checkAnswer } from './check-answer.ts'
import { type FakeGitHub, startFakeGitHub } from './fake-github/server.ts'
import type { App } from './fake-github/world.ts'
import { openTestOAuth, openTestPeople } from './open-test-people.ts'
import { PATIENT, PATIENT_TASK } from './patient.ts'
import { createRepositories, type TestFile, type TestRepositories, type TestRepository } from './repository.ts'
import { handClock } from './store-values.ts'
import { openTestStores } from './test-stores.ts'

export const BASE_URL = 'https://mountglass.test'
export const WEBHOOK_SECRET = 'between-the-host-and-us'

export interface TestAppOptions {
  /** The time by which the pace of readers of raw files is measured, in milliseconds. Default: that of this process. */
  monotonicNow?: () => number
  /** Of a raw file. Default: as the service serves it. */
  rawFileBytes?: number
  /** Default: those of `openTestStores`. */
  blobs?: BlobStore
  states?: StateStore
  /** The kind of stores, one of `STORE_KINDS`. Default: that of the run. */
  stores?: string
  keys?: SealingKeys
  logger?: AppOptions['logger']
  /** Takes what happens, and is served at `/metrics`. Default: nobody watches. */
  metrics?: PrometheusMetrics
  site?: SitePlugin
  /** How much patience the service has with its clients. Default: that of every service. */
  clients?: NonNullable<AppOptions['clients']>
  hookBodies?: NonNullable<AppOptions['hookBodies']>
  /** The same repositories lie on a GitHub of this machine, too: under the host segment `gh`. `tokenOf` makes another token than that of a stranger. */
  github?: {
    withToken: boolean
    tokenOf?: (github: FakeGitHub) => string
    /** The App with which people sign in. Default: nobody does. */
    app?: (github: FakeGitHub) => App
  }
  /** Receives warnings of the host for the operator. Default: none is expected. */
  onWarning?: (message: string) => void
  pictures?: Exclude<AppOptions['pictures'], undefined>
  docs?: NonNullable<AppOptions['docs']>
  /** Public origin. Default: `BASE_URL`. */
  baseUrl?: string
  /** Default: there is none. */
  operator?: OperatorContent
  /** Of apps whose id is the URL of their metadata. Default: there are none. */
  documents?: WebDocuments
  /** Where the clock stands. Default: now. */
  clockStartsAt?: string
  /** How long a visitor waits for a host. Default: long enough for any machine. */
  patienceMs?: number
  /** Replaces parts of what the use cases receive. */
  deps?: (deps: Deps) => Deps
}

/** The service over real repositories, with an indexer that runs when it is told to. */
export interface TestApp {
  app: FastifyInstance
  deps: Deps
  blobs: BlobStore
  states: StateStore
  queue: JobQueue
  /** The host `local`. */
  host: GitHost
  /** The host behind `gh`. @throws Error unless it was asked for */
  readonly github: FakeGitHub
  repositories: TestRepositories
  /** Repositories by `<owner>/<name>`, as they were given to `testApp`. */
  repository(name: string): TestRepository
  /** First commits, likewise. */
  commitOf(name: string): CommitSha
  get(url: string, options?: Omit<InjectOptions, 'url' | 'path'>): Promise<Answer>
  /** A 200 of an endpoint. `query` is encoded. */
  ask<Name extends EndpointName>(name: Name, address: string, query?: Record<string, string | number>): Promise<AnswerOf<Name>>
  /** A 200 of an endpoint that is ready. */
  askReady<Name extends 'browse' | 'findings' | 'find' | 'skills'>(
    name: Name,
    address: string,
    query?: Record<string, string | number>,
  ): Promise<Extract<AnswerOf<Name>, { status: 'ready' }>>
  /** Runs the jobs that wait, or will once the work behind answers is done; tells how many there were. */
  index(): Promise<number>
  /** Opens the address and indexes it. */
  open(address: string): Promise<void>
  /** Another process over the same stores, which shares nothing else with this one. */
  replica(): Promise<FastifyInstance>
  /** The clock stands still otherwise, so that what is cached for seconds stays cached on a slow machine. */
  advanceClock(seconds: number): void
  close(): Promise<void>
}

/** @param contents repositories by `<owner>/<name>`, each with the files of its first commit on `main` */
export async function testApp(
  contents: Readonly<Record<string, Readonly<Record<string, TestFile>>>>,
  options: TestAppOptions = {},
): Promise<TestApp> {
  const repositories = await createRepositories()
  const created = new Map<string, TestRepository>()
  const commits = new Map<string, CommitSha>()
  for (const [name, files] of Object.entries(contents)) {
    const [owner = '', repositoryName = ''] = name.split('/')
    const repository = await repositories.create(owner, repositoryName)
    created.set(name, repository)
    if (Object.keys(files).length > 0) commits.set(name, await repository.commit(files))
  }

  const clock = handClock(options.clockStartsAt ?? new Date().toISOString())
  const stores = await openTestStores(clock, options.stores)
  const { blobs = stores.blobs, states = stores.states, patienceMs = PATIENT.patienceMs } = options
  // The queue of the stores belongs to their state store.
  const queue = (states === stores.states ? stores.queue : undefined) ?? createStateQueue(states, clock)
  const { monotonicNow, rawFileBytes } = options
  const localOptions = { root: repositories.root, baseUrl: BASE_URL, historyWaitMs: patienceMs }
  const host = await openLocalHost({
    ...localOptions,
    ...(monotonicNow && { monotonicNow }),
    ...(rawFileBytes && { rawFileBytes }),
  })
  const github = options.github ? await startFakeGitHub({ root: repositories.root }) : null
  const { onWarning = failOn } = options
  const githubOptions = github && hostOptions(github, options.github ?? { withToken: false }, { clock, patienceMs, onWarning })
  const openGitHub = async () => githubOptions && (await openGitHubHost(githubOptions))
  const githubHost = await openGitHub()
  const hosts: GitHost[] = githubHost ? [host, githubHost] : [host]
  const working: Promise<void>[] = []
  const keys = options.keys ?? [{ kid: 'test', key: Buffer.alloc(32, 7).toString('base64url') }]
  const onOffered = () => {}
  const peopleOver = (github: GitHubHost | null) => openTestPeople(github, { states, keys, clock, baseUrl, log: () => app.log })
  const oauthOver = (people: People, github: GitHubHost) =>
    openTestOAuth(people, github, { states, keys, ...(options.documents && { documents: options.documents }) })
  const baseUrl = options.baseUrl ?? BASE_URL
  const names = createLogRedaction(deriveKeys(keys, 'log')[0])
  const people = githubHost?.people ? peopleOver(githubHost) : null
  const plain: Deps = {
    hosts,
    snapshots: createSnapshotReader(blobs, {
      metrics: options.metrics ?? NO_METRICS,
      onDamage: damage => requestRepair({ damages: createDamageReports(states), queue, clock, onOffered, log: app.log }, damage),
    }),
    queue,
    listings: rememberListings(createOwnerListings(states), clock),
    hidden: createHiddenNotes({ blobs, states }, clock),
    operator: options.operator ?? NO_CONTENT,
    clock,
    cursorKeys: deriveKeys(keys, 'cursor'),
    names,
    people,
    oauth: people && githubHost ? oauthOver(people, githubHost) : null,
    allow: null,
    deny: [],
    localSource: 'withheld',
    patienceMs: { card: patienceMs, listings: patienceMs },
    onOffered,
    onWorking: work => working.push(work),
    readRawFile: (repository, commit, path, reader) => host.readRawFile(repository, commit, path, reader),
    checkReady: createReadiness({ blobs, states, clock }).check,
  }
  const deps = options.deps?.(plain) ?? plain
  const logger = options.logger === undefined ? {} : { logger: options.logger }
  const watched = options.metrics === undefined ? {} : { metrics: options.metrics, readMetrics: options.metrics.read }
  const { clients = {}, hookBodies, docs = [] } = options
  const pictures =
    options.pictures === null
      ? null
      : {
          cutter: { ...PATIENT_TASK, ...options.pictures?.cutter },
          drawer: { ...PATIENT_TASK, ...options.pictures?.drawer },
        }
  const patience = { clients, pictures, docs, ...(hookBodies && { hookBodies }) }
  const appOptions = { baseUrl, ...logger, ...watched, ...patience }
  const app: FastifyInstance = await buildApp(deps, appOptions, options.site)
  const replicas: { close(): Promise<void> }[] = []

  async function get(url: string, injectOptions: Omit<InjectOptions, 'url' | 'path'> = {}): Promise<Answer> {
    const { statusCode: status, headers, body } = await app.inject({ method: 'GET', ...injectOptions, url })
    return checkAnswer(url, injectOptions.method ?? 'GET', { status, headers: headers as Answer['headers'], body })
  }

  async function ask<Name extends EndpointName>(name: Name, address: string, query: Record<string, string | number> = {}) {
    const answer = await get(endpointUrl(name, address, query))
    if (answer.status !== 200) throw new Error(`${name} of ${address} answered ${answer.status} ${answer.body}`)
    return answer.json as AnswerOf<Name>
  }

  const runner = createInProcessRunner({ blobs, states, hosts, clock })
  async function index(): Promise<number> {
    await Promise.all(working)
    for (let jobs = 0; ; jobs++) {
      const lease = await queue.take('test')
      if (lease === null) return jobs
      await runLease({ queue, runner, metrics: NO_METRICS, log: THROWING }, lease, new AbortController().signal)
    }
  }

  return {
    app,
    deps,
    blobs,
    states,
    queue,
    host,
    get github() {
      return required(github ?? undefined, 'github')
    },
    repositories,
    repository: name => required(created.get(name), name),
    commitOf: name => required(commits.get(name), name),
    get,
    ask,
    async askReady(name, address, query) {
      const answer = await ask(name, address, query)
      if (answer.status !== 'ready') throw new Error(`${name} of ${address} is ${answer.status}`)
      return answer as Extract<AnswerOf<typeof name>, { status: 'ready' }>
    },
    index,
    async open(address) {
      await get(`/api/v1/mounts${address}`)
      await index()
    },
    async replica() {
      const other = await openGitHub()
      const otherHosts = other ? [host, other] : [host]
      const people = other?.people ? peopleOver(other) : null
      const oauth = people && other ? oauthOver(people, other) : null
      const hidden = createHiddenNotes({ blobs, states }, clock)
      const replicaApp = await buildApp({ ...deps, hidden, hosts: otherHosts, people, oauth }, appOptions, options.site)
      replicas.push(replicaApp, ...(other ? [other] : []))
      return replicaApp
    },
    advanceClock(seconds) {
      clock.advance(seconds)
      github?.clock.advance(seconds)
    },
    async close() {
      await app.close()
      for (const replica of replicas) await replica.close()
      await deps.people?.close()
      await Promise.all(hosts.map(one => one.close()))
      await github?.close()
      await stores.close()
      await repositories.remove()
    },
  }
}

function failOn(warning: string): void {
  throw new Error(warning)
}

function hostOptions(
  github: FakeGitHub,
  { withToken, tokenOf = () => github.personalToken(github.user('reader'), []), app }: NonNullable<TestAppOptions['github']>,
  { clock, patienceMs, onWarning }: { clock: Clock; patienceMs: number; onWarning: (message: string) => void },
): GitHubHostOptions {
  const made = app?.(github)
  const { web: url, api: apiUrl, avatars } = github.origins
  return {
    url,
    apiUrl,
    avatarOrigins: [avatars],
    token: withToken ? tokenOf(github) : null,
    webhookSecret: WEBHOOK_SECRET,
    app: made ? { ...made, id: String(made.id) } : null,
    clock,
    onWarning,
    timeouts: { ...PATIENT, patienceMs },
  }
}

export function endpointUrl(name: EndpointName, address: string, query: Record<string, string | number> = {}): string {
  const parameters = Object.entries(query).map(([key, value]) => `${key}=${encodeURIComponent(value)}`)
  return `/api/v1/${name}${address}${parameters.length > 0 ? '?' : ''}${parameters.join('&')}`
}

function required<Value>(value: Value | undefined, name: string): Value {
  if (value === undefined) throw new Error(`there is no repository ${name}`)
  return value
}

/** A failure that no test means is a fault of the indexer. */
const THROWING = {
  info() {},
  warn() {},
  error(fields: { errorCode?: string; err?: unknown }) {
    if (fields.errorCode === 'index.internal') throw fields.err
  },
}
