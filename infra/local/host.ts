import { createHash } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { lstat, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { type CommitSha, isCommitSha } from '#core/commit-sha.ts'
import { createFairGate } from '#core/concurrency/fair-gate.ts'
import { createGate, GateFull } from '#core/concurrency/gate.ts'
import { DESCRIPTION_CHARACTERS } from '#core/limits.ts'
import {
  type GitHost,
  type HostAnswer,
  type HostRepository,
  type HostUrls,
  ReadError,
  type ReadLimits,
  type RepositoryReader,
} from '#core/ports/git-host.ts'
import { encodePath } from '#core/repo-path.ts'
import { truncateCharacters } from '#core/text.ts'
import { isSelfContained, readSmallFile } from '#infra/git/contained.ts'
import { GitError, requireGit } from '#infra/git/process.ts'
import { openRawFile, type RawFile } from '#infra/git/raw-file.ts'
import { openReader } from '#infra/git/reader.ts'
import { type GitView, openView, removeLeftoverViews } from '#infra/git/view.ts'
import { findCommit } from './commits.ts'
import { findPlace, type Place, readHead } from './place.ts'
import { SignedCache, type Watch } from './signed-cache.ts'

/** The git host of a folder of repositories. It also serves their raw files to browsers. */
export interface LocalHost extends GitHost {
  /**
   * The file or link at a path of a commit; `null` when there is none, or no ref leads to the commit.
   * The caller reads `bytes` to the end, or closes it.
   * @throws ReadError when the repository cannot be read now
   */
  readRawFile(repository: HostRepository, commit: string, path: string): Promise<RawFile | null>
}

export interface LocalHostOptions {
  /** Folder of `<owner>/<name>` or `<owner>/<name>.git`: bare repositories, working folders, linked worktrees. */
  root: string
  /** Public origin of the service, which serves the URLs of `urls`. */
  baseUrl: string
}

/** A file of this name in the git dir makes the repository private. */
const PRIVATE_MARKER = 'mountglass-private'
const NO_DESCRIPTION = /^Unnamed repository; edit this file/
const CACHED_PLACES = 10_000
const CACHED_COMMITS = 20_000
/** Concurrent git processes of a few milliseconds each. */
const GIT_PROCESSES = 8
/** Look-ups of refs, of a few milliseconds each. */
const LOOKUPS = { limit: GIT_PROCESSES, limitEach: 4, maxWaitingEach: 256, maxWaiting: 1_024 }
/** Walks of a history, which may take seconds, to prove that a commit belongs to it. They hold no place of a look-up. */
const WALKS = { limit: 4, limitEach: 1, maxWaitingEach: 32, maxWaiting: 128 }
/** Wait that is told when too many questions about a repository wait. */
const BUSY_SECONDS = 2
const ANSWER_MS = 10_000

/** @throws Error when the root does not exist, or git is missing or too old */
export async function openLocalHost(options: LocalHostOptions): Promise<LocalHost> {
  await Promise.all([requireGit(), removeLeftoverViews(new Date())])
  return new LocalGitHost(await realpath(options.root), options.baseUrl)
}

class LocalGitHost implements LocalHost {
  readonly segment = 'local'
  readonly isRemote = false
  readonly urls: HostUrls
  readonly #root: string
  readonly #places = new SignedCache<Place | null>(CACHED_PLACES)
  readonly #repositories = new SignedCache<HostRepository | null>(CACHED_PLACES)
  readonly #commits = new SignedCache<CommitSha | null>(CACHED_COMMITS)
  readonly #throughGate = createGate(GIT_PROCESSES)
  readonly #lookups = createFairGate(LOOKUPS)
  readonly #walks = createFairGate(WALKS)
  readonly #closing = new AbortController()
  readonly #readers = new Set<RepositoryReader>()

  constructor(root: string, baseUrl: string) {
    this.#root = root
    this.urls = {
      raw: ({ owner, name }, commit, path) => `${baseUrl}/git/local/${owner}/${name}/raw/${commit}/${encodePath(path)}`,
    }
    setMaxListeners(0, this.#closing.signal)
  }

  repository(owner: string, name: string): Promise<HostAnswer<HostRepository>> {
    return answer(async () => {
      const place = await this.#place(owner, name)
      if (!place) return null
      const repository = await this.#repositories.get(`${owner}/${name}:${place.identity}`, async watch => ({
        value: await describeRepository(place, owner, name, watch),
        keep: true,
      }))
      return repository && { ...repository }
    })
  }

  resolve({ owner, name }: HostRepository, ref: string | null): Promise<HostAnswer<CommitSha>> {
    return answer(async () => {
      const place = await this.#place(owner, name)
      return place && this.#commit(place, ref)
    })
  }

  async open({ owner, name }: HostRepository, commit: CommitSha, limits: ReadLimits): Promise<RepositoryReader> {
    const view = await this.#openView(owner, name)
    let reader: RepositoryReader | null = null
    reader = await openReader({
      gitDir: view.gitDir,
      commit,
      limits,
      signal: this.#closing.signal,
      release: async () => {
        if (reader) this.#readers.delete(reader)
        await view.remove()
      },
    })
    this.#readers.add(reader)
    return reader
  }

  async #openView(owner: string, name: string): Promise<GitView> {
    try {
      const place = await this.#containedPlace(owner, name)
      if (place) return await openView(place.commonDir)
    } catch (cause) {
      throw new ReadError('index.fetch_failed', 'the repository cannot be read now', { cause })
    }
    throw new ReadError('index.fetch_failed', `there is no repository ${owner}/${name}`)
  }

  async readRawFile({ owner, name }: HostRepository, commit: string, path: string): Promise<RawFile | null> {
    if (!isCommitSha(commit)) return null
    try {
      const place = await this.#containedPlace(owner, name)
      const published = place && (await this.#commit(place, commit))
      if (!published) return null
      const signals = { searching: this.#answerSignal(), reading: this.#closing.signal }
      return await this.#throughGate(() => openRawFile({ commonDir: place.commonDir, commit: published, path, ...signals }))
    } catch (cause) {
      throw new ReadError('index.fetch_failed', 'the file cannot be read now', { cause })
    }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.all([...this.#readers].map(reader => reader.close()))
  }

  #place(owner: string, name: string): Promise<Place | null> {
    return this.#places.get(`${owner}/${name}`, watch => findPlace(this.#root, owner, name, watch))
  }

  /** Checks again that the repository is self-contained: it may have changed since it was found, and an index is kept forever. */
  async #containedPlace(owner: string, name: string): Promise<Place | null> {
    const place = await this.#place(owner, name)
    return place && (await isSelfContained(place.commonDir)) ? place : null
  }

  #commit(place: Place, ref: string | null): Promise<CommitSha | null> {
    const throughGate = ref !== null && isCommitSha(ref) ? this.#walks : this.#lookups
    return this.#commits.get(`${place.identity}:${ref ?? 'HEAD'}`, watch =>
      throughGate(place.commonDir, () => findCommit(place, ref, watch, this.#answerSignal())),
    )
  }

  #answerSignal(): AbortSignal {
    return AbortSignal.any([this.#closing.signal, AbortSignal.timeout(ANSWER_MS)])
  }
}

/** Maps `null` to missing; a full gate, a failure of git, or a system error such as EMFILE, to unavailable. */
async function answer<Value>(ask: () => Promise<Value | null>): Promise<HostAnswer<Value>> {
  try {
    const value = await ask()
    return value === null ? { status: 'missing' } : { status: 'ok', value }
  } catch (error) {
    if (error instanceof GateFull) return { status: 'unavailable', retryAfterSeconds: BUSY_SECONDS }
    if (error instanceof GitError || (error as NodeJS.ErrnoException).syscall !== undefined) {
      return { status: 'unavailable', retryAfterSeconds: null }
    }
    throw error
  }
}

async function describeRepository(place: Place, owner: string, name: string, watch: Watch): Promise<HostRepository | null> {
  const marker = join(place.commonDir, PRIVATE_MARKER)
  const descriptionFile = join(place.commonDir, 'description')
  for (const path of [join(place.gitDir, 'HEAD'), marker, descriptionFile]) watch(path)
  const [head, description, isPrivate] = await Promise.all([
    readHead(place.gitDir),
    readSmallFile(descriptionFile),
    lstat(marker).then(Boolean, () => false),
  ])
  if (head === null) return null
  return {
    id: `local-${createHash('sha256').update(`${owner}/${name}`).digest('hex').slice(0, 32)}`,
    host: 'local',
    owner,
    name,
    defaultBranch: 'ref' in head ? head.ref.replace(/^refs\/heads\//, '') : 'HEAD',
    description: shapeDescription(description ?? ''),
    avatar: null,
    visibility: isPrivate ? 'private' : 'public',
  }
}

function shapeDescription(text: string): string | null {
  const trimmed = text.trim()
  return trimmed === '' || NO_DESCRIPTION.test(trimmed) ? null : truncateCharacters(trimmed, DESCRIPTION_CHARACTERS)
}
