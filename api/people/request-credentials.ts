import type { IncomingHttpHeaders } from 'node:http'
import { looksLikeToken } from './token-text.ts'

/**
 * The token of `Authorization: Bearer`; empty where the header names none. All that follows counts, so that of two tokens none is valid. `null`
 * without such a header: other schemes are for proxies.
 */
export function bearerOf({ authorization = '' }: IncomingHttpHeaders): string | null {
  const found = /^bearer(?: +([^ ].*)?)?$/i.exec(authorization)
  return found && (found[1] ?? '')
}

/**
 * The bearer token that the service has to judge; `null` without one. Where nobody signs in, a bearer that cannot be a token of this service was
 * sent for a proxy in front of it, and is ignored. Decision 0053.
 */
export function presentedToken(headers: IncomingHttpHeaders, hasSignIn: boolean): string | null {
  const token = bearerOf(headers)
  return token === null || hasSignIn || looksLikeToken(token) ? token : null
}

/** The value of a cookie; `null` when there is none. Also `null` when there are several: another site of the same domain may have set one of them. */
export function cookieOf({ cookie = '' }: IncomingHttpHeaders, name: string): string | null {
  const values = cookie
    .split(';')
    .map(pair => pair.trim())
    .filter(pair => pair.startsWith(`${name}=`))
    .map(pair => pair.slice(name.length + 1))
  return values.length === 1 ? (values[0] ?? null) : null
}

/**
 * Whether a page of this deployment sends the request. Browsers say it in `sec-fetch-site`, and old ones in `origin`; programs say neither. Both
 * must be right where they are present, so that neither a sandboxed frame (`origin: null`) nor a sibling host (`same-site`) counts.
 *
 * @param origin the public origin of the deployment
 */
export function isSameOrigin(headers: IncomingHttpHeaders, origin: string): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin') return false
  if (headers.origin !== undefined && headers.origin !== origin) return false
  return site !== undefined || headers.origin !== undefined
}
