import type { IncomingHttpHeaders } from 'node:http'
import { ServiceError } from '#core/errors.ts'

/**
 * Whether a page of this deployment sends the request. Browsers say it in `sec-fetch-site`, and old ones in `origin`; programs say neither. Both
 * must be right where they are present, so that neither a sandboxed frame (`origin: null`) nor a sibling host (`same-site`) counts.
 *
 * @param origin the public origin of the deployment
 */
export function isFromOwnPages(headers: IncomingHttpHeaders, origin: string): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin') return false
  if (headers.origin !== undefined && headers.origin !== origin) return false
  return site !== undefined || headers.origin !== undefined
}

/** @throws ServiceError `auth.forbidden_origin` */
export function requireOwnPages(headers: IncomingHttpHeaders, origin: string): void {
  if (!isFromOwnPages(headers, origin)) throw new ServiceError('auth.forbidden_origin')
}
