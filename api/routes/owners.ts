import { readOwnerPage } from '../cards/owner-page.ts'
import type { Deps } from '../deps.ts'
import type { Handlers } from '../http/endpoint.ts'

/** The page of an account of a host that lists them. */
export function ownerHandler(deps: Deps): NonNullable<Handlers['owners']> {
  return ({ subject, query }) => readOwnerPage(deps, subject, query.page)
}
