import { LRUCache } from 'lru-cache'
import { type Address, parseAddress } from '#core/address.ts'
import { mapFew } from '#core/concurrency/map-few.ts'
import { withTimeout } from '#core/concurrency/timeout.ts'
import { ServiceError } from '#core/errors.ts'
import type { ListedFacts, ListedState, PeekedRepository } from '#core/listed-repositories.ts'
import { entriesAtMost } from '#core/memory.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import { countsInMount } from '#core/snapshot/format.ts'
import type { Deps } from '../deps.ts'
import { readFolder } from '../mount/folder.ts'
import { type ReadyMount, resolveMount } from '../mount/open-mount.ts'
import { ANONYMOUS } from '../people/viewer.ts'
import { listFindings } from '../reading/findings.ts'
import type { Snapshot } from '../snapshot/snapshot-reader.ts'

/** Addresses that are asked about at once, and the time for all of a list. */
const AT_ONCE = 8
const PEEK_MS = 1_500
/** How many lists are kept, those of the front page and of owners, and how long their answers are given again. */
const KEPT_LISTS = 20
const KEPT_MS = 5_000

type Peeked = PeekedRepository | null
type Peek = (addresses: readonly string[]) => Promise<readonly Peeked[]>

/** Implements `ListedRepositories.peek`. Hosts are asked as a stranger, so that every visitor gets the same list. */
export function peekReader(deps: Deps): Peek {
  const kept = new LRUCache<string, ReturnType<Peek>>({ ...entriesAtMost(KEPT_LISTS), ttl: KEPT_MS })
  return addresses => {
    const list = addresses.join('\n')
    const known = kept.get(list)
    if (known) return known
    const end = performance.now() + PEEK_MS
    const answer = mapFew(addresses, address => peekInTime(deps, address, end - performance.now()), AT_ONCE)
    kept.set(list, answer)
    // A failure is not given again.
    answer.catch(() => {
      if (kept.peek(list) === answer) kept.delete(list)
    })
    return answer
  }
}

async function peekInTime(deps: Deps, address: string, leftMs: number): Promise<Peeked> {
  const late = { address, description: null, state: { kind: 'late' } } as const
  return leftMs <= 0 ? late : await withTimeout(peek(deps, address), leftMs, () => late)
}

async function peek(deps: Deps, text: string): Promise<Peeked> {
  try {
    const hosts = deps.hosts.map(host => host.segment)
    const mount = await openIndexed(deps, parseAddress(text, hosts))
    return { address: text, description: mount.repository.description, state: await readState(deps, mount) }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const state = stateOfError(error)
    return state && { address: text, description: null, state }
  }
}

/** `null` for what not everyone may open. */
function stateOfError({ code, details }: ServiceError): ListedState | null {
  if (code === 'mount.ref_not_found') return details.reason === 'empty' ? { kind: 'empty' } : { kind: 'unavailable' }
  if (code === 'mount.unavailable' && details.reason === 'damaged') return { kind: 'damaged' }
  return code === 'mount.repo_not_found' || code === 'mount.not_allowed' ? null : { kind: 'unavailable' }
}

/** A resolved address, with its snapshot if it is indexed. */
export interface IndexedMount extends Awaited<ReturnType<typeof resolveMount>> {
  snapshot: Snapshot | null
}

/** Opens an address as everyone may, and starts no index job. @throws ServiceError as `openMount` */
export async function openIndexed(deps: Deps, requested: Address): Promise<IndexedMount> {
  const mount = await resolveMount(deps, ANONYMOUS, requested)
  return { ...mount, snapshot: await deps.snapshots.open(mount.repository, mount.commit) }
}

async function readState(deps: Deps, mount: IndexedMount): Promise<ListedState> {
  const { repository, commit, snapshot } = mount
  if (snapshot === null) return await readJobState(deps, { repository, commit })
  const ready = await readyMount({ ...mount, snapshot })
  return ready === null ? { kind: 'unavailable' } : { kind: 'ready', facts: await readFacts(deps, ready) }
}

/** `null` if the snapshot lacks the folder of the address. */
export async function readyMount(mount: IndexedMount & { snapshot: Snapshot }): Promise<ReadyMount | null> {
  const folder = await readFolder(mount.snapshot, mount.address.path)
  return folder && { ...mount, status: 'ready', folder }
}

async function readJobState(
  { queue }: Pick<Deps, 'queue'>,
  job: { repository: HostRepository; commit: IndexedMount['commit'] },
): Promise<ListedState> {
  const state = await queue.peek(job)
  if (state === null) return { kind: 'unread' }
  return state.status === 'failed' ? { kind: 'failed', errorCode: state.errorCode } : { kind: 'indexing' }
}

async function readFacts(deps: Deps, mount: ReadyMount): Promise<ListedFacts> {
  const { address, folder, snapshot } = mount
  const [manifest, found] = await Promise.all([
    folder.manifest === undefined ? null : snapshot.get('manifests', folder.manifest),
    listFindings(deps, mount, { limit: 1 }),
  ])
  const counts = countsInMount(address.path, folder)
  return {
    sentence: manifest?.description ?? folder.overview?.description ?? null,
    language: manifest?.language ?? null,
    skills: counts.skills,
    documents: counts.documents,
    withheld: (folder.described?.skills ?? 0) + (folder.described?.documents ?? 0),
    license: folder.license,
    findings: found.counts.look + found.counts.breaks + found.counts.style,
    changedAt: snapshot.header.committedAt ?? null,
  }
}
