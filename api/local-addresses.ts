import type { FallbackLog } from '#core/ports/fallbacks.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import { type LocalAddresses, openAddresses } from './announcement.ts'
import type { Deps } from './deps.ts'

/** The host of local repositories; `null` where none are served. */
type LocalRepositories = { list(max: number): Promise<{ repositories: HostRepository[]; isComplete: boolean }> } | null

/** Folders that are looked at for addresses. */
const LISTED_FOLDERS = 500
const LISTED_MILLISECONDS = 5_000

/** The addresses of local repositories that everyone may open; `null` also when the folder cannot be listed now. */
export async function listLocal(local: LocalRepositories, deps: Deps, log: FallbackLog): Promise<LocalAddresses | null> {
  try {
    const listed = await local?.list(LISTED_FOLDERS)
    return listed ? { addresses: openAddresses(deps, listed.repositories), isComplete: listed.isComplete } : null
  } catch (error) {
    log.warn({ err: error }, 'the folder of local repositories cannot be listed')
    return null
  }
}

/** The same addresses for visitors, looked up again after a few seconds. */
export function listLately(local: LocalRepositories, deps: Deps, log: FallbackLog): () => Promise<readonly string[]> {
  let listing: Promise<readonly string[]> = Promise.resolve([])
  let listedAt = Number.NEGATIVE_INFINITY
  return () => {
    if (performance.now() - listedAt < LISTED_MILLISECONDS) return listing
    listedAt = performance.now()
    listing = listLocal(local, deps, log).then(listed => listed?.addresses ?? [])
    return listing
  }
}
