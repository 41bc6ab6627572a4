import { z } from 'zod'
import type { CommitSha } from '#core/commit-sha.ts'
import { mapFew } from '#core/concurrency/map-few.ts'
import { ServiceError } from '#core/errors.ts'
import { STATUS_REPOSITORIES } from '#core/limits.ts'
import { explainMissingRef } from '#core/missing-ref.ts'
import type { OwnerListings } from '#core/owner-listings.ts'
import type { GitHost, HostRepository } from '#core/ports/git-host.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { ROOT } from '#core/repo-path.ts'
import { JobEntry, LastIndexed } from '#core/snapshot/index-state.ts'
import { jobKey, lastIndexedKey, queueKey } from '#core/snapshot/store-keys.ts'
import type { FeaturedAddress } from '../operator/operator-content.ts'
import type { Snapshot, SnapshotReader } from '../snapshot/snapshot-reader.ts'
import { DamagedSnapshot } from '../snapshot/unavailable.ts'
import { findInFolder } from './findings.ts'

/** A repository as `mountglass status --json` prints it. */
const RepositoryStatus = z.object({
  /** `local/acme/tools` */
  repository: z.string(),
  /** Of the default branch; `null` where there is none, or it is not known. */
  commit: z.string().nullable(),
  /** `stale`: another commit is indexed, this one is not yet. */
  state: z.enum(['ready', 'indexing', 'failed', 'damaged', 'empty', 'stale', 'not_indexed']),
  /** A code: why it failed, what is damaged, or why it is stale. */
  cause: z.string().optional(),
  /** Of a stale one, the commit that is indexed, which the numbers are of. */
  indexed: z.string().optional(),
  /** The numbers are `null` until the default branch is indexed. */
  skills: z.int().min(0).nullable(),
  /** Skills and documents whose license permits only a description. */
  withheld: z.int().min(0).nullable(),
  findings: z.int().min(0).nullable(),
})
export type RepositoryStatus = z.infer<typeof RepositoryStatus>

export const StatusReport = z.object({
  format: z.literal(1),
  repositories: z.array(RepositoryStatus),
  /** There are more repositories than are looked at. */
  truncated: z.boolean(),
})
export type StatusReport = z.infer<typeof StatusReport>

/** A status, and whether its repository may be named on a page. */
export interface NamedStatus {
  status: RepositoryStatus
  isPrivate: boolean
}

export interface StatusSources {
  /** Lists what lies in the folder of local repositories. */
  local: { list(max: number): Promise<{ repositories: HostRepository[]; isComplete: boolean }> }
  hosts: readonly GitHost[]
  states: Pick<StateStore, 'read'>
  listings: Pick<OwnerListings, 'all'>
  /** Of its own, without repairs: reading starts no job. */
  snapshots: SnapshotReader
  featured: readonly FeaturedAddress[]
}

const READS_AT_ONCE = 8

/**
 * The repositories of a deployment: local ones, those that the operator features, and those of other hosts that are indexed, each by its default
 * branch. Starts no job. A host is asked about featured repositories alone.
 */
export async function readStatus(sources: StatusSources): Promise<{ repositories: NamedStatus[]; isComplete: boolean }> {
  const [local, indexed] = await Promise.all([sources.local.list(STATUS_REPOSITORIES), sources.listings.all(STATUS_REPOSITORIES)])
  const known = new Map<string, () => Promise<NamedStatus>>()
  const add = (name: string, read: () => Promise<NamedStatus>) => {
    if (!known.has(name)) known.set(name, read)
  }
  for (const repository of local.repositories) add(nameOf(repository), () => statusOf(sources, repository))
  for (const { address } of sources.featured) {
    const { host, owner, repository: name } = address
    add(nameOf({ host, owner, name }), () => statusOfFeatured(sources, { host, owner, name }))
  }
  for (const { repository, commit } of indexed.listings) {
    add(nameOf(repository), () => statusAt(sources, repository, commit))
  }
  const names = [...known.keys()].sort()
  const shown = names.slice(0, STATUS_REPOSITORIES)
  const repositories = await mapFew(shown, name => (known.get(name) as () => Promise<NamedStatus>)(), READS_AT_ONCE)
  return { repositories, isComplete: local.isComplete && indexed.isComplete && names.length <= STATUS_REPOSITORIES }
}

type Named = Pick<HostRepository, 'host' | 'owner' | 'name'>

function nameOf({ host, owner, name }: Named): string {
  return `${host}/${owner}/${name}`
}

type State = Pick<RepositoryStatus, 'commit' | 'state' | 'cause'>

const UNKNOWN = { skills: null, withheld: null, findings: null }

function told(named: Named, state: State, isPrivate: boolean): NamedStatus {
  return { status: { repository: nameOf(named), ...state, ...UNKNOWN }, isPrivate }
}

/** A repository that its host does not show may have become private, so no page names it. */
async function statusOfFeatured(sources: StatusSources, named: Named): Promise<NamedStatus> {
  const host = sources.hosts.find(({ segment }) => segment === named.host)
  const found = await host?.repository(named.owner, named.name).catch(() => null)
  if (found?.status === 'ok') return await statusOf(sources, found.value)
  const cause = found?.status === 'missing' ? 'mount.repo_not_found' : 'mount.unavailable'
  return told(named, { commit: null, state: 'failed', cause }, true)
}

async function statusOf(sources: StatusSources, repository: HostRepository): Promise<NamedStatus> {
  const isPrivate = repository.visibility === 'private'
  const host = sources.hosts.find(({ segment }) => segment === repository.host)
  const resolved = await host?.resolve(repository, null).catch(() => null)
  switch (resolved?.status) {
    case 'ok':
      return await statusAt(sources, repository, resolved.value)
    case 'missing': {
      const { reason } = await explainMissingRef(host as GitHost, repository, { ref: null, path: ROOT }).catch(() => ({
        reason: null,
      }))
      const state: State =
        reason === 'empty' ? { commit: null, state: 'empty' } : { commit: null, state: 'failed', cause: 'mount.ref_not_found' }
      return told(repository, state, isPrivate)
    }
    case 'gone':
      return told(repository, { commit: null, state: 'failed', cause: 'mount.repo_not_found' }, isPrivate)
    default: {
      const isDamaged = resolved?.status === 'unavailable' && resolved.reason === 'damaged'
      return told(repository, { commit: null, state: isDamaged ? 'damaged' : 'failed', cause: 'mount.unavailable' }, isPrivate)
    }
  }
}

async function statusAt(sources: StatusSources, repository: HostRepository, commit: CommitSha): Promise<NamedStatus> {
  const isPrivate = repository.visibility === 'private'
  try {
    const snapshot = await sources.snapshots.open(repository, commit)
    if (snapshot === null) {
      const state = await stateOfJob(sources.states, repository, commit)
      const earlier = state.state === 'not_indexed' ? await indexedBefore(sources, repository) : null
      if (earlier === null) return told(repository, state, isPrivate)
      const stale = { commit, state: 'stale', cause: STALE, indexed: earlier.commit } as const
      return { status: { repository: nameOf(repository), ...stale, ...(await numbersOf(earlier.snapshot)) }, isPrivate }
    }
    const numbers = await numbersOf(snapshot)
    return { status: { repository: nameOf(repository), commit, state: 'ready', ...numbers }, isPrivate }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const state = error.cause instanceof DamagedSnapshot ? 'damaged' : 'failed'
    return told(repository, { commit, state, cause: error.code }, isPrivate)
  }
}

/** Why a repository is stale: no visit has asked for its newest commit. */
const STALE = 'index.older_commit'

/** The commit that was indexed last, of whatever branch; `null` where there is none that can be read. */
async function indexedBefore(
  { states, snapshots }: StatusSources,
  repository: HostRepository,
): Promise<{ commit: CommitSha; snapshot: Snapshot } | null> {
  const stored = await states.read(lastIndexedKey(repository))
  const commit = LastIndexed.safeParse(stored?.value).data?.commit
  if (commit === undefined) return null
  const snapshot = await snapshots.open(repository, commit).catch((error: unknown) => {
    if (error instanceof ServiceError) return null
    throw error
  })
  return snapshot && { commit, snapshot }
}

async function numbersOf(snapshot: Snapshot): Promise<Pick<RepositoryStatus, 'skills' | 'withheld' | 'findings'>> {
  const { folder } = snapshot.header.root
  const { counts } = await findInFolder(snapshot, ROOT, folder)
  const { skills, documents } = folder.described ?? { skills: 0, documents: 0 }
  return { skills: folder.counts.skills, withheld: skills + documents, findings: counts.look + counts.breaks + counts.style }
}

async function stateOfJob(states: StatusSources['states'], repository: HostRepository, commit: CommitSha): Promise<State> {
  const stored = await states.read(jobKey(repository, commit))
  const entry = JobEntry.safeParse(stored?.value).data
  if (entry?.state === 'failed') return { commit, state: 'failed', cause: entry.errorCode }
  const isWaiting = entry !== undefined || (await states.read(queueKey(repository, commit))) !== null
  return { commit, state: isWaiting ? 'indexing' : 'not_indexed' }
}
