import type { Address } from '#core/address.ts'
import { type CommitSha, isCommitSha } from '#core/commit-sha.ts'
import type { IndexErrorCode, IndexProgress, IndexStage } from '#core/contract/shared.ts'
import { ServiceError } from '#core/errors.ts'
import { explainMissingRef } from '#core/missing-ref.ts'
import type { GitHost, HostAnswer, HostRepository } from '#core/ports/git-host.ts'
import type { FolderRow } from '#core/snapshot/format.ts'
import type { Deps } from '../deps.ts'
import type { RepositoryName } from '../operator/repository-rule.ts'
import type { Viewer } from '../people/viewer.ts'
import type { Snapshot } from '../snapshot/snapshot-reader.ts'
import { ReplacedSnapshot } from '../snapshot/unavailable.ts'
import { readFolder } from './folder.ts'
import { requestIndexing } from './request-indexing.ts'
import { findVisible } from './visible-repository.ts'

/** A resolved address with the state of its index. */
export type OpenMount = ReadyMount | IndexingMount | FailedMount

export interface ResolvedMount {
  /** In the host's spelling. */
  address: Address
  host: GitHost
  repository: HostRepository
  commit: CommitSha
  /** The ref is a full commit hash. */
  pinned: boolean
  /** The default branch was requested, by its name or without a ref. */
  isDefault: boolean
}

export interface ReadyMount extends ResolvedMount {
  status: 'ready'
  snapshot: Snapshot
  /** The mounted folder. */
  folder: FolderRow
}

export interface IndexingMount extends ResolvedMount {
  status: 'indexing'
  /** Absent while the job waits for its turn. */
  stage?: IndexStage
  progress?: IndexProgress
}

export interface FailedMount extends ResolvedMount {
  status: 'failed'
  errorCode: IndexErrorCode
  /** ISO 8601 instant after which the next request starts another try. */
  retryAt: string
}

/** What is done with a mount before it is read. */
export interface BeforeReading {
  /** Told of a mount that is ready. What it throws, no read comes before. */
  onReady?: (mount: Omit<ReadyMount, 'status' | 'folder'>) => void
  /** Reads what the answer will need, beside the mounted folder, which saves a round of reads. */
  readAhead?: (snapshot: Snapshot) => Promise<unknown>
}

/**
 * Resolves an address for a viewer: asks the git host for the repository and the commit, then the store for the snapshot.
 * Without a snapshot, offers a job and returns its state; no request waits for indexing.
 *
 * @throws ServiceError `address.unknown_host`, `mount.*`, `auth.*`, or `skill.unavailable` when the store does not answer or the snapshot is damaged
 */
export async function openMount(
  deps: Deps,
  viewer: Viewer,
  requested: Address,
  { onReady, readAhead }: BeforeReading = {},
): Promise<OpenMount> {
  const mount = await resolveMount(deps, viewer, requested)
  const { address, repository, commit, isDefault } = mount
  const snapshot = await deps.snapshots.open(repository, commit)
  if (snapshot === null) {
    const job = { repository, commit, ...(isDefault ? { isDefault } : {}) }
    return { ...mount, ...(await requestIndexing(deps, job)) }
  }
  deps.hidden.opened(requested, repository)
  onReady?.({ ...mount, snapshot })

  // A failure is dropped here: the read that needs the same bytes meets it again and reports it.
  const ahead = readAhead?.(snapshot).catch(() => {})
  const [folder] = await Promise.all([readFolder(snapshot, address.path), ahead])
  if (folder === null) throw new ServiceError('mount.path_not_found')
  return { ...mount, status: 'ready', snapshot, folder }
}

/** The repository of an address that the viewer may see. @throws ServiceError `address.unknown_host`, `mount.*` */
export async function openRepository(
  deps: Deps,
  viewer: Viewer,
  requested: Address,
): Promise<Pick<ResolvedMount, 'address' | 'host' | 'repository'>> {
  const host = deps.hosts.find(candidate => candidate.segment === requested.host)
  if (!host) throw new ServiceError('address.unknown_host')
  requireServed(deps, requested)
  const repository = await requireVisible(deps, viewer, host, requested)
  const address = inHostSpelling(requested, repository)
  if (address !== requested) requireServed(deps, address)
  const { main, objectFormat } = repository
  if (main) requireServed(deps, { ...address, owner: main.owner, repository: main.name })
  if (objectFormat) throw new ServiceError('mount.not_allowed', { case: objectFormat })
  return { address, host, repository }
}

/** The repository and the commit of an address. @throws ServiceError `address.unknown_host`, `mount.*`, `auth.*` */
export async function resolveMount(deps: Deps, viewer: Viewer, requested: Address): Promise<ResolvedMount> {
  const { address, host, repository } = await openRepository(deps, viewer, requested)
  const resolved = await host.resolve(repository, address.ref)
  if (resolved.status === 'gone') throw new ServiceError('mount.repo_not_found')
  if (resolved.status === 'missing')
    throw new ServiceError('mount.ref_not_found', await explainMissingRef(host, repository, address))
  const commit = requireValue(resolved, 'mount.ref_not_found')
  const pinned = address.ref !== null && isCommitSha(address.ref) && address.ref.toLowerCase() === commit
  const isDefault = address.ref === null || address.ref === repository.defaultBranch
  return { address, host, repository, commit, pinned, isDefault }
}

function inHostSpelling(requested: Address, { owner, name }: HostRepository): Address {
  if (requested.owner === owner && requested.repository === name) return requested
  return { ...requested, owner, repository: name }
}

/** @throws ServiceError `mount.repo_not_found` when there is no repository that the viewer may see, and what `findVisible` throws */
async function requireVisible(deps: Deps, viewer: Viewer, host: GitHost, requested: Address): Promise<HostRepository> {
  const { names, hidden } = deps
  const found = await findVisible(deps, viewer, host, requested)
  if (found.status === 'missing') hidden.missing(requested)
  if (found.status === 'ok' && found.value.visibility === 'public') names.notePublic(requested)
  else if (found.status === 'ok' || found.status === 'missing') names.noteHidden(requested)
  return requireValue(found, 'mount.repo_not_found')
}

/** @throws ServiceError `mount.not_allowed` */
function requireServed(deps: Deps, repository: Address): void {
  if (!isServed(deps, repository)) throw new ServiceError('mount.not_allowed')
}

/** Whether the operator lets this deployment serve the repository. */
export function isServed(deps: Pick<Deps, 'allow' | 'deny'>, repository: RepositoryName): boolean {
  const allowed = deps.allow === null || deps.allow.some(rule => rule(repository))
  return allowed && !deps.deny.some(rule => rule(repository))
}

export function requireValue<Value>(
  answer: HostAnswer<Value>,
  missing: 'mount.repo_not_found' | 'mount.ref_not_found' | 'owner.not_found',
): Value {
  switch (answer.status) {
    case 'ok':
      return answer.value
    case 'missing':
      throw new ServiceError(missing)
    case 'rate_limited':
    case 'unavailable': {
      if (answer.status === 'unavailable' && answer.reason === 'damaged')
        throw new ServiceError('mount.unavailable', { reason: 'damaged', case: 'damaged' })
      const code = answer.status === 'rate_limited' ? 'mount.rate_limited' : 'mount.unavailable'
      throw new ServiceError(code, answer.retryAfterSeconds === null ? {} : { retryAfter: answer.retryAfterSeconds })
    }
  }
}

/**
 * Answers from the mount of an address, and once more where the snapshot was replaced.
 *
 * @throws ServiceError as `openMount` and `answer`
 */
export function answerFromMount<Answer>(
  deps: Deps,
  { viewer, subject }: { viewer: Viewer; subject: Address },
  answer: (mount: OpenMount) => Promise<Answer>,
  before?: BeforeReading,
): Promise<Answer> {
  return againIfReplaced(async () => answer(await openMount(deps, viewer, subject, before)))
}

/**
 * A repair may replace a snapshot, and a sweep remove it, while it is read or since its header was cached: then it is opened and read once more.
 *
 * @throws whatever `read` throws
 */
export async function againIfReplaced<Answer>(read: () => Promise<Answer>): Promise<Answer> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof ServiceError && error.cause instanceof ReplacedSnapshot) return await read()
    throw error
  }
}
