import type { CommitSha } from '#core/commit-sha.ts'
import {
  type BlobSelection,
  type HostRepository,
  ReadError,
  type ReadLimits,
  type RepositoryReader,
} from '#core/ports/git-host.ts'
import type { ListedSizes } from '../git/remote-blobs.ts'
import { openRemoteReader } from '../git/remote-reader.ts'
import type { Remote } from '../git/upload-pack.ts'
import { readGitFailure, transientGitFailure } from './answers.ts'
import type { GitHubApi } from './api.ts'
import type { GitRemotes } from './git-remotes.ts'
import { mapRepository, readSizes } from './map-repository.ts'
import { type RetryTimes, retry } from './retry.ts'

export interface ReadersOptions {
  api: Pick<GitHubApi, 'get'>
  remotes: GitRemotes
  /** Aborts everything under way. */
  closing: AbortSignal
  readRetries: RetryTimes
}

/** Opens repositories at a commit. */
export interface Readers {
  /** @throws ReadError */
  open(
    repository: HostRepository,
    commit: CommitSha,
    limits: ReadLimits,
    selection: BlobSelection | undefined,
  ): Promise<RepositoryReader>
  /** Closes all readers. */
  close(): Promise<void>
}

const SIZES_MS = 20_000
const SIZES_BYTES = 32 * 1024 * 1024

export function createReaders(options: ReadersOptions): Readers {
  return new GitHubReaders(options)
}

class GitHubReaders implements Readers {
  readonly #options: ReadersOptions
  readonly #readers = new Set<RepositoryReader>()

  constructor(options: ReadersOptions) {
    this.#options = options
  }

  async open(
    repository: HostRepository,
    commit: CommitSha,
    limits: ReadLimits,
    selection: BlobSelection | undefined,
  ): Promise<RepositoryReader> {
    try {
      return await this.#openAt(repository, commit, limits, selection)
    } catch (error) {
      const moved = mayHaveMoved(error) ? await this.#renamed(repository) : null
      if (moved === null) throw error
      return this.#openAt(moved, commit, limits, selection)
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#readers].map(reader => reader.close()))
  }

  async #openAt(
    repository: HostRepository,
    commit: CommitSha,
    limits: ReadLimits,
    selection: BlobSelection | undefined,
  ): Promise<RepositoryReader> {
    let reader: RepositoryReader | null = null
    const onClosed = () => {
      if (reader) this.#readers.delete(reader)
    }
    reader = await openRemoteReader({
      commit,
      limits,
      selection,
      signal: this.#options.closing,
      onClosed,
      ask: (question, signal) => this.#askGit(repository, question, signal),
      listSizes: (tree, signal) => this.#listSizes(repository, tree, signal),
    })
    this.#readers.add(reader)
    return reader
  }

  async #askGit<Value>(
    repository: HostRepository,
    question: (remote: Remote) => Promise<Value>,
    signal: AbortSignal,
  ): Promise<Value> {
    const { remotes, readRetries } = this.#options
    const answer = await retry({
      ask: () =>
        remotes.ask(repository, question).then(
          value => ({ value }),
          (error: unknown) => ({ error }),
        ),
      transientFailure: answer => ('error' in answer ? transientGitFailure(answer.error) : null),
      times: readRetries,
      signal,
    })
    if ('error' in answer) throw answer.error
    return answer.value
  }

  async #listSizes(repository: HostRepository, tree: string, signal: AbortSignal): Promise<ListedSizes | null> {
    const answer = await this.#options.api.get(
      '/repos/{owner}/{repo}/git/trees/{tree_sha}',
      { owner: repository.owner, repo: repository.name, tree_sha: tree, recursive: 1 },
      { of: repository, signal, read: readSizes, milliseconds: SIZES_MS, maxBytes: SIZES_BYTES },
    )
    return answer.status === 'ok' ? (answer.data as ListedSizes) : null
  }

  /** The repository under its new name; `null` when the name is the same, or its visibility is another one. */
  async #renamed(repository: HostRepository): Promise<HostRepository | null> {
    const { id, owner, name, visibility } = repository
    const options = { of: repository, subject: 'known' } as const
    const answer = await this.#options.api.get('/repositories/{id}', { id: id.slice('gh-'.length) }, options)
    const found = answer.status === 'ok' ? mapRepository(answer.data) : null
    if (found?.id !== id || found.visibility !== visibility) return null
    return `${found.owner}/${found.name}`.toLowerCase() === `${owner}/${name}`.toLowerCase() ? null : found
  }
}

/** The repository may have been renamed since it was looked up: redirects are not followed, so its new name has to be asked for. */
function mayHaveMoved(error: unknown): boolean {
  if (!(error instanceof ReadError) || error.code !== 'index.fetch_failed') return false
  const { status } = readGitFailure(error.cause, true)
  return status === 'moved' || status === 'missing'
}
