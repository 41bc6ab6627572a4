import { closeAndThrow } from '#core/concurrency/timeout.ts'
import { createFallbacks, type Fallbacks } from '#core/ports/fallbacks.ts'
import type { GitHost, HostRepository } from '#core/ports/git-host.ts'
import type { JobQueue } from '#core/ports/job-queue.ts'
import { type Metrics, NO_METRICS } from '#core/ports/metrics.ts'
import type { PeopleHost } from '#core/ports/people-host.ts'
import type { Clock, RandomSource } from '#core/ports/system.ts'
import { SettingsError } from '#core/settings.ts'
import { changesKey } from '#core/snapshot/store-keys.ts'
import { t } from '#words/t.ts'
import { type ChangeFeed, openChangeFeed } from './change-feed.ts'
import { requireGit } from './git/process.ts'
import { createGivenTokens } from './github/app-tokens.ts'
import type { CredentialHandover } from './github/credential.ts'
import { type GitHubHost, type GitHubHostOptions, openGitHubHost } from './github/host.ts'
import { InvalidationLog } from './github/invalidation-log.ts'
import { openSharedCache } from './github/shared-cache.ts'
import { HostChange } from './github/webhook.ts'
import type { InfraSettings } from './infra-settings.ts'
import type { LocalHost } from './local/host.ts'
import type { OnRefused } from './local/listed-names.ts'
import { countBlobStore, countStateStore, watchHosts, watchQueue } from './monitoring/watched.ts'
import { openLocal } from './open-local.ts'
import { createStateQueue } from './queue/state-queue.ts'
import { type OpenOptions, openStores, type ProbedBuckets, type Stores } from './stores.ts'
import { systemClock, systemRandom } from './system/system.ts'

/** The drivers that a job uses. */
export interface JobInfra extends Pick<Stores, 'blobs' | 'states' | 'database' | 'secret'> {
  hosts: readonly GitHost[]
  /** The host of local repositories, whose raw files this process serves itself. */
  local: LocalHost
  /** The host whose accounts sign in; `null`: sign-in is not set up. */
  people: PeopleHost | null
  /** What this process knows now, for `openJobInfra` of a child process. Without secrets. */
  handover(): string
  /**
   * The credential with which a child process reads the repository of its job, and nothing else; `null`: it needs none, or there is none now.
   * Never rejects.
   */
  accessTo(repository: HostRepository): Promise<string | null>
  /** Learns what the parent process knows by now. In a child process. @param handover of the parent */
  follow(handover: string): void
  /** Has this process read the repository of its job with what `accessTo` gave. In a child process. */
  useAccess(repository: HostRepository, access: string | null): void
  close(): Promise<void>
}

/** All drivers of one process. */
export interface Infra extends JobInfra {
  queue: JobQueue
  clock: Clock
  random: RandomSource
}

/**
 * Opens the drivers that the settings name.
 *
 * @param metrics counts the requests of the drivers; `null`: none
 * @param onRefused receives the reason why a local repository is not served. Default: reasons are dropped
 * @throws SettingsError when a folder or a store of the settings cannot be used
 * @throws SentenceError when git is missing or too old
 */
export async function openInfra(settings: InfraSettings, metrics: Metrics | null = null, onRefused?: OnRefused): Promise<Infra> {
  const opened = await openWithoutQueue(settings, metrics, {}, onRefused)
  try {
    const queue = await openQueue(opened, settings)
    if (metrics) watchQueue(queue, metrics)
    const close = async () => {
      await queue.close()
      await opened.close()
    }
    return { ...opened, queue, clock: systemClock, random: systemRandom, close }
  } catch (error) {
    return await closeAndThrow(error, opened.close)
  }
}

/** Buckets charge by the request. An idle worker lists its jobs this often. */
const BUCKET_LOOK_SECONDS = 3

async function openQueue({ states, database }: JobInfra, { store, leaseSeconds }: InfraSettings): Promise<JobQueue> {
  if (database === null) return createStateQueue(states, systemClock, leaseSeconds, store.kind === 's3' ? BUCKET_LOOK_SECONDS : 0)
  const { openBossQueue } = await import('./queue/boss-queue.ts')
  const onWarning = (message: string) => process.emitWarning(message)
  try {
    return await openBossQueue({ db: { executeSql: database.run }, states, clock: systemClock, leaseSeconds, onWarning })
  } catch (cause) {
    const reason = (cause as Error).message.split('\n')[0] ?? ''
    throw new SettingsError('MOUNTGLASS_DATABASE', t('problem.queueClosed', { reason }), { cause })
  }
}

/** A job reads and writes one entry at a time. */
const JOB_CONNECTIONS = 2

/**
 * Opens the drivers without the queue, for a child process that receives its jobs.
 *
 * @param handover `JobInfra.handover` of the parent process, which has the same settings
 * @throws as `openInfra`
 */
export async function openJobInfra(settings: InfraSettings, metrics: Metrics, handover: string): Promise<JobInfra> {
  return await openWithoutQueue(settings, metrics, {
    connections: JOB_CONNECTIONS,
    handover: JSON.parse(handover) as Handover,
  })
}

interface Handover {
  buckets: ProbedBuckets
  gitHub: CredentialHandover | null
}

interface Options extends Pick<OpenOptions, 'connections'> {
  /** Of the parent process. */
  handover?: Handover
}

async function openWithoutQueue(
  settings: InfraSettings,
  metrics: Metrics | null,
  { handover, ...options }: Options,
  onRefused?: OnRefused,
): Promise<JobInfra> {
  await requireGit()
  const store = await openStores(settings, handover ? { ...options, buckets: handover.buckets, isPoolerChecked: true } : options)
  const closing: (() => Promise<void>)[] = [store.close]
  const close = async () => {
    for (const closeOne of closing.reverse()) await closeOne()
  }
  try {
    const local = await openLocal(settings, store.folder, onRefused)
    closing.push(() => local.close())
    const hosts: GitHost[] = [local]
    let github: GitHubHost | null = null
    const given = createGivenTokens()
    if (settings.github) {
      const onWarning = (message: string) => process.emitWarning(message)
      const parent = handover?.gitHub ?? null
      const tokens = handover === undefined ? null : given
      const base = { ...settings.github, clock: systemClock, onWarning, parent, tokens }
      // Job processes hear no webhooks and keep no answers for long, and the store `memory:` has one process.
      const isAlone = handover !== undefined || settings.store.kind === 'memory'
      github = isAlone ? await openGitHubHost(base) : await openSharingGitHub(base, store, metrics ?? NO_METRICS, closing)
      closing.push(github.close.bind(github))
      hosts.push(github)
    }
    const { blobs, states, database, secret } = store
    const told = (): Handover => ({ buckets: store.buckets, gitHub: github?.credentialHandover() ?? null })
    const people = github?.people ?? null
    const accessTo = async (repository: HostRepository) => {
      const isPrivate = repository.host === 'gh' && repository.visibility === 'private'
      const token = isPrivate ? await github?.tokens?.token(repository).catch(() => null) : null
      return token?.status === 'ok' ? token.value : null
    }
    const useAccess = ({ id }: HostRepository, access: string | null) => given.give(id, access)
    const follow = (text: string) => {
      const { gitHub } = JSON.parse(text) as Handover
      if (gitHub) github?.followCredential(gitHub)
    }
    const access = { accessTo, useAccess, follow, handover: () => JSON.stringify(told()) }
    const opened = { blobs, states, database, hosts, local, people, secret, ...access, close }
    if (!metrics) return opened
    watchHosts(hosts, metrics)
    return { ...opened, blobs: countBlobStore(blobs, metrics), states: countStateStore(states, metrics) }
  } catch (error) {
    return await closeAndThrow(error, close)
  }
}

const CHANGES_CHANNEL = 'mountglass_changes'
const SEGMENT = 'gh'
/** How long a visitor waits for what other processes of the deployment know before the host is asked. */
const STORE_PATIENCE_MS = 250

/**
 * GitHub for a process that may have others beside it: they share what they asked, and tell each other of webhooks.
 *
 * @param closing receives what must be closed after the host
 */
export async function openSharingGitHub(
  options: GitHubHostOptions,
  stores: Pick<Stores, 'states' | 'database'>,
  metrics: Metrics,
  closing: (() => Promise<void>)[],
): Promise<GitHubHost> {
  const { apiUrl, token, webhookSecret, clock, onWarning } = options
  const fallbacks = createFallbacks(metrics, { warn: (_fields, message) => onWarning(message) })
  const changes = new InvalidationLog(webhookSecret !== null)
  const scope = JSON.stringify([apiUrl, token])
  const shared = openSharedCache({
    states: stores.states,
    host: SEGMENT,
    scope,
    changes,
    clock,
    fallbacks,
    patienceMs: STORE_PATIENCE_MS,
  })
  closing.push(() => shared.close())
  const told: { feed: ChangeFeed<HostChange> | null } = { feed: null }
  const onHeard = (change: HostChange) => {
    changes.begin(change)
    told.feed?.tell(change)
  }
  const github = await openGitHubHost({ ...options, shared, onHeard })
  if (webhookSecret !== null) {
    const feed = openGitHubChanges(github, stores, changes, fallbacks)
    told.feed = feed
    closing.push(() => feed.close())
    // Before its first look this process could use no answer of another one: it would ask for them all again.
    await feed.look()
  }
  return github
}

/** Tells the other processes what a webhook told this one. With a database, its notifications have them look at once. */
function openGitHubChanges(
  github: GitHubHost,
  { states, database }: Pick<Stores, 'states' | 'database'>,
  order: InvalidationLog,
  fallbacks: Fallbacks,
): ChangeFeed<HostChange> {
  const feed = openChangeFeed({
    states,
    key: changesKey(SEGMENT),
    schema: HostChange,
    onChange: change => void github.applyChange(change),
    onMissed: () => github.expireAll(),
    order,
    onTold: () => void database?.notify(CHANGES_CHANNEL).catch(() => {}), // the others look in a few seconds
    fallbacks,
  })
  const unlisten = database?.listen(CHANGES_CHANNEL, () => void feed.look())
  return {
    tell: change => feed.tell(change),
    look: () => feed.look(),
    async close() {
      await unlisten?.()
      await feed.close()
    },
  }
}
