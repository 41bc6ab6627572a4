import type { Deps } from '../deps.ts'
import type { Handlers } from '../http/endpoint.ts'

type PeopleName = 'me' | 'myRepositories' | 'myGrants' | 'endGrant' | 'myTokens' | 'createToken' | 'deleteToken'

/** The endpoints of the person who is signed in. Where nobody signs in, there are none. */
export function peopleHandlers(_deps: Pick<Deps, 'people'>): Pick<Handlers, PeopleName> {
  return {
    me: null,
    myRepositories: null,
    myGrants: null,
    endGrant: null,
    myTokens: null,
    createToken: null,
    deleteToken: null,
  }
}
