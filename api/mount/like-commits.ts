import { LRUCache } from 'lru-cache'
import type { Address } from '#core/address.ts'
import type { CommitSha } from '#core/commit-sha.ts'
import { isShortenedSha } from '#core/commit-sha.ts'
import { createFairGate, GateFull } from '#core/concurrency/fair-gate.ts'
import { createSingleFlight } from '#core/concurrency/single-flight.ts'
import { LIKE_COMMITS } from '#core/limits.ts'
import { entriesAtMost } from '#core/memory.ts'
import type { GitHost, HostRepository } from '#core/ports/git-host.ts'
import type { Deps } from '../deps.ts'
import type { Viewer } from '../people/viewer.ts'
import { openRepository } from './open-mount.ts'

/** Finds the commits that a shortened hash means. */
export type FindLikeCommits = (viewer: Viewer, address: Address, hash: string) => Promise<readonly CommitSha[]>

/** Beginnings of hashes are endless: what was found is kept for a while, and few repositories are searched at once. */
const KEPT_MS = 30_000
const KEPT = 2_000
const AT_ONCE = { limit: 8, limitEach: 1, maxWaitingEach: 16, maxWaiting: 64 }

/**
 * The commits whose hash begins so, `LIKE_COMMITS` at most: of a host that lists its commits those, of another one the tips of branches and tags, and
 * what is indexed here. Each is one that the host shows. Too many questions at once are answered as if there were none.
 */
export function createFindLikeCommits(deps: Deps): FindLikeCommits {
  const kept = new LRUCache<string, readonly CommitSha[]>({ ...entriesAtMost(KEPT), ttl: KEPT_MS })
  const searches = createSingleFlight<readonly CommitSha[]>()
  const inTurn = createFairGate(AT_ONCE)

  return async (viewer, address, hash) => {
    if (!isShortenedSha(hash)) return []
    const { host, repository } = await openRepository(deps, viewer, address)
    const prefix = hash.toLowerCase()
    if (host.commits) return await findListed(host, repository, prefix)
    const key = `${repository.id} ${repository.visibility} ${prefix}`
    const found = kept.get(key)
    if (found) return found
    const search = async () => {
      const commits = await searchHost(host, repository, prefix, deps.snapshots)
      kept.set(key, commits)
      return commits
    }
    return await searches.run(key, () => inTurn(repository.id, search)).catch(ifFull)
  }
}

/** The same for a command that asks once, and of another host only the tips of branches and tags. */
export async function findLikeCommitsAt(host: GitHost, repository: HostRepository, hash: string): Promise<readonly CommitSha[]> {
  if (!isShortenedSha(hash)) return []
  const prefix = hash.toLowerCase()
  return host.commits ? await findListed(host, repository, prefix) : await searchHost(host, repository, prefix)
}

async function findListed(host: GitHost, repository: HostRepository, prefix: string): Promise<readonly CommitSha[]> {
  const known = await host.commits?.(repository)
  return known?.status === 'ok' ? known.value.startingWith(prefix, LIKE_COMMITS) : []
}

async function searchHost(
  host: GitHost,
  repository: HostRepository,
  prefix: string,
  snapshots?: Pick<Deps['snapshots'], 'commitsLike'>,
): Promise<CommitSha[]> {
  const [refs, indexed = []] = await Promise.all([
    host.refs(repository),
    snapshots?.commitsLike(repository, prefix, LIKE_COMMITS),
  ])
  const tips = refs.status === 'ok' ? [...refs.value.values()].filter(oid => oid.startsWith(prefix)) : []
  const candidates = [...new Set([...tips, ...indexed])].slice(0, LIKE_COMMITS) as CommitSha[]
  // What was indexed once may have been withdrawn since, and a tag may lead to something else.
  const answers = await Promise.all(candidates.map(commit => host.resolve(repository, commit)))
  return candidates.filter((_, index) => answers[index]?.status === 'ok')
}

function ifFull(error: unknown): [] {
  if (error instanceof GateFull) return []
  throw error
}
