import type { CommitGraph } from '../commit-graph.ts'
import type { CommitSha } from '../commit-sha.ts'
import type { Repository } from '../contract/mount.ts'

/** A host of git repositories, named by its segment in addresses. */
export interface GitHost {
  /** `gh`, `local`. */
  readonly segment: string

  /** Whether reading fetches objects over a network. */
  readonly isRemote: boolean

  /**
   * The repository, as the host spells it. `missing`: it does not exist or is not visible; the caller cannot tell which.
   * It is frozen: all callers share it.
   */
  repository(owner: string, name: string): Promise<HostAnswer<HostRepository>>

  /**
   * The commit of a ref, for a remote host at most a minute old, or ten minutes while the host cannot be asked. `null` stands for the default
   * branch.
   * A branch wins over a tag of the same name; annotated tags are peeled; a full hash must be reachable from a branch or tag.
   * `missing`: the ref does not exist, or the repository is empty. `gone`: the host no longer shows the repository.
   */
  resolve(repository: HostRepository, ref: string | null): Promise<HostAnswer<CommitSha> | { status: 'gone' }>

  /**
   * The branches and tags of a repository, for a remote host at most a minute old. `missing`: the host does not show the repository.
   * `unavailable` where they are too many to list.
   */
  refs(repository: HostRepository): Promise<HostAnswer<HostRefs>>

  /**
   * The newest commits of all branches and tags, `KNOWN_COMMITS` at most. `missing`: the host does not show the repository. Absent when a host does not
   * tell them cheaply.
   */
  commits?(repository: HostRepository): Promise<HostAnswer<CommitGraph>>

  /** The first parent of a commit; `null` for the first one. Absent when `commits` says it. */
  parent?(repository: HostRepository, commit: CommitSha): Promise<HostAnswer<CommitSha | null>>

  /**
   * The latest commits, from `commit` backwards, that changed a file at one of the paths, in the repository that the host shows. As much as it tells
   * cheaply: `paths` has those that it was asked about. Absent when a host tells no history.
   *
   * @param paths the more important ones first
   */
  history?(repository: HostRepository, commit: CommitSha, paths: readonly string[]): Promise<HostAnswer<PathHistory>>

  /**
   * The commit of the default branch as the host answers now, never a cached one. For what is stored: a visitor is answered by `resolve`.
   * `missing`: the branch does not exist, or the host does not show the repository.
   */
  tip(repository: HostRepository): Promise<HostAnswer<CommitSha>>

  /**
   * Opens the repository at a commit for reading. The caller closes it.
   *
   * @param selection the blobs that the caller will read; ignored by hosts that are not remote
   * @throws ReadError
   */
  open(repository: HostRepository, commit: CommitSha, limits: ReadLimits, selection?: BlobSelection): Promise<RepositoryReader>

  readonly urls: HostUrls

  /** Absent when the host has no accounts. */
  readonly accounts?: AccountDirectory
  /** Absent when accounts of the host have no pictures. */
  readonly avatars?: AvatarSource
  /** Receives the host's messages about changes; absent when it sends none. */
  readonly hook?: HostHook

  /** Remaining requests to the host; `null` while unknown. Absent when the host does not limit them. */
  quota?(): HostQuota | null

  /** What the host lets the operator's credential see, in a sentence for the log; `null` without one, or when the host does not say. */
  describeCredential?(): Promise<string | null>

  close(): Promise<void>
}

/** Object ids by the full names of branches (`refs/heads/…`) and tags (`refs/tags/…`). An annotated tag may have the id of its own object. */
export type HostRefs = ReadonlyMap<string, string>

/** Commits that changed files at some paths. */
export interface PathHistory {
  /** The latest first, `HISTORY_COMMITS` at most. */
  commits: HistoryCommit[]
  /** Those of the requested paths that were looked at. */
  paths: string[]
  /** Whether there may be older commits. */
  isCut: boolean
}

export interface HistoryCommit {
  commit: CommitSha
  /** The first one; `null` when the history begins here. */
  parent: CommitSha | null
  /** ISO 8601, UTC; `null` when it is no date that a calendar has. */
  committedAt: string | null
  /** The first line of the message, visible characters alone, `SUBJECT_CHARACTERS` at most. */
  subject: string
}

/** Requests that a host answers within a window, usually an hour. */
export interface HostQuota {
  limit: number
  remaining: number
  /** End of the window. */
  resetsAt: Date
}

/** Webhook of a host. Optional: without its messages, changes are noticed later. */
export interface HostHook {
  /** Last segment of the webhook's URL, after `/hooks/`. */
  readonly name: string

  /** Maximum size of a message. */
  readonly maxBytes: number

  /** Whether the headers have a signature. The body of a message without one need not be read. */
  isSigned(headers: HookHeaders): boolean

  /** Verifies a message and invalidates the cached answers that it outdates. */
  receive(headers: HookHeaders, body: Uint8Array): Promise<HookAnswer>
}

export type HookHeaders = Readonly<Record<string, string | string[] | undefined>>

export type HookAnswer =
  /** The signature is missing or wrong. */
  | { status: 'forged' }
  /** The signature is right, but the content is not as the host documents it. */
  | { status: 'malformed' }
  /** The message is a duplicate, or of no interest. */
  | { status: 'ignored' }
  /**
   * `commits`: the new commits of refs that this process has resolved. `gone`: ids of repositories that were deleted, or that this deployment may
   * no longer read where they are private.
   */
  | { status: 'heard'; commits: readonly PushedCommit[]; gone: readonly string[] }

export interface PushedCommit {
  repository: HostRepository
  commit: CommitSha
  /** Whether it was pushed to the default branch. */
  isDefault: boolean
}

export interface HostRepository extends Repository {
  /** The host's id of the repository, prefixed by the host segment; consists of `[a-z0-9-]`. Survives a rename. */
  id: string
  /** The host's id of the account, in the form of `id`; absent when the host has no accounts. */
  ownerId?: string
  /** Present where nothing of the repository can be read: hashes of its objects are longer than those that are read here. */
  objectFormat?: 'sha256'
  /** The repository that holds the objects and refs of this one, where it is another: this one is served only if that one may be. */
  main?: { owner: string; name: string }
}

/** The pictures of accounts, asked for as anyone may. */
export interface AvatarSource {
  /**
   * The bytes that the host serves, whatever they are. `missing`: it serves none, more than `maxBytes`, or the URL does not lead to the host.
   *
   * @param url `HostRepository.avatar`, `HostAccount.avatar`
   * @param pixels the size that the host is asked for
   */
  fetch(url: string, pixels: number, maxBytes: number): Promise<HostAnswer<Uint8Array>>
}

/** Accounts of a host and their public repositories, whatever the credential may see. */
export interface AccountDirectory {
  /** @param login in any case; the answer has the host's spelling */
  account(login: string): Promise<HostAnswer<HostAccount>>

  /**
   * A page of the account's public repositories, most recently pushed first.
   *
   * @param page from 1 on; pages after the last one are empty
   */
  repositories(account: HostAccount, page: number): Promise<HostAnswer<ListedPage>>

  /** The public repository, as shown at most a minute ago, or ten minutes while the host cannot be asked. */
  shown(owner: string, name: string): Promise<HostAnswer<HostRepository>>
}

export interface HostAccount {
  /** See `HostRepository.ownerId`. Survives a change of the login. */
  id: string
  host: string
  login: string
  name: string | null
  bio: string | null
  kind: 'organization' | 'user'
  avatar: string | null
  /** The account's page at the host. */
  url: string
  /** As counted by the host. */
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
  /** ISO 8601, UTC; `null` before the first push. */
  pushedAt: string | null
}

export type HostAnswer<Value> =
  | { status: 'ok'; value: Value }
  | { status: 'missing' }
  | { status: 'rate_limited'; retryAfterSeconds: number | null }
  /** `damaged`: the repository lacks objects that its refs name. */
  | { status: 'unavailable'; retryAfterSeconds: number | null; reason?: 'damaged' }

/** URLs of files at the host. */
export interface HostUrls {
  /** URL of a file's bytes at a commit, with every path segment percent-encoded. */
  raw(repository: HostRepository, commit: CommitSha, path: string): string
}

export interface ReadLimits {
  /** Maximum number of tree entries; the reader returns the first ones and sets `cut`. */
  treeEntries: number
  treeDepthSegments: number
  /** Wall time of the whole reading. */
  seconds: number
}

/**
 * The blobs that a caller will read. A remote host fetches them in one batch.
 * Without a selection, the reader gets the sizes of all blobs, and fetches bytes with every `read`.
 */
export interface BlobSelection {
  /**
   * The use of each file, in the order of the files: `bytes`; `size`; `perhaps`, the size and perhaps later the bytes; or `nothing`, for
   * which the size may be `null`.
   */
  usesOf(files: readonly Omit<TreeEntry, 'sizeBytes'>[]): readonly BlobUse[]
  /** The bytes of larger blobs are not fetched. */
  maxBytes: number
  /** So many bytes of blobs of use `perhaps` are fetched with the others, since another request would take longer. Default: none. */
  perhapsBytes?: number
  /**
   * Called once, with the ids of the blobs in use. Returns those for which the caller has bytes and size already. Default: none, so that a
   * small repository may be fetched as a whole.
   */
  heldAmong?(oids: readonly string[]): Promise<ReadonlySet<string>>
}

export type BlobUse = 'bytes' | 'perhaps' | 'size' | 'nothing'

/** One repository at one commit. */
export interface RepositoryReader {
  /** Files, links and submodules below the root, in git's tree order. At most `limits.treeEntries`; `cut` tells whether there are more. */
  entries(): AsyncIterable<TreeEntry>

  /** The date of the commit, ISO 8601, UTC; `null` when it has none. Absent when the reader does not know it. */
  readonly committedAt?: string | null

  /** Whether the tree exceeded the limits. Valid once `entries` ended. */
  readonly cut: boolean

  /**
   * The bytes of blobs, in the order of the ids. `bytes` is `null` when the blob is missing, unreadable, or larger than `maxBytes`.
   * @throws ReadError when the repository cannot be read
   */
  read(oids: Iterable<string>, maxBytes: number): AsyncIterable<{ oid: string; bytes: Uint8Array | null }>

  /**
   * Checks that the repository is still the one that was opened. Called before what was read is published. Absent where nothing can change.
   * @throws ReadError
   */
  confirm?(): Promise<void>

  close(): Promise<void>
}

export interface TreeEntry {
  /** Repository-root path; `null` when its bytes are not UTF-8. */
  path: string | null
  mode: '100644' | '100755' | '120000' | '160000'
  /** Blob id, or the commit of a submodule. A reader without blob ids numbers its files, see `isBlobId`. */
  oid: string
  /** Size of the blob; `null` for a submodule, for a missing blob, and for one that the selection does not use or holds already. */
  sizeBytes: number | null
}

/** Whether an id tells two contents apart: a reader of a working folder has numbers of files, in as many digits. */
export function isBlobId(oid: string): boolean {
  return !oid.startsWith('0'.repeat(24))
}

/** The repository cannot be read. `code`: the error code of the index job. */
export class ReadError extends Error {
  readonly code: 'index.fetch_failed' | 'index.too_large' | 'index.timeout'

  constructor(code: ReadError['code'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ReadError'
    this.code = code
  }
}
