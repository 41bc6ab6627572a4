import { readOwnerPage } from '../cards/owner-page.ts'
import type { Deps } from '../deps.ts'
import type { Handlers } from '../http/endpoint.ts'

/** The page of an account, for hosts that list accounts. */
export function ownerHandler(deps: Deps): NonNullable<Handlers['owners']> {
  return ({ subject, query }) => readOwnerPage(deps, subject, query.page)
}
