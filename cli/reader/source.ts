import { access, constants, mkdtemp, realpath, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { REFERENCE_REPOSITORY } from '#api/operator/operator-content.ts'
import { type Address, atPath, formatAddress } from '#core/address.ts'
import type { CommitSha } from '#core/commit-sha.ts'
import type { GitHost, HostUrls } from '#core/ports/git-host.ts'
import type { IndexJob, JobState } from '#core/ports/job-queue.ts'
import { encodePath, joinPath, type RepoPath } from '#core/repo-path.ts'
import { chooseReading, type Reading, type TypedRepository } from '#core/typed-address.ts'
import type { Progress } from '#indexer/pipeline/progress.ts'
import type { InfraSettings } from '#infra/infra-settings.ts'
import { systemClock, systemRandom } from '#infra/system/system.ts'
import type { WorktreePlace } from '#infra/worktree/place.ts'
import { SentenceError } from '#words/sentence.ts'
import { t } from '#words/t.ts'
import { type Answers, UnansweredError } from '../answers.ts'
import { type NamedService, openService } from '../service.ts'
import { readTypedRepository } from '../typed-repository.ts'
import { type Cache, findCache, type KeptRepository, openKept, openNothingKept } from './cache.ts'

/** What is read: by this process, or by a deployment. */
export interface Source {
  answers: Answers
  /** Canonical. A folder of this machine has one that is never shown. */
  address: Address
  /** The file that the words name, from the root of the repository. */
  file: RepoPath | null
  /** `null`: an address. */
  folder: ReadFolder | null
  /** Whether the source URLs of the answers lead to something. */
  hasSourceUrls: boolean
  /** Why this process could not index; `null`: it did not try, or could. */
  failure(): unknown
  /** The proxy through which the host is asked, without its credentials, and the variable that names it; `null`: none. */
  proxy: string | null
  /** Stores what is new, once the answer is printed. */
  keep(signal: AbortSignal): Promise<void>
}

/** A folder of this machine, as it is read. */
export interface ReadFolder {
  /** Absolute. */
  path: string
  isGit: boolean
  /** `null` where nothing is committed. */
  commit: CommitSha | null
  isClean: boolean
}

export interface SourceOptions {
  service: NamedService | null
  /** Read a folder as a private repository. */
  private: boolean
  env: NodeJS.ProcessEnv
  signal: AbortSignal
  /** Says a line on stderr. */
  say(line: string): void
  onProgress(progress: Progress): void
  /** Receives what is to be closed at the end, or when the command is interrupted. */
  onOpened(close: () => Promise<void>): void
}

/** What the first argument of a command names: a folder or file of this machine, or something else. */
export type Target =
  | { kind: 'folder'; folder: string; file: string | null }
  /** An address, or the URL of one. */
  | { kind: 'text'; text: string }

/** A folder or a file that exists wins over an address of the same letters. */
export async function findTarget(words: string): Promise<Target> {
  const found = await stat(words).catch(() => null)
  if (found?.isDirectory()) return { kind: 'folder', folder: words, file: null }
  if (found?.isFile()) return { kind: 'folder', folder: dirname(words), file: basename(words) }
  const isPath = /^(?:\.{0,2}\/|\.{1,2}$|~)/.test(words) && !/^\/(?:gh|local)\//.test(words)
  return isPath ? { kind: 'folder', folder: words, file: null } : { kind: 'text', text: words }
}

/** @throws SentenceError, ServiceError or UnansweredError */
export async function openSource(target: Target, options: SourceOptions): Promise<Source> {
  if (target.kind === 'text') return await openText(target.text, options)
  if (options.service?.setting === '--service') throw new SentenceError(t('problem.serviceOfFolder', { folder: target.folder }))
  return await openFolder(target, options)
}

async function openFolder({ folder, file }: Extract<Target, { kind: 'folder' }>, options: SourceOptions): Promise<Source> {
  const [{ findWorktree }, { findCheckedOut }, hosts] = await Promise.all([
    import('#infra/worktree/place.ts'),
    import('#infra/worktree/commit.ts'),
    import('#infra/worktree/host.ts'),
  ])
  const place = await findWorktree(folder)
  const inGit = isInGit(place) ? place : null
  const { commit, isClean } = inGit ? await findCheckedOut(inGit) : { commit: null, isClean: false }
  const visibility = options.private ? 'private' : 'public'
  const isRead = inGit !== null && commit !== null && isClean
  const host = isRead ? hosts.openCommittedHost(inGit, commit, visibility) : hosts.openFolderOnce(place, visibility)
  options.onOpened(() => host.close())
  const { owner, name } = host.repositoryName
  const kept = isRead ? await openKept(cacheOf(options), ['folder', await realpath(inGit.gitDir)], name) : openNothingKept()
  const address = { host: host.segment, owner, repository: name, ref: null, path: place.folder }
  return {
    ...(await openOwn(host, kept, { address }, options)),
    file: file === null ? null : joinPath(place.folder, file),
    folder: { path: await realpath(folder), isGit: inGit !== null, commit, isClean },
    hasSourceUrls: false,
    proxy: null,
  }
}

function isInGit(place: WorktreePlace): place is WorktreePlace & { gitDir: string } {
  return place.gitDir !== null
}

function cacheOf({ env, say }: SourceOptions): Cache {
  return findCache(env, say)
}

async function openText(text: string, options: SourceOptions): Promise<Source> {
  const { useProxies } = await import('#infra/system/proxies.ts')
  useProxies(options.env)
  return options.service === null ? await openAddress(text, options) : await askService(text, options.service, options)
}

async function askService(text: string, service: NamedService, { env }: SourceOptions): Promise<Source> {
  const { answers, context } = openService(service, env)
  const ask = async (address: Address) => {
    try {
      await answers.get('mounts', formatAddress(address), {})
      return null
    } catch (error) {
      if (error instanceof UnansweredError) return error.code
      throw error
    }
  }
  const { address, file } = await chooseReading(readTypedRepository(text, context), ask)
  return {
    answers,
    address,
    file: file ?? null,
    folder: null,
    hasSourceUrls: true,
    proxy: null,
    failure: () => null,
    async keep() {},
  }
}

/** The settings of a service hold, but for the store. */
async function readSettings({
  MOUNTGLASS_DATABASE,
  MOUNTGLASS_PRIVATE_STORE,
  ...env
}: NodeJS.ProcessEnv): Promise<InfraSettings> {
  const { parseInfraSettings } = await import('#infra/infra-settings.ts')
  return parseInfraSettings({ ...env, MOUNTGLASS_STORE: 'memory:' })
}

async function openAddress(text: string, options: SourceOptions): Promise<Source> {
  const settings = await readSettings(options.env)
  const hosts = settings.github === null ? ['local'] : ['local', 'gh']
  const typed = readTypedRepository(text, { hosts, baseUrl: settings.baseUrl })
  const cache = cacheOf(options)
  const meant = await chooseRepository(typed, settings, cache, options)
  const { host: segment, owner, repository } = meant.address
  if (segment === 'local') {
    const place = settings.localRepositories ?? 'example'
    const kept = await openKept(cache, ['local', place, owner, repository], `${segment}-${owner}-${repository}`)
    const host = await openLocalHost(settings, cache, options)
    return { ...(await openChosen(host, kept, meant, options)), folder: null, hasSourceUrls: false, proxy: null }
  }
  // Names of GitHub ignore case.
  const subject = ['gh', settings.github?.apiUrl ?? '', `${owner}/${repository}`.toLowerCase()]
  const kept = await openKept(cache, subject, `${segment}-${owner}-${repository}`)
  const host = await openGitHub(settings, kept, meant.address.ref, options)
  const { proxyFor } = await import('#infra/system/proxies.ts')
  const proxy = settings.github && proxyFor(new URL(settings.github.apiUrl), options.env)
  return { ...(await openChosen(host, kept, meant, options)), folder: null, hasSourceUrls: true, proxy }
}

/** Of `owner/repository` the local one, if there is one. */
async function chooseRepository(
  typed: TypedRepository,
  settings: InfraSettings,
  cache: Cache,
  options: SourceOptions,
): Promise<TypedRepository> {
  const { local, ...other } = typed
  if (local === undefined) return typed
  const isExample = formatAddress({ ...local, ref: null, path: '' as RepoPath }) === REFERENCE_REPOSITORY
  if (settings.localRepositories === null && !isExample) return other
  const host = await openLocalHost(settings, cache, options)
  const found = await host.repository(local.owner, local.repository)
  return found.status === 'missing' ? other : { kind: 'address', address: local }
}

async function openLocalHost(settings: InfraSettings, cache: Cache, { onOpened }: SourceOptions): Promise<GitHost> {
  const { openLocal } = await import('#infra/open-local.ts')
  const host = await openLocal(settings, () => folderForExample(cache, onOpened))
  onOpened(() => host.close())
  return host
}

/** A folder for the bundled repository: in the cache, or a temporary one. */
async function folderForExample({ folder }: Cache, onOpened: SourceOptions['onOpened']): Promise<string> {
  const { makeFolder } = await import('#infra/disk/durable.ts')
  const isThere = folder !== null && (await isWritable(() => makeFolder(`${folder}/examples`), `${folder}/examples`))
  if (isThere) return folder
  const temporary = await mkdtemp(join(tmpdir(), 'mountglass-'))
  onOpened(() => rm(temporary, { recursive: true, force: true }))
  return temporary
}

async function isWritable(make: () => Promise<void>, folder: string): Promise<boolean> {
  try {
    await make()
    await access(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}

async function openGitHub(
  { github }: InfraSettings,
  { notes }: KeptRepository,
  ref: string | null,
  { say, onOpened }: SourceOptions,
): Promise<GitHost> {
  if (github === null) throw new Error('GitHub is not served')
  const { rememberHost } = await import('./remembered-host.ts')
  const { url } = github
  const urls: HostUrls = { raw: ({ owner, name }, commit, path) => `${url}/${owner}/${name}/raw/${commit}/${encodePath(path)}` }
  const host = rememberHost({
    segment: 'gh',
    urls,
    notes,
    ref,
    clock: systemClock,
    async open() {
      const [{ openGitHubHost }, { requireGit }] = await Promise.all([
        import('#infra/github/host.ts'),
        import('#infra/git/process.ts'),
      ])
      await requireGit()
      const onWarning = (message: string) => process.emitWarning(message)
      return await openGitHubHost({ ...github, app: null, webhookSecret: null, clock: systemClock, onWarning })
    },
    onStale: askedAt => {
      say(t('reader.stale', { host: new URL(url).host, ago: ageOf((systemClock.now().getTime() - askedAt.getTime()) / 60_000) }))
    },
  })
  onOpened(() => host.close())
  return host
}

const DAY_MINUTES = 24 * 60

/** In minutes, from the second day on in days. */
function ageOf(minutes: number): string {
  if (minutes < 2 * DAY_MINUTES) return t('counts.minute', { n: Math.round(minutes) })
  return t('counts.day', { n: Math.floor(minutes / DAY_MINUTES) })
}

/** What does not depend on where the repository is. */
type OwnAnswers = Omit<Source, 'folder' | 'hasSourceUrls' | 'proxy'>

async function openChosen(
  host: GitHost,
  kept: KeptRepository,
  typed: TypedRepository,
  options: SourceOptions,
): Promise<OwnAnswers> {
  const { problemAt } = await import('../resolve-address.ts')
  const reading = await chooseReading(typed, asked => problemAt([host], asked))
  return await openOwn(host, kept, reading, options)
}

/** The answers of this process about one repository of a host. It indexes when it is first asked, and stores nothing before `keep`. */
async function openOwn(
  host: GitHost,
  { blobs, notes, keep, close }: KeptRepository,
  { address, file }: Reading,
  { signal, onProgress, onOpened }: SourceOptions,
): Promise<OwnAnswers> {
  onOpened(close)
  const [{ addressHandlers }, { createFindLikeCommits }, { assembleDeps }, { ownAnswers }, { createMemoryStateStore }] =
    await Promise.all([
      import('#api/routes/address-endpoints.ts'),
      import('#api/mount/like-commits.ts'),
      import('../own-deps.ts'),
      import('../own-answers.ts'),
      import('#infra/memory-stores.ts'),
    ])
  const states = createMemoryStateStore()
  let failure: unknown = null
  const queue = {
    peek: async () => null,
    async offer(job: IndexJob): Promise<JobState> {
      const { indexOnce, errorCodeOf } = await import('./index-once.ts')
      try {
        await indexOnce({ blobs, states, hosts: [host], notes }, job, signal, onProgress)
        return { status: 'indexing' }
      } catch (error) {
        failure = error
        return { status: 'failed', errorCode: errorCodeOf(error), retryAt: systemClock.now().toISOString() }
      }
    },
  }
  const deps = assembleDeps({ blobs, states, queue, hosts: [host], clock: systemClock, random: systemRandom }, () => {})
  const own = ownAnswers(addressHandlers(deps), {
    hosts: [host.segment],
    knowsLocal: true,
    findLikeCommits: createFindLikeCommits(deps),
  })
  return { answers: onceAgain(own), address, file: file ?? null, failure: () => failure, keep }
}

/** A damaged snapshot is built again by the request that found it, whose answer is an error. */
function onceAgain(answers: Answers): Answers {
  return {
    ...answers,
    pauseMs: 0,
    get: (name, address, query) =>
      answers.get(name, address, query).catch(error => {
        if (error instanceof UnansweredError && error.code === 'skill.unavailable') return answers.get(name, address, query)
        throw error
      }),
  }
}

/** The folder of a skill for its file, else the folder that holds the file. */
export function folderOfFile(address: Address, file: RepoPath | null): Address {
  return file === null ? address : atPath(address, file.slice(0, Math.max(0, file.lastIndexOf('/'))) as RepoPath)
}
