import type { Address } from '#core/address.ts'
import { ENDPOINTS } from '#core/contract/endpoints.ts'
import type { SkillListing } from '#core/contract/shared.ts'
import type { Deps } from '../deps.ts'
import { identify } from '../http/admit.ts'
import { openMount } from '../mount/open-mount.ts'
import { listSkills } from '../mount/overview.ts'
import { withoutJobs } from '../mount/without-jobs.ts'
import type { PageCredentials } from './page-versions.ts'

/** Lists all skills of an address, where the interface lists the first ones: `null` until the index is ready, and of very many. @throws ServiceError as `openMount` */
export type PageSkills = (address: Address) => Promise<readonly SkillListing[] | null>

/** Skills that a page filters. */
const LISTED = 2_000

/** @returns the skills as the sender of the credentials sees them; `null`: a stranger. Offers no job */
export function pageSkills(deps: Deps): (credentials: PageCredentials | null) => PageSkills {
  const offeringNone = withoutJobs(deps)
  return credentials => async address => {
    const viewer = await identify(deps.people, { ...credentials }, ENDPOINTS.mounts.credential)
    const mount = await openMount(offeringNone, viewer, address)
    if (mount.status !== 'ready' || mount.folder.counts.skills > LISTED) return null
    return await mount.snapshot.memo(`page skills ${mount.address.path}`, async () =>
      Object.freeze(await listSkills(mount, LISTED)),
    )
  }
}
