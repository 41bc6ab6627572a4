import { createHash } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { lstat, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { isCommitSha } from '#core/address.ts'
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
import type { CommitSha } from '#core/snapshot/format.ts'
import { truncateCharacters } from '#core/text.ts'
import { isSelfContained, readSmallFile } from '#infra/git/contained.ts'
import { createGate } from '#infra/git/gate.ts'
import { GitError, requireGit } from '#infra/git/process.ts'
import { openRawFile, type RawFile } from '#infra/git/raw-file.ts'
import { openReader } from '#infra/git/reader.ts'
import { openView } from '#infra/git/view.ts'
import { findCommit } from './commits.ts'
import { findPlace, type Place, readHead } from './place.ts'
import { SignedCache, type Watch } from './signed-cache.ts'

/** The git host of a folder of repositories, which this process also plays for browsers: it serves their raw files. */
export interface LocalHost extends GitHost {
  /**
   * A file of a commit that a ref leads to; `null` when there is no such commit or no file or link at the path.
   * The caller reads `bytes` to the end, or closes it.
   * @throws ReadError when the repository cannot be read now
   */
  readRawFile(repository: HostRepository, commit: string, path: string): Promise<RawFile | null>
}

export interface LocalHostOptions {
  /** Folder of `<owner>/<name>` or `<owner>/<name>.git`: bare repositories, working folders, linked worktrees. */
  root: string
  /** Public origin of the service, which answers the addresses in `urls`. */
  baseUrl: string
}

/** A file of this name in a git dir hides the repository from everyone who is not let in. */
const PRIVATE_MARKER = 'mountglass-private'
const NO_DESCRIPTION = /^Unnamed repository; edit this file/
const HELD_PLACES = 10_000
const HELD_COMMITS = 50_000
/** Short git processes at once; each lives for a few milliseconds. */
const GIT_PROCESSES = 8
const ANSWER_MS = 10_000

/** @throws Error when the root is no folder, or git is missing or too old */
export async function openLocalHost(options: LocalHostOptions): Promise<LocalHost> {
  await requireGit()
  return new LocalGitHost(await realpath(options.root), options.baseUrl)
}

class LocalGitHost implements LocalHost {
  readonly segment = 'local'
  readonly urls: HostUrls
  readonly #root: string
  readonly #places = new SignedCache<Place | null>(HELD_PLACES)
  readonly #repositories = new SignedCache<HostRepository | null>(HELD_PLACES)
  readonly #commits = new SignedCache<CommitSha | null>(HELD_COMMITS)
  readonly #throughGate = createGate(GIT_PROCESSES)
  readonly #closing = new AbortController()
  readonly #readers = new Set<RepositoryReader>()

  constructor(root: string, baseUrl: string) {
    this.#root = root
    this.urls = {
      raw: ({ owner, name }, commit, path) => `${baseUrl}/git/local/${owner}/${name}/raw/${commit}/${encodePath(path)}`,
    }
    setMaxListeners(0, this.#closing.signal)
  }

  async repository(owner: string, name: string): Promise<HostAnswer<HostRepository>> {
    const place = await this.#place(owner, name)
    if (!place) return { status: 'missing' }
    const repository = await this.#repositories.get(`${owner}/${name}:${place.identity}`, async watch => ({
      value: await describeRepository(place, owner, name, watch),
      keep: true,
    }))
    return repository ? { status: 'ok', value: { ...repository } } : { status: 'missing' }
  }

  async resolve({ owner, name }: HostRepository, ref: string | null): Promise<HostAnswer<CommitSha>> {
    const place = await this.#place(owner, name)
    if (!place) return { status: 'missing' }
    try {
      const commit = await this.#commit(place, ref)
      return commit === null ? { status: 'missing' } : { status: 'ok', value: commit }
    } catch (error) {
      if (error instanceof GitError) return { status: 'unavailable', retryAfterSeconds: null }
      throw error
    }
  }

  async open({ owner, name }: HostRepository, commit: CommitSha, limits: ReadLimits): Promise<RepositoryReader> {
    const place = await this.#place(owner, name)
    // Looked at once more: what was found safe may have changed, and an index is kept for ever.
    if (!place || !(await isSelfContained(place.commonDir))) {
      throw new ReadError('index.fetch_failed', 'there is no such repository')
    }
    const view = await openView(place.commonDir)
    const signal = this.#closing.signal
    let reader: RepositoryReader | null = null
    reader = await openReader({
      gitDir: view.gitDir,
      commit,
      limits,
      signal,
      release: async () => {
        if (reader) this.#readers.delete(reader)
        await view.remove()
      },
    })
    this.#readers.add(reader)
    return reader
  }

  async readRawFile({ owner, name }: HostRepository, commit: string, path: string): Promise<RawFile | null> {
    const place = await this.#place(owner, name)
    if (!place || !isCommitSha(commit)) return null
    try {
      const published = await this.#commit(place, commit)
      if (published === null) return null
      return await this.#throughGate(() => openRawFile(place.commonDir, published, path, this.#closing.signal))
    } catch (cause) {
      throw new ReadError('index.fetch_failed', 'the file cannot be read now', { cause })
    }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.all([...this.#readers].map(reader => reader.close()))
  }

  #place(owner: string, name: string): Promise<Place | null> {
    return this.#places.get(`${owner}/${name}`, async watch => ({
      value: await findPlace(this.#root, owner, name, watch),
      keep: true,
    }))
  }

  #commit(place: Place, ref: string | null): Promise<CommitSha | null> {
    return this.#commits.get(`${place.identity}:${ref ?? 'HEAD'}`, watch =>
      this.#throughGate(() => {
        const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(ANSWER_MS)])
        return findCommit(place, ref, watch, signal)
      }),
    )
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
