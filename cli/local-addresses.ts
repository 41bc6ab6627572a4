import type { Deps } from '#api/deps.ts'
import { REFERENCE_REPOSITORY } from '#api/operator/operator-content.ts'
import type { FallbackLog } from '#core/ports/fallbacks.ts'
import type { HostAnswer, HostRepository } from '#core/ports/git-host.ts'
import { type LocalAddresses, openAddresses } from './announcement.ts'

/** The host of local repositories. */
type LocalRepositories = {
  list(max: number): Promise<{ repositories: HostRepository[]; isComplete: boolean }>
  repository(owner: string, name: string): Promise<HostAnswer<HostRepository>>
}

/** Folders that are looked at for addresses. */
const LISTED_FOLDERS = 500
const LISTED_MILLISECONDS = 5_000

/** The addresses of local repositories that everyone may open; `null` when the folder cannot be listed now. */
export async function listLocal(local: LocalRepositories, deps: Deps, log: FallbackLog): Promise<LocalAddresses | null> {
  try {
    const listed = await local.list(LISTED_FOLDERS)
    return { addresses: openAddresses(deps, listed.repositories), isComplete: listed.isComplete }
  } catch (error) {
    log.warn({ err: error }, 'the folder of local repositories cannot be listed')
    return null
  }
}

/** The same addresses for visitors, and that of the handbook, looked up again after a few seconds. */
export function listLately(local: LocalRepositories, deps: Deps, log: FallbackLog): () => Promise<readonly string[]> {
  let listing: Promise<readonly string[]> = Promise.resolve([])
  let listedAt = Number.NEGATIVE_INFINITY
  return () => {
    if (performance.now() - listedAt < LISTED_MILLISECONDS) return listing
    listedAt = performance.now()
    listing = Promise.all([listLocal(local, deps, log), isHandbookOpen(local, deps)]).then(([listed, hasHandbook]) => {
      const addresses = listed?.addresses ?? []
      // Where no folder was chosen, the handbook is among what is listed.
      return hasHandbook && !addresses.includes(REFERENCE_REPOSITORY) ? [...addresses, REFERENCE_REPOSITORY] : addresses
    })
    return listing
  }
}

export async function isHandbookOpen(local: LocalRepositories, deps: Deps): Promise<boolean> {
  const [, , owner = '', name = ''] = REFERENCE_REPOSITORY.split('/')
  // A line of text is not worth a start.
  const found = await local.repository(owner, name).catch(() => null)
  return found?.status === 'ok' && openAddresses(deps, [found.value]).length > 0
}
