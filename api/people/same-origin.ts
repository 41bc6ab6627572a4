import type { IncomingHttpHeaders } from 'node:http'

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
