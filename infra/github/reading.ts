import type { CommitSha } from '#core/commit-sha.ts'
import {
  type BlobSelection,
  type HostRepository,
  ReadError,
  type ReadLimits,
  type RepositoryReader,
} from '#core/ports/git-host.ts'
import type { ToldSizes } from '#infra/git/remote-blobs.ts'
import { openRemoteReader } from '#infra/git/remote-reader.ts'
import type { Remote } from '#infra/git/upload-pack.ts'
import type { GitHubApi } from './api.ts'
import { openArchiveReader } from './archive-reader.ts'
import { readRepository, readSizes, type TreeSizes } from './described.ts'

export interface ReadingOptions {
  api: Pick<GitHubApi, 'get' | 'locate'>
  /** Where people look, without a slash at its end. */
  url: string
  remoteOf(repository: HostRepository): Remote
  /** Without a git program, files come from archives. */
  hasGit: boolean
  /** Ends everything under way. */
  closing: AbortSignal
}

/** Opens repositories at a commit. */
export interface Reading {
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

export function createReading({ api, url, remoteOf, hasGit, closing }: ReadingOptions): Reading {
  const readers = new Set<RepositoryReader>()

  async function openAt(
    repository: HostRepository,
    commit: CommitSha,
    limits: ReadLimits,
    selection: BlobSelection | undefined,
  ): Promise<RepositoryReader> {
    let reader: RepositoryReader | null = null
    const opening = {
      commit,
      limits,
      selection,
      signal: closing,
      onClosed: () => {
        if (reader) readers.delete(reader)
      },
    }
    reader = hasGit
      ? await openRemoteReader({
          ...opening,
          remote: remoteOf(repository),
          tellSizes: (tree, signal) => tellSizes(repository, tree, signal),
        })
      : await openArchiveReader({ ...opening, repository, api, isArchiveUrl })
    readers.add(reader)
    return reader
  }

  async function tellSizes({ owner, name }: HostRepository, tree: string, signal: AbortSignal): Promise<ToldSizes | null> {
    const answer = await api.get(
      '/repos/{owner}/{repo}/git/trees/{tree_sha}',
      { owner, repo: name, tree_sha: tree, recursive: 1 },
      { signal, read: readSizes, milliseconds: SIZES_MS, maxBytes: SIZES_BYTES },
    )
    return answer.status === 'ok' ? (answer.data as TreeSizes) : null
  }

  /** The host itself, or the one beside it that github.com keeps for archives. */
  function isArchiveUrl({ protocol, hostname }: URL): boolean {
    const own = new URL(url)
    return protocol === own.protocol && (hostname === own.hostname || hostname === `codeload.${own.hostname}`)
  }

  /** Under its new name; `null` when it has none that everyone sees. */
  async function movedTo({ id, owner, name }: HostRepository): Promise<HostRepository | null> {
    const answer = await api.get('/repositories/{id}', { id: id.slice('gh-'.length) })
    const found = answer.status === 'ok' ? readRepository(answer.data) : null
    if (found === null || found === 'hidden' || found.id !== id) return null
    return `${found.owner}/${found.name}`.toLowerCase() === `${owner}/${name}`.toLowerCase() ? null : found
  }

  return {
    async open(repository, commit, limits, selection) {
      try {
        return await openAt(repository, commit, limits, selection)
      } catch (error) {
        // It may have been renamed since it was looked up, and nobody is followed to where they like.
        const mayHaveMoved = error instanceof ReadError && error.code === 'index.fetch_failed'
        const moved = mayHaveMoved ? await movedTo(repository) : null
        if (moved === null) throw error
        return openAt(moved, commit, limits, selection)
      }
    },

    async close() {
      await Promise.all([...readers].map(reader => reader.close()))
    },
  }
}
