import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { CommitSha } from '#core/commit-sha.ts'
import { TREE_ENTRIES } from '#core/limits.ts'
import { type GitHost, type HostRepository, ReadError, type ReadLimits, type RepositoryReader } from '#core/ports/git-host.ts'
import type { RepoPath } from '#core/repo-path.ts'
import { openCommit } from './commit.ts'
import { findWorktree, type WorktreePlace } from './place.ts'
import { openWorktree } from './reader.ts'

/** Time for looking at the files of a folder. */
const LOOK_SECONDS = 60

/** A host with one repository: a working folder. Each state of its files is presented as a commit. */
export interface WorktreeHost extends GitHost {
  /** Of the repository that has the folder. */
  readonly repositoryName: { owner: string; name: string }
  /** Path of the folder in its repository. */
  readonly folder: RepoPath
}

/**
 * @param visibility of a private repository every file is served, whatever its license
 * @throws WorktreeError when the folder cannot be read as a working folder
 */
export async function openWorktreeHost(folder: string, visibility: HostRepository['visibility']): Promise<WorktreeHost> {
  const place = await findWorktree(folder)
  const look = () => openWorktree(folder, { treeEntries: TREE_ENTRIES, seconds: LOOK_SECONDS })

  async function stateNow(): Promise<CommitSha> {
    const worktree = await look()
    try {
      return (await worktree.fingerprint()) as CommitSha
    } finally {
      await worktree.close()
    }
  }

  return hostOf(place, visibility, {
    commitNow: stateNow,
    async open(commit): Promise<RepositoryReader> {
      const worktree = await look()
      return Object.assign(worktree, {
        async confirm() {
          if ((await stateNow()) !== commit) throw new ReadError('index.fetch_failed', 'the files changed while they were read')
        },
      })
    },
  })
}

/** The same for a folder of a clone whose files are those of its commit, which is read in their place: it can be told apart from others. */
export function openCommittedHost(
  place: WorktreePlace & { gitDir: string },
  commit: CommitSha,
  visibility: HostRepository['visibility'],
): WorktreeHost {
  return hostOf(place, visibility, {
    commitNow: async () => commit,
    open: (asked, limits, signal) => openCommit(place.gitDir, asked, limits, signal),
  })
}

/** The same for a process that reads the folder once, as it is then. */
export function openFolderOnce(place: WorktreePlace, visibility: HostRepository['visibility']): WorktreeHost {
  return hostOf(place, visibility, {
    commitNow: async () => ONLY_STATE,
    open: () => openWorktree(join(place.root, place.folder), { treeEntries: TREE_ENTRIES, seconds: LOOK_SECONDS }),
  })
}

const ONLY_STATE = '0'.repeat(40) as CommitSha

interface FolderReading {
  commitNow(): Promise<CommitSha>
  /** @param signal aborted when the host is closed */
  open(commit: CommitSha, limits: ReadLimits, signal: AbortSignal): Promise<RepositoryReader>
}

function hostOf(
  { root, folder }: WorktreePlace,
  visibility: HostRepository['visibility'],
  { commitNow, open }: FolderReading,
): WorktreeHost {
  const repository: HostRepository = Object.freeze({
    id: 'local-worktree',
    host: 'local',
    owner: OWNER,
    name: nameOf(root),
    defaultBranch: 'worktree',
    description: null,
    avatar: null,
    visibility,
  })
  const readers = new Set<RepositoryReader>()
  const closing = new AbortController()
  return {
    segment: 'local',
    isRemote: false,
    repositoryName: { owner: OWNER, name: repository.name },
    folder,
    repository: async (owner, name) =>
      owner === OWNER && name === repository.name ? { status: 'ok', value: repository } : { status: 'missing' },
    resolve: async (_repository, ref) => (ref === null ? { status: 'ok', value: await commitNow() } : { status: 'missing' }),
    // The folder is its own only state.
    refs: async () => ({ status: 'ok', value: new Map() }),
    tip: async () => ({ status: 'ok', value: await commitNow() }),
    async open(_repository, commit, limits) {
      const reader = await open(commit, limits, closing.signal)
      const close = reader.close.bind(reader)
      readers.add(reader)
      return Object.assign(reader, {
        close() {
          readers.delete(reader)
          return close()
        },
      })
    },
    urls: { raw: (_repository, _commit, file) => pathToFileURL(join(root, file)).href },
    async close() {
      closing.abort()
      await Promise.all([...readers].map(reader => reader.close()))
    },
  }
}

const OWNER = 'folder'

/** A name that an address can have. */
function nameOf(root: string): string {
  const name = root.split(/[\\/]/).findLast(segment => segment !== '') ?? ''
  const plain = name.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^\.+|(?:\.git)+$/g, '')
  return plain.slice(0, 100) || 'repository'
}
