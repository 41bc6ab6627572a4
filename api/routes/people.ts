import { ServiceError } from '#core/errors.ts'
import type { Deps } from '../deps.ts'
import type { Call, Handlers } from '../http/endpoint.ts'
import type { Acting } from '../people/account.ts'
import type { RequestOrigin } from '../people/audit.ts'

type PeopleName = 'me' | 'myRepositories' | 'myTokens' | 'createToken' | 'deleteToken'

/** The endpoints of the person who is signed in. `null` where sign-in is not set up. */
export function peopleHandlers({ people }: Pick<Deps, 'people'>): Pick<Handlers, PeopleName> {
  const account = people?.account ?? null
  if (account === null) return ABSENT
  return {
    me: ({ viewer }) => account.me(viewer),
    myRepositories: call => account.repositories(acting(call)),
    myTokens: call => account.tokens(acting(call)),
    createToken: call => account.createToken(acting(call), call.body),
    deleteToken: async call => {
      await account.deleteToken(acting(call), call.subject)
      return null
    },
  }
}

const ABSENT: Pick<Handlers, PeopleName> = {
  me: null,
  myRepositories: null,
  myTokens: null,
  createToken: null,
  deleteToken: null,
}

/** The guards of these endpoints admit persons only; this narrows the type. */
function acting({ viewer, origin = null }: Pick<Call<PeopleName>, 'viewer'> & { origin?: RequestOrigin | null }): Acting {
  if (viewer.kind !== 'person') throw new ServiceError('auth.required')
  return { viewer, origin }
}
