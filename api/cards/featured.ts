import { formatAddress, parseAddress } from '#core/address.ts'
import type { Card, Featured } from '#core/contract/card.ts'
import { type ErrorCode, ServiceError } from '#core/errors.ts'
import { CARD_SKILL_NAMES } from '#core/limits.ts'
import type { Deps } from '../deps.ts'
import { imageOf } from '../mount/image.ts'
import { type OpenMount, openMount, type ReadyMount } from '../mount/open-mount.ts'
import { describeRepository } from '../mount/overview.ts'
import { type FeaturedAddress, isVerified, REFERENCE_REPOSITORY } from '../operator/operator-content.ts'

/** Where the operator is told of addresses that are left out. */
export interface OmissionLog {
  warn(facts: { address: string; reason: Omission }, message: string): void
}

/** Why an address has no card: an error code of the interface, or what the interface has no code for. */
export type Omission = ErrorCode | 'no answer in time' | 'no license found'

/** How long a card may keep the others waiting. What is found out later is there for the next visitor. */
const PATIENCE_MS = 1_500

/**
 * Reads the operator's addresses as cards; the reference repository while there are none. An address that is not indexed yet is asked for.
 * Left out: what cannot be resolved, now or in time, and repositories whose index found no license. Visitors do not see what is missing,
 * so the log says it, once for each address and reason.
 */
export function featuredReader(deps: Deps, log: OmissionLog): () => Promise<Featured> {
  const told = new Set<string>()

  function tell({ address }: FeaturedAddress, reason: Omission): void {
    const text = formatAddress(address)
    if (told.has(`${text} ${reason}`)) return
    told.add(`${text} ${reason}`)
    log.warn({ address: text, reason }, 'a featured address is left out')
  }

  async function readOrTell(one: FeaturedAddress): Promise<Card[]> {
    const read = await readCardInTime(deps, one)
    if (typeof read !== 'string') return [read]
    tell(one, read)
    return []
  }

  return async () => {
    const { featured } = deps.operator
    // Nobody asked for the reference repository, so nobody misses it.
    if (featured.length === 0) return { items: [await readCardInTime(deps, REFERENCE)].filter(read => typeof read !== 'string') }
    return { items: (await Promise.all(featured.map(readOrTell))).flat() }
  }
}

const REFERENCE: FeaturedAddress = { address: parseAddress(REFERENCE_REPOSITORY, ['local']), image: null, verified: false }

async function readCardInTime(deps: Deps, featured: FeaturedAddress): Promise<Card | Omission> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Omission>(resolve => {
    timer = setTimeout(() => resolve('no answer in time'), deps.patienceMs?.card ?? PATIENCE_MS)
  })
  try {
    return await Promise.race([readCard(deps, featured), late])
  } catch (error) {
    if (error instanceof ServiceError) return error.code
    throw error
  } finally {
    clearTimeout(timer)
  }
}

async function readCard(deps: Deps, featured: FeaturedAddress): Promise<Card | Omission> {
  const mount = await openMount(deps, featured.address)
  if (mount.status === 'ready' && !(await hasLicense(mount))) return 'no license found'
  return {
    address: formatAddress(mount.address),
    repository: describeRepository(mount.repository),
    verified: featured.verified || isVerified(deps.operator, mount.address),
    image: featured.image ?? imageOf(deps.operator, mount),
    index: await describeIndex(mount),
  }
}

/** Of the mounted folder, or of any skill in it. */
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
      return { status: 'ready', ...(manifest && { manifest }), license: folder.license, counts: folder.counts, skillNames }
    }
  }
}

function prefixOf(path: string): string {
  return path === '' ? '' : `${path}/`
}
