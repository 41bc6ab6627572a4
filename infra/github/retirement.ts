import { visibleLine } from '#core/hidden-text.ts'
import type { Warn } from './daily-warnings.ts'

/** Longest part of a header that is quoted, in UTF-16 units. */
const HEADER_LENGTH = 40

/**
 * Warns that GitHub announces the end of an endpoint, which it does in every answer of it.
 *
 * @param endpoint method and template of the path: it names no repository
 * @param headers of an answer, untrusted
 */
export function noteRetirement(
  warn: Warn,
  endpoint: string,
  { deprecation, sunset }: Readonly<Record<string, string | number | undefined>>,
): void {
  if (deprecation === undefined && sunset === undefined) return
  const since = deprecation === undefined ? '' : `, deprecated ${dateOf('since', deprecation)},`
  const end = sunset === undefined ? 'at a date that is not told yet' : dateOf('on', sunset)
  warn(
    `retirement ${endpoint}`,
    `GitHub stops answering ${endpoint} of this version of its API${since} ${end}: update Mountglass before`,
  )
}

/** `Deprecation` has the form `@<seconds since 1970>` (RFC 9745), in older drafts an HTTP date or `true`; `Sunset` is an HTTP date (RFC 8594). */
function dateOf(preposition: string, header: string | number): string {
  const seconds = /^@(\d{1,11})$/.exec(String(header).trim())?.[1]
  if (seconds !== undefined) return `${preposition} ${new Date(Number(seconds) * 1000).toUTCString()}`
  return `${preposition} ${visibleLine(String(header)).slice(0, HEADER_LENGTH)}`
}
