import { formatAddress, parseAddress } from '#core/address.ts'
import { withTimeout } from '#core/concurrency/timeout.ts'
import type { Card, Featured } from '#core/contract/card.ts'
import { type ErrorCode, ServiceError } from '#core/errors.ts'
import { CARD_SKILL_NAMES } from '#core/limits.ts'
import { countsInMount } from '#core/snapshot/format.ts'
import type { Deps } from '../deps.ts'
import { imageOf } from '../mount/image.ts'
import { againIfReplaced, type OpenMount, openMount, type ReadyMount } from '../mount/open-mount.ts'
import { describeRepository } from '../mount/overview.ts'
import { type FeaturedAddress, isVerified, REFERENCE_REPOSITORY } from '../operator/operator-content.ts'
import { ANONYMOUS } from '../people/viewer.ts'

/** The operator's log, for addresses that are left out. */
export interface OmissionLog {
  warn(facts: { address: string; reason: Omission }, message: string): void
}

/** Why an address has no card: an error code of the interface, or a reason without a code. */
export type Omission = ErrorCode | 'no answer in time' | 'no license found'

/** How long one card may delay the page. Its answer is cached for the next request. */
export const FEATURED_CARD_MS = 1_500

/**
 * Reads the operator's addresses as cards; without any, the reference repository. Addresses that are not indexed yet get an index job.
 * Left out are addresses that cannot be resolved in time, and repositories without a license. Visitors do not see what is missing, so
 * each omission is logged, once for each address and reason.
 */
export function featuredReader(deps: Deps, log: OmissionLog): () => Promise<Featured> {
  const logged = new Set<string>()

  function logOnce({ address }: FeaturedAddress, reason: Omission): void {
    const text = formatAddress(address)
    if (logged.has(`${text} ${reason}`)) return
    logged.add(`${text} ${reason}`)
    log.warn({ address: text, reason }, 'featured address left out')
  }

  async function readOrLog(one: FeaturedAddress): Promise<Card[]> {
    const read = await readCardInTime(deps, one)
    if (typeof read !== 'string') return [read]
    logOnce(one, read)
    return []
  }

  return async () => {
    const { featured } = deps.operator
    // The operator did not select the reference repository, so its omission is not logged.
    if (featured.length === 0) return { items: [await readCardInTime(deps, REFERENCE)].filter(read => typeof read !== 'string') }
    return { items: (await Promise.all(featured.map(readOrLog))).flat() }
  }
}

const REFERENCE: FeaturedAddress = { address: parseAddress(REFERENCE_REPOSITORY, ['local']), image: null, verified: false }

async function readCardInTime(deps: Deps, featured: FeaturedAddress): Promise<Card | Omission> {
  try {
    return await withTimeout(
      againIfReplaced(() => readCard(deps, featured)),
      deps.patienceMs?.card ?? FEATURED_CARD_MS,
      (): Omission => 'no answer in time',
    )
  } catch (error) {
    if (error instanceof ServiceError) return error.code
    throw error
  }
}

async function readCard(deps: Deps, featured: FeaturedAddress): Promise<Card | Omission> {
  const mount = await openMount(deps, ANONYMOUS, featured.address)
  if (mount.status === 'ready' && !(await hasLicense(mount))) return 'no license found'
  return {
    address: formatAddress(mount.address),
    repository: describeRepository(mount.repository),
    verified: featured.verified || isVerified(deps.operator, mount.address),
    image: featured.image ?? imageOf(deps, mount),
    index: await describeIndex(mount),
  }
}

/** Whether the mounted folder or any skill in it has a license. */
async function hasLicense({ folder, snapshot, address }: ReadyMount): Promise<boolean> {
  if (folder.license.kind !== 'none') return true
  const skills = await snapshot.range('skills', { prefix: prefixOf(address.path) })
  return skills.some(([, skill]) => skill.license.kind !== 'none')
}

async function describeIndex(mount: OpenMount): Promise<Card['index']> {
  switch (mount.status) {
    case 'indexing':
      return { status: 'indexing' }
    case 'failed':
      return { status: 'failed', errorCode: mount.errorCode, retryAt: mount.retryAt }
    case 'ready': {
      const { snapshot, folder, address } = mount
      const [manifest, skills] = await Promise.all([
        folder.manifest === undefined ? null : snapshot.get('manifests', folder.manifest),
        snapshot.range('skills', { prefix: prefixOf(address.path), limit: CARD_SKILL_NAMES }),
      ])
      const skillNames = skills.map(([, { name }]) => name)
      const counts = countsInMount(address.path, folder)
      return { status: 'ready', ...(manifest && { manifest }), license: folder.license, counts, skillNames }
    }
  }
}

function prefixOf(path: string): string {
  return path === '' ? '' : `${path}/`
}
