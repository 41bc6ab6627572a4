import type { IncomingHttpHeaders } from 'node:http'
import { AccountNotice } from '#core/contract/account-pages.ts'
import { SESSION_DAYS } from '#core/limits.ts'
import { cookieOf } from './request-credentials.ts'
import type { Seals } from './seal.ts'
import type { RecordId } from './token-text.ts'

/** The cookies of a deployment. */
export interface Cookies {
  session: Cookie
  /** What a browser keeps between the start of a sign-in and the host's answer. */
  signIn: Cookie
  /** What a form of a page led to, until the next page says it. */
  notice: Cookie
}

export interface Cookie {
  read(headers: IncomingHttpHeaders): string | null
  /** Values of the header `set-cookie`. */
  set(value: string): string
  clear(): string
}

/** From the answer of a form until the browser asked for the page that says what it led to. */
const NOTICE_SECONDS = 60
/** The lifetime of a sign-in that was begun. */
export const SIGN_IN_SECONDS = 10 * 60

/**
 * `__Host-` binds a cookie to this very origin: no sibling host can set it. Browsers demand `Secure` for it, which they take over http for this
 * machine alone.
 *
 * @param origin the public origin of the deployment
 */
export function cookiesOf(origin: string): Cookies {
  const isSecure = isSecureContext(origin)
  const make = (name: string, maxAgeSeconds: number): Cookie => {
    const full = `${isSecure ? '__Host-' : ''}${name}`
    const attributes = `Path=/; ${isSecure ? 'Secure; ' : ''}HttpOnly; SameSite=Lax`
    return {
      read: headers => cookieOf(headers, full),
      set: value => `${full}=${value}; ${attributes}; Max-Age=${maxAgeSeconds}`,
      clear: () => `${full}=; ${attributes}; Max-Age=0`,
    }
  }
  return {
    session: make('session', SESSION_DAYS * 86_400),
    signIn: make('signin', SIGN_IN_SECONDS),
    notice: make('notice', NOTICE_SECONDS),
  }
}

/** Whether browsers treat the origin as a secure context, which `Secure` cookies need: HTTPS, or this machine. */
function isSecureContext(origin: string): boolean {
  const { protocol, hostname } = new URL(origin)
  return protocol === 'https:' || /^(?:127\.\d+\.\d+\.\d+|\[::1\]|(?:.+\.)?localhost)$/.test(hostname)
}

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
