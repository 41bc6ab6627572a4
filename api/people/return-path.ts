import { SIGN_IN_RETURN_CHARACTERS } from '#core/limits.ts'

/**
 * Where a sign-in leads back to: a path of this deployment, and the front page for everything else. No text leads to another origin.
 *
 * @param origin the public origin of the deployment
 */
export function returnPath(text: string | undefined, origin: string): string {
  if (text === undefined || text.length > SIGN_IN_RETURN_CHARACTERS || !/^\/(?![/\\])/.test(text)) return '/'
  // Browsers drop control characters from URLs, so that `/<tab>/host` would be another origin.
  if (/[\p{Cc}\p{Cs}\\]/u.test(text)) return '/'
  const url = URL.parse(text, origin)
  if (url === null || url.origin !== new URL(origin).origin || url.username !== '') return '/'
  // A sign-in that leads to a sign-in never ends.
  if (/^\/auth(?:\/|$)/.test(url.pathname)) return '/'
  const path = `${url.pathname}${url.search}${url.hash}`
  // The URL is normalised, so that `/.//host` has become `//host`; and encoded, so that it may be longer.
  return /^\/(?![/\\])/.test(path) && path.length <= SIGN_IN_RETURN_CHARACTERS ? path : '/'
}
