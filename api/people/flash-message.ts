import type { IncomingHttpHeaders } from 'node:http'
import { AccountNotice } from '#core/contract/account-pages.ts'
import { type Cookie, NOTICE_SECONDS } from './cookies.ts'
import type { Seals } from './seal.ts'
import type { RecordId } from './token-text.ts'

/** What forms led to, on its way through the browser: sealed, since it may be the secret of a token, and for one session. */
export interface FlashMessages {
  /** @returns the value of `set-cookie` */
  give(notice: AccountNotice, sessionId: RecordId): Promise<string>
  /** Whether the request carries a notice, readable or not. */
  isCarried(headers: IncomingHttpHeaders): boolean
  /** `null` when there is none, or it is of another session. */
  read(headers: IncomingHttpHeaders, sessionId: RecordId | null): Promise<AccountNotice | null>
  /** @returns the value of `set-cookie` */
  forget(): string
}

export function createFlashMessages(seals: Seals, cookie: Cookie): FlashMessages {
  return {
    give: async (notice, sessionId) => cookie.set(await seals.seal('notice', { n: notice, s: sessionId }, NOTICE_SECONDS)),
    isCarried: headers => cookie.read(headers) !== null,
    async read(headers, sessionId) {
      const sealed = cookie.read(headers)
      const claims = sealed === null || sessionId === null ? null : await seals.open('notice', sealed)
      return claims?.s === sessionId ? (AccountNotice.safeParse(claims?.n).data ?? null) : null
    },
    forget: () => cookie.clear(),
  }
}
