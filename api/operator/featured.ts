import { formatAddress, parseAddress } from '#core/address.ts'
import type { Card, Featured } from '#core/contract/card.ts'
import { ServiceError } from '#core/errors.ts'
import { CARD_SKILL_NAMES } from '#core/limits.ts'
import type { Deps } from '../deps.ts'
import { imageOf } from '../mount/image.ts'
import { type OpenMount, openMount, type ReadyMount } from '../mount/open-mount.ts'
import { describeRepository } from '../mount/overview.ts'
import { type FeaturedAddress, isVerified, REFERENCE_REPOSITORY } from './content.ts'

/** How long a card may keep the others waiting. What is found out later is there for the next visitor. */
const PATIENCE_MS = 1_500

/**
 * The operator's addresses as cards; the reference repository while there are none. An address that is not indexed yet is asked for.
 * Left out: what cannot be resolved, now or in time, and repositories whose index found no licence.
 */
export async function readFeatured(deps: Deps): Promise<Featured> {
  const { featured } = deps.operator
  const cards = await Promise.all((featured.length === 0 ? [REFERENCE] : featured).map(one => readCardInTime(deps, one)))
  return { items: cards.filter(card => card !== null) }
}

const REFERENCE: FeaturedAddress = { address: parseAddress(REFERENCE_REPOSITORY, ['local']), image: null, verified: false }

async function readCardInTime(deps: Deps, featured: FeaturedAddress): Promise<Card | null> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>(resolve => {
    timer = setTimeout(() => resolve(null), PATIENCE_MS)
  })
  try {
    return await Promise.race([readCard(deps, featured), late])
  } catch (error) {
    if (error instanceof ServiceError) return null
    throw error
  } finally {
    clearTimeout(timer)
  }
}

async function readCard(deps: Deps, featured: FeaturedAddress): Promise<Card | null> {
  const mount = await openMount(deps, featured.address)
  if (mount.status === 'ready' && !(await hasLicense(mount))) return null
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
