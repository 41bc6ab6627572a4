import { type Address, atPath, canonicalRef } from '#core/address.ts'
import type { ChangeSide, ChangesAnswer } from '#core/contract/changes.ts'
import { type RepoPath, ROOT } from '#core/repo-path.ts'
import type { Deps } from '../deps.ts'
import type { AnswerSource } from '../http/entity-tag.ts'
import { type OpenMount, openMount, type ReadyMount } from '../mount/open-mount.ts'
import type { Viewer } from '../people/viewer.ts'
import type { CursorBinding } from './cursor.ts'

/** Both sides of a comparison that are indexed. They are opened at the root: the mounted folder may be on one side only. */
export interface ReadySides {
  from: ReadyMount
  to: ReadyMount
  /** The mounted folder. */
  mounted: RepoPath
  /** As answers say them. */
  described: { from: ChangeSide; to: ChangeSide }
}

/** A request for a comparison. */
export interface SidesRequest {
  viewer: Viewer
  subject: Address
  /** The ref of the old side. */
  from: string
  /** Told what the answer is made of once both sides are ready. May throw. */
  onSource?: ((source: AnswerSource) => void) | undefined
}

type StateOfSides = Extract<ChangesAnswer, { status: 'indexing' | 'failed' }>

/**
 * Opens both sides for a viewer, and offers a job for each that is not indexed.
 *
 * @returns the sides, or the state of the index that is the answer until both are ready
 * @throws ServiceError as `openMount`
 */
export async function openSides(
  deps: Deps,
  { viewer, subject, from: ref, onSource }: SidesRequest,
): Promise<ReadySides | StateOfSides> {
  const root = atPath(subject, ROOT)
  const [from, to] = await Promise.all([
    openMount(deps, viewer, { ...root, ref: canonicalRef(ref) }),
    openMount(deps, viewer, root),
  ])
  const described = { from: describeSide(from), to: describeSide(to) }
  if (from.status !== 'ready' || to.status !== 'ready') return stateOf(from, to, described)
  const { repository, commit, snapshot, address } = to
  onSource?.({ address: atPath(address, subject.path), repository, commit, snapshot, from })
  return { from, to, mounted: subject.path, described }
}

function stateOf(from: OpenMount, to: OpenMount, described: ReadySides['described']): StateOfSides {
  const { commit } = to
  const failed = [to, from].find(mount => mount.status === 'failed')
  if (failed?.status !== 'failed') return { status: 'indexing', commit, ...described }
  const { errorCode, retryAt } = failed
  return { status: 'failed', commit, ...described, errorCode, retryAt }
}

function describeSide(mount: OpenMount): ChangeSide {
  const { address, commit } = mount
  if (mount.status !== 'failed') return { ref: address.ref, commit, status: mount.status }
  const { errorCode, retryAt } = mount
  return { ref: address.ref, commit, status: 'failed', errorCode, retryAt }
}

/** Cursors belong to both commits, and to every parameter but `limit`. */
export function bindingOf({ from, to, mounted }: ReadySides, parameters: Readonly<Record<string, string>>): CursorBinding {
  return {
    route: 'changes',
    repositoryId: to.repository.id,
    commit: to.commit,
    parameters: { mount: mounted, fromCommit: from.commit, ...parameters },
  }
}
