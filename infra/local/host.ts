import { createHash } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { lstat, realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { LRUCache } from 'lru-cache'
import type { CommitGraph } from '#core/commit-graph.ts'
import { type CommitSha, isCommitSha } from '#core/commit-sha.ts'
import { GateFull } from '#core/concurrency/fair-gate.ts'
import { mapFew } from '#core/concurrency/map-few.ts'
import { createSingleFlight } from '#core/concurrency/single-flight.ts'
import { withTimeout } from '#core/concurrency/timeout.ts'
import { DESCRIPTION_CHARACTERS } from '#core/limits.ts'
import { memoryOfEntry } from '#core/memory.ts'
import {
  type GitHost,
  type HostAnswer,
  type HostRefs,
  type HostRepository,
  type HostUrls,
  type PathHistory,
  ReadError,
  type ReadLimits,
  type RepositoryReader,
} from '#core/ports/git-host.ts'
import { type RawFile, RawFileError, type RawFileReader } from '#core/ports/raw-file.ts'
import { encodePath } from '#core/repo-path.ts'
import { truncateCharacters } from '#core/text.ts'
import { readPathHistory } from '../git/path-history.ts'
import { GitError } from '../git/process.ts'
import { createRawFiles, type RawFiles } from '../git/raw-file.ts'
import { openReader } from '../git/reader.ts'
import { ifAbsent, readRealText } from '../git/safe-open.ts'
import { UnreadableCommit } from '../git/tree-objects.ts'
import { type GitView, removeLeftoverViews } from '../git/view.ts'
import { CommitGraphs } from './commit-graphs.ts'
import { Commits, createGitConcurrency, type GitConcurrency, type SearchTimes } from './commits.ts'
import { listNames, type OnRefused, tellOnce } from './listed-names.ts'
import { findRepository, type RepositoryLocation, type RepositoryName, readHead } from './location.ts'
import { ViewTooLarge, ViewUnavailable } from './object-files.ts'
import { PrivateViews } from './private-views.ts'
import { DamagedRepository, UnfinishedWalk } from './reachability.ts'
import { type Computed, StatCache, type Watch } from './stat-cache.ts'

/** The git host of a folder of repositories. It also serves their raw files to browsers. */
export interface LocalHost extends GitHost {
  /**
   * The file or link at a path of a commit; `null` when there is none, or no ref leads to the commit.
   *
   * @throws RawFileError
   */
  readRawFile(repository: HostRepository, commit: string, path: string, reader: RawFileReader): Promise<RawFile | null>
  /**
   * The repositories of `root`, private ones too, in the order of their addresses. For the operator alone: no request lists them.
   *
   * @param max bounds the folders that are looked at; `isComplete` is false when there are more
   */
  list(max: number): Promise<{ repositories: HostRepository[]; isComplete: boolean }>
}

export interface LocalHostOptions {
  /** Folder of `<owner>/<name>` or `<owner>/<name>.git`: bare repositories, working folders, linked worktrees. */
  root: string
  /** Another such folder, for repositories that the first one lacks. */
  examples?: string
  /** Public origin of the service, which serves the URLs of `urls`. */
  baseUrl: string
  /** Called once for each repository that is not served, and each reason. Default: reasons are dropped. */
  onRefused?: OnRefused
  /** A monotonic time in milliseconds, by which the pace of readers is measured. Default: that of this process. */
  monotonicNow?: () => number
  /** For tests. Default: `RAW_FILE_BYTES`. */
  rawFileBytes?: number
  /** For tests. Default: `HISTORY_WAIT_MS`. */
  historyWaitMs?: number
}

const NOT_SELF_CONTAINED = 'links, or other things than files and folders, lie among its objects or refs'
const NOT_SHA1 = 'it names its objects by SHA-256, and only the object format SHA-1 is read'
const ANSWER_MS = 10_000
/** Time in which a caller is told a commit, the waiting for a turn included. */
const WAIT_MS = 20_000
/** The same for a history: a page is shown without it. */
export const HISTORY_WAIT_MS = 4_000
/** Wait that is told when too many questions about a repository wait. */
const BUSY_SECONDS = 2

/** @throws Error when the root does not exist */
export async function openLocalHost(options: LocalHostOptions): Promise<LocalHost> {
  await removeLeftoverViews(new Date())
  const roots = [options.root, ...(options.examples === undefined ? [] : [options.examples])]
  const rawFiles = createRawFiles({ now: options.monotonicNow, maxBytes: options.rawFileBytes })
  const onRefused = tellOnce(options.onRefused ?? (() => {}))
  return new LocalGitHost(await Promise.all(roots.map(root => realpath(root))), options, rawFiles, onRefused)
}

class LocalGitHost implements LocalHost {
  readonly segment = 'local'
  readonly isRemote = false
  readonly urls: HostUrls
  /** A repository is looked for in their order. */
  readonly #roots: readonly string[]
  readonly #locations = new StatCache<RepositoryLocation | null>()
  readonly #repositories = new StatCache<HostRepository | null>()
  readonly #views = new PrivateViews()
  readonly #concurrency = createGitConcurrency()
  readonly #commits: Commits
  readonly #history: LocalPathHistory
  readonly #graphs: CommitGraphs
  readonly #onRefused: OnRefused
  readonly #rawFiles: RawFiles
  readonly #closing = new AbortController()
  readonly #readers = new Set<RepositoryReader>()

  constructor(roots: readonly string[], options: LocalHostOptions, rawFiles: RawFiles, onRefused: OnRefused) {
    const { baseUrl, historyWaitMs = HISTORY_WAIT_MS } = options
    this.#roots = roots
    this.#rawFiles = rawFiles
    this.#onRefused = onRefused
    const refuse = ({ named }: RepositoryLocation) => onRefused(named, NOT_SELF_CONTAINED)
    const signal = () => this.#answerSignal()
    this.#commits = new Commits(this.#views, this.#concurrency, { signal, waitMs: WAIT_MS }, refuse)
    const patience = { signal, waitMs: historyWaitMs }
    this.#history = new LocalPathHistory(this.#views, this.#concurrency, patience)
    this.#graphs = new CommitGraphs(this.#views, this.#concurrency, patience)
    this.urls = {
      raw: ({ owner, name }, commit, path) => `${baseUrl}/git/local/${owner}/${name}/raw/${commit}/${encodePath(path)}`,
    }
    setMaxListeners(0, this.#closing.signal)
  }

  repository(owner: string, name: string): Promise<HostAnswer<HostRepository>> {
    return answer(async () => {
      const location = await this.#location(owner, name)
      if (!location) return null
      return await this.#repositories.get(`${owner}/${name}:${location.identity}`, async watch => ({
        value: await this.#describe(location, watch),
        keep: true,
      }))
    })
  }

  async #describe(location: RepositoryLocation, watch: Watch): Promise<HostRepository | null> {
    const described = await describeRepository(location, watch)
    if (described?.objectFormat) this.#onRefused(location.named, NOT_SHA1)
    return described
  }

  resolve({ owner, name }: HostRepository, ref: string | null): Promise<HostAnswer<CommitSha>> {
    return answer(async () => {
      const location = await this.#location(owner, name)
      return location && this.#commits.find(location, ref).catch(this.#tellCause({ owner, name }))
    })
  }

  refs({ owner, name }: HostRepository): Promise<HostAnswer<HostRefs>> {
    return answer(async () => {
      const location = await this.#location(owner, name)
      return location && this.#commits.refs(location).catch(this.#tellCause({ owner, name }))
    })
  }

  history({ owner, name }: HostRepository, commit: CommitSha, paths: readonly string[]): Promise<HostAnswer<PathHistory>> {
    return answer(async () => {
      const location = await this.#location(owner, name)
      return location && this.#history.read(location, commit, paths).catch(this.#tellCause({ owner, name }))
    })
  }

  commits({ owner, name }: HostRepository): Promise<HostAnswer<CommitGraph>> {
    return answer(async () => {
      const location = await this.#location(owner, name)
      const tips = location && (await this.#commits.tips(location).catch(this.#tellCause({ owner, name })))
      return location && tips && this.#graphs.read(location, tips)
    })
  }

  tip(repository: HostRepository): Promise<HostAnswer<CommitSha>> {
    return this.resolve(repository, null)
  }

  async open({ owner, name }: HostRepository, commit: CommitSha, limits: ReadLimits): Promise<RepositoryReader> {
    const { location, view } = await this.#openView(owner, name, AbortSignal.timeout(limits.seconds * 1000))
    let reader: RepositoryReader | null = null
    reader = await openReader({
      gitDir: view.gitDir,
      commit,
      limits,
      signal: this.#closing.signal,
      confirm: () => this.#confirm(owner, name, location),
      release: async () => {
        if (reader) this.#readers.delete(reader)
        await view.remove()
      },
    })
    this.#readers.add(reader)
    return reader
  }

  async #openView(owner: string, name: string, signal: AbortSignal): Promise<{ location: RepositoryLocation; view: GitView }> {
    try {
      const location = await this.#location(owner, name)
      const view = location && (await this.#views.open(location, signal))
      if (view) return { location, view }
    } catch (cause) {
      if (cause instanceof ViewTooLarge) throw new ReadError('index.too_large', cause.message, { cause })
      throw new ReadError('index.fetch_failed', 'the repository cannot be read now', { cause })
    }
    throw new ReadError('index.fetch_failed', `there is no repository ${owner}/${name}`)
  }

  /** Looks again whether the repository is where it was, and self-contained: it may have changed while it was read, and an index is kept. */
  async #confirm(owner: string, name: string, opened: RepositoryLocation): Promise<void> {
    const { location, view } = await this.#openView(owner, name, AbortSignal.timeout(ANSWER_MS))
    await view.remove()
    if (location.identity !== opened.identity)
      throw new ReadError('index.fetch_failed', `another repository took the place of ${owner}/${name} while it was read`)
  }

  async readRawFile(
    { owner, name }: HostRepository,
    commit: string,
    path: string,
    { signal, ...reader }: RawFileReader,
  ): Promise<RawFile | null> {
    const published = isCommitSha(commit) ? await this.#published(owner, name, commit) : null
    if (published === null) return null
    const { location, commit: found } = published
    return await this.#rawFiles.open({
      openView: () => this.#views.open(location, this.#answerSignal()),
      repository: location.identity,
      commit: found,
      path,
      ...reader,
      signal: AbortSignal.any([signal, this.#closing.signal]),
    })
  }

  /** The location of a repository, if a ref leads to the commit. @throws RawFileError */
  async #published(
    owner: string,
    name: string,
    hash: string,
  ): Promise<{ location: RepositoryLocation; commit: CommitSha } | null> {
    try {
      const location = await this.#location(owner, name)
      const commit = location && (await this.#commits.find(location, hash))
      if (!commit) return null
      await this.#views.prepare(location, this.#answerSignal())
      return { location, commit }
    } catch (cause) {
      throw new RawFileError(cause instanceof GateFull ? 'busy' : 'unavailable', 'the repository cannot be read now', { cause })
    }
  }

  async list(max: number): Promise<{ repositories: HostRepository[]; isComplete: boolean }> {
    const { names, isComplete } = await listNames(this.#roots[0] ?? '', max, this.#onRefused)
    const repositories = await mapFew(names, async ({ owner, name }) => {
      const found = await this.repository(owner, name)
      // A link is left out: its repository is listed at its real location.
      return found.status === 'ok' && found.value.owner === owner && found.value.name === name && !found.value.objectFormat
        ? [found.value]
        : []
    })
    return { repositories: repositories.flat(), isComplete }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.all([this.#rawFiles.close(), ...[...this.#readers].map(reader => reader.close())])
    await this.#views.close()
  }

  #location(owner: string, name: string): Promise<RepositoryLocation | null> {
    return this.#locations.get(`${owner}/${name}`, async watch => {
      const reasons: string[] = []
      let found: Computed<RepositoryLocation | null> = { value: null, keep: true }
      for (const root of this.#roots) {
        found = await findRepository(root, { owner, name }, { watch, refuse: reason => reasons.push(reason) })
        if (found.value !== null || !found.keep) break
      }
      if (found.value === null) for (const reason of reasons) this.#onRefused({ owner, name }, reason)
      return found
    })
  }

  #tellCause(name: RepositoryName): (error: unknown) => never {
    return error => {
      if (error instanceof ViewTooLarge || error instanceof DamagedRepository) this.#onRefused(name, error.message)
      throw error
    }
  }

  #answerSignal(): AbortSignal {
    return AbortSignal.any([this.#closing.signal, AbortSignal.timeout(ANSWER_MS)])
  }
}

/** Maps `null` to missing; a full gate, a failure of git, a walk that took too long, or a system error such as EMFILE, to unavailable. */
async function answer<Value>(ask: () => Promise<Value | null>): Promise<HostAnswer<Value>> {
  try {
    const value = await ask()
    return value === null ? { status: 'missing' } : { status: 'ok', value }
  } catch (error) {
    if (error instanceof GateFull) return { status: 'unavailable', retryAfterSeconds: BUSY_SECONDS }
    if (error instanceof DamagedRepository) return { status: 'unavailable', retryAfterSeconds: null, reason: 'damaged' }
    const isOutside = [GitError, UnreadableCommit, UnfinishedWalk, ViewUnavailable].some(kind => error instanceof kind)
    if (isOutside || (error as NodeJS.ErrnoException).syscall !== undefined)
      return { status: 'unavailable', retryAfterSeconds: null }
    throw error
  }
}

/** A file of this name in the git dir makes the repository private. */
const PRIVATE_MARKER = 'mountglass-private'
const NO_DESCRIPTION = /^Unnamed repository; edit this file/

/** What the files of a repository say of it; `null` without a HEAD. */
async function describeRepository(location: RepositoryLocation, watch: Watch): Promise<HostRepository | null> {
  const { owner, name } = location.named
  // Somebody who puts the file beside the `.git` folder wants the same.
  const folders =
    basename(location.commonDir) === '.git' ? [location.commonDir, dirname(location.commonDir)] : [location.commonDir]
  const markers = folders.map(folder => join(folder, PRIVATE_MARKER))
  const descriptionFile = join(location.commonDir, 'description')
  watch(location.commonDir, 'entries')
  const configFile = join(location.commonDir, 'config')
  for (const path of [join(location.gitDir, 'HEAD'), descriptionFile, configFile, ...markers.slice(1)]) watch(path)
  const [head, description, config, ...marks] = await Promise.all([
    readHead(location.gitDir),
    readRealText(descriptionFile),
    readRealText(configFile),
    ...markers.map(marker => lstat(marker).catch(ifAbsent)),
  ])
  if (head === null) return null
  return Object.freeze({
    id: `local-${createHash('sha256').update(`${owner}/${name}`).digest('hex').slice(0, 32)}`,
    host: 'local',
    owner,
    name,
    defaultBranch: 'ref' in head ? head.ref.replace(/^refs\/heads\//, '') : 'HEAD',
    description: shapeDescription(description ?? ''),
    avatar: null,
    visibility: marks.every(mark => mark === null) ? 'public' : 'private',
    ...(namesObjectsBySha256(config ?? '') ? { objectFormat: 'sha256' as const } : {}),
    ...(location.main ? { main: location.main } : {}),
  })
}

function shapeDescription(text: string): string | null {
  const trimmed = text.trim()
  return trimmed === '' || NO_DESCRIPTION.test(trimmed) ? null : truncateCharacters(trimmed, DESCRIPTION_CHARACTERS)
}

/** By `extensions.objectFormat` of git's configuration. */
function namesObjectsBySha256(config: string): boolean {
  return config.split('\n').some(line => /^(?:\[extensions\])?objectformat=sha256$/i.test(line.replace(/[\s"]/g, '')))
}

const KEPT_BYTES = 4 * 1024 * 1024
/** A history that was told in part is not walked again for this time. */
const CUT_MS = 120_000

/** Histories of paths of local repositories, read in private views and kept: what lies behind a commit never changes. */
export class LocalPathHistory {
  readonly #views: PrivateViews
  readonly #concurrency: GitConcurrency
  readonly #times: SearchTimes
  readonly #kept = new LRUCache<string, PathHistory>({ maxSize: KEPT_BYTES, sizeCalculation: memoryOfEntry })
  readonly #reads = createSingleFlight<PathHistory | null>()

  constructor(views: PrivateViews, concurrency: GitConcurrency, times: SearchTimes) {
    this.#views = views
    this.#concurrency = concurrency
    this.#times = times
  }

  /**
   * @param commit one to which a ref of the repository leads
   * @returns `null` for a repository that is not self-contained
   * @throws GateFull, also when the caller waited too long; GitError, UnreadableCommit, ViewUnavailable
   */
  async read(location: RepositoryLocation, commit: CommitSha, paths: readonly string[]): Promise<PathHistory | null> {
    const key = `${location.identity}:${commit}:${createHash('sha256').update(paths.join('\0')).digest('base64')}`
    const kept = this.#kept.get(key)
    if (kept !== undefined) return kept
    const reading = this.#reads.run(key, () => this.#read(key, location, commit, paths))
    return await withTimeout(reading, this.#times.waitMs, () => {
      throw new GateFull()
    })
  }

  async #read(
    key: string,
    location: RepositoryLocation,
    commit: CommitSha,
    paths: readonly string[],
  ): Promise<PathHistory | null> {
    await this.#views.prepare(location, this.#times.signal())
    return await this.#concurrency.history(location.identity, async () => {
      const view = await this.#views.open(location, this.#times.signal())
      if (view === null) return null
      try {
        const history = await readPathHistory(view.gitDir, commit, paths, this.#times.signal())
        this.#kept.set(key, history, history.isCut ? { ttl: CUT_MS } : {})
        return history
      } finally {
        await view.remove()
      }
    })
  }
}
