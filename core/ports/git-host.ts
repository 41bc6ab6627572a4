import type { CommitSha } from '../commit-sha.ts'
import type { Repository } from '../contract/mount.ts'

/** A place that holds git repositories, known by its host segment in addresses. */
export interface GitHost {
  /** `gh`, `local`. */
  readonly segment: string

  /** Whether reading fetches over a network; else the objects are at hand. */
  readonly isRemote: boolean

  /** The repository as the host spells it. `missing`: there is none, or the caller may not see it; nobody can tell which. */
  repository(owner: string, name: string): Promise<HostAnswer<HostRepository>>

  /**
   * The commit that a ref names now, or named within the last minute where the host is far away; `null` is the default branch.
   * A branch wins over a tag of the same name; annotated tags are peeled; a full hash must be reachable from a branch or tag.
   * `missing`: no such ref, or the repository is empty. `gone`: the host does not show the repository any more.
   */
  resolve(repository: HostRepository, ref: string | null): Promise<HostAnswer<CommitSha> | { status: 'gone' }>

  /**
   * Opens the repository at a commit for reading. The caller closes it.
   *
   * @param selection what the reading will ask for; a host at whose hand everything lies does not need to know
   * @throws ReadError
   */
  open(repository: HostRepository, commit: CommitSha, limits: ReadLimits, selection?: BlobSelection): Promise<RepositoryReader>

  readonly urls: HostUrls

  /** Absent where there are no accounts to list from. */
  readonly accounts?: AccountDirectory
  /** How the host tells of changes; absent where it does not. */
  readonly hook?: HostHook

  /** What is left of the questions that the host answers; `null` while nobody knows. Absent where nobody counts. */
  quota?(): HostQuota | null

  close(): Promise<void>
}

/** Questions that a host answers within some time, usually an hour. */
export interface HostQuota {
  limit: number
  remaining: number
  /** When all of them are left again. */
  resetsAt: Date
}

/** Messages that a host posts. What they say of a repository is never waited for: without them it is noticed later. */
export interface HostHook {
  /** What follows `/hooks/` in the address that the host is given. */
  readonly name: string

  /** Bytes of the largest message. */
  readonly maxBytes: number

  /** Whether it is worth reading the body of a message with these headers. */
  isSigned(headers: HookHeaders): boolean

  /** Checks a message, and forgets at once what it says is no longer true. */
  receive(headers: HookHeaders, body: Uint8Array): HookAnswer
}

export type HookHeaders = Readonly<Record<string, string | string[] | undefined>>

export type HookAnswer =
  /** It does not come from the host. */
  | { status: 'forged' }
  /** It comes from the host and is not as the host describes it. */
  | { status: 'malformed' }
  /** It says nothing new. */
  | { status: 'ignored' }
  /** `commits`: what refs that somebody has opened point at from now on. */
  | { status: 'heard'; commits: readonly PushedCommit[] }

export interface PushedCommit {
  repository: HostRepository
  commit: CommitSha
  /** It was pushed to the default branch. */
  isDefault: boolean
}

export interface HostRepository extends Repository {
  /** The host's own id with the host segment before it, of `[a-z0-9-]`; survives a rename. */
  id: string
  /** The account's own id, made like `id`; absent where the host has no accounts. */
  ownerId?: string
}

/** What a host shows of its accounts to everyone, whoever asks. */
export interface AccountDirectory {
  /** Any case; the answer has the host's spelling. */
  account(login: string): Promise<HostAnswer<HostAccount>>

  /**
   * A page of the account's public repositories, most recently pushed first.
   *
   * @param page from 1 on; a page behind the last one is empty
   */
  repositories(account: HostAccount, page: number): Promise<HostAnswer<ListedPage>>

  /** The repository as the host shows it to everyone, at most a minute ago. */
  shown(owner: string, name: string): Promise<HostAnswer<HostRepository>>
}

export interface HostAccount {
  /** Survives a change of the login; see `HostRepository.ownerId`. */
  id: string
  host: string
  login: string
  name: string | null
  bio: string | null
  kind: 'organization' | 'user'
  avatar: string | null
  /** The account's page at the host. */
  url: string
  /** As the host counts. */
  publicRepositories: number
}

export interface ListedPage {
  items: ListedRepository[]
  hasNext: boolean
}

export interface ListedRepository {
  /** See `HostRepository.id`. */
  id: string
  owner: string
  name: string
  description: string | null
  fork: boolean
  archived: boolean
  stars: number
  /** ISO 8601, UTC; `null` when nobody has pushed yet. */
  pushedAt: string | null
}

export type HostAnswer<Value> =
  | { status: 'ok'; value: Value }
  | { status: 'missing' }
  | { status: 'rate_limited'; retryAfterSeconds: number | null }
  | { status: 'unavailable'; retryAfterSeconds: number | null }

/** Where people and browsers find a file at the host. */
export interface HostUrls {
  /** A file's bytes at a commit, every path segment percent-encoded. */
  raw(repository: HostRepository, commit: CommitSha, path: string): string
}

export interface ReadLimits {
  /** Tree entries after which reading stops; what was seen until then counts. */
  treeEntries: number
  treeDepthSegments: number
  /** Wall time of all reading. */
  seconds: number
}

/**
 * What a reading will ask of the blobs. A host over a network is told before it brings any, and brings them all at once.
 * Without a selection the sizes of all blobs are told, and bytes are brought by every `read`.
 */
export interface BlobSelection {
  /**
   * What is asked of each file, in the order of the files: its `bytes`, its `size` alone, or `nothing`: then its size may be `null`.
   */
  usesOf(files: readonly Omit<TreeEntry, 'sizeBytes'>[]): readonly BlobUse[]
  /** The bytes of larger blobs are not brought. */
  maxBytes: number
  /** Asked once, of the blobs that would be brought or asked about: those of which the caller needs neither bytes nor size. */
  heldAmong?(oids: readonly string[]): Promise<ReadonlySet<string>>
}

export type BlobUse = 'bytes' | 'size' | 'nothing'

/** One repository at one commit. */
export interface RepositoryReader {
  /** Every entry below the root except folders, in git's tree order. At most `limits.treeEntries`; `cut` tells whether there were more. */
  entries(): AsyncIterable<TreeEntry>

  /** Known once `entries` ended: the tree was larger or deeper than the limits. */
  readonly cut: boolean

  /**
   * The bytes of blobs, in the order asked for. `bytes` is `null` when the blob is missing, unreadable, or larger than `maxBytes`.
   * @throws ReadError when the repository as a whole cannot be read
   */
  read(oids: Iterable<string>, maxBytes: number): AsyncIterable<{ oid: string; bytes: Uint8Array | null }>

  close(): Promise<void>
}

export interface TreeEntry {
  /** Repository-root path; `null` when its bytes are not UTF-8. */
  path: string | null
  mode: '100644' | '100755' | '120000' | '160000'
  /** Blob id, or the commit of a submodule. */
  oid: string
  /** Bytes of the blob; `null` for a submodule, when the blob is missing, and when the selection asks nothing of it or holds it. */
  sizeBytes: number | null
}

/** The repository cannot be read. `code` is what the index job fails with. */
export class ReadError extends Error {
  readonly code: 'index.fetch_failed' | 'index.too_large' | 'index.timeout'

  constructor(code: ReadError['code'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ReadError'
    this.code = code
  }
}
