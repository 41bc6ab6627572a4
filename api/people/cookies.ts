import type { IncomingHttpHeaders } from 'node:http'
import { SESSION_DAYS } from '#core/limits.ts'
import { cookieOf } from './request-credentials.ts'

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
export const NOTICE_SECONDS = 60
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
