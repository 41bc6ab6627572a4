import type { IncomingHttpHeaders } from 'node:http'
import type { AccountNotice } from '#core/contract/account-pages.ts'
import type { SessionItem } from './account.ts'
import { cookiesOf, createFlashMessages } from './cookies.ts'
import type { People } from './people.ts'
import { presentedToken } from './request-credentials.ts'

/** What the pages are told about people, beside the interface. */
export interface PagePeople {
  hasSignIn: boolean
  credentialsOf(headers: IncomingHttpHeaders): { cookie?: string; authorization?: string } | null
  sessions(headers: IncomingHttpHeaders): Promise<SessionItem[] | null>
  notice(headers: IncomingHttpHeaders): Promise<{ notice: AccountNotice | null; forget: string } | null>
}

/** @param origin the public origin of the deployment */
export function pagePeople(people: People, origin: string): PagePeople {
  const { account, context } = people
  const cookies = cookiesOf(origin)
  const flashMessages = createFlashMessages(context.seals, cookies.notice)
  return {
    hasSignIn: account !== null,
    credentialsOf(headers) {
      const { authorization, cookie } = headers
      // With a token, the cookie is not looked at.
      if (authorization !== undefined && presentedToken(headers, account !== null) !== null) return { authorization }
      return cookie === undefined || cookies.session.read(headers) === null ? null : { cookie }
    },
    async sessions(headers) {
      const viewer = await people.bySession(headers)
      if (account === null || viewer.kind !== 'person') return null
      // Nothing is noted of reading.
      return await account.sessions({ viewer, origin: { requestId: '', ip: '' } })
    },
    async notice(headers) {
      if (!flashMessages.isCarried(headers)) return null
      const viewer = await people.bySession(headers)
      const notice = await flashMessages.read(headers, viewer.kind === 'person' ? viewer.sessionId : null)
      return { notice, forget: flashMessages.forget() }
    },
  }
}
