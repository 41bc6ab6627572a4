import { codePointName, hiddenCharacters } from '#core/hidden-text.ts'
import type { DeliveredFacts } from '#core/snapshot/delivered.ts'
import { compareBytes, withoutTrailing } from '#core/text.ts'

/** What a reviewer looks for in a text that agents receive: hidden characters, and the hosts of http(s) links. */
export function factsOfText(text: string): DeliveredFacts {
  const hidden = hiddenIn(text)
  const hosts = hostsIn(text)
  return { ...(hidden.length > 0 && { hidden }), ...(hosts.length > 0 && { hosts }) }
}

/** Every hidden character by its code point, and how often it occurs. */
function hiddenIn(text: string): [codePoint: string, count: number][] {
  if (!MAY_HIDE.test(text)) return []
  const counts = new Map<string, number>()
  for (const { character } of hiddenCharacters(text)) counts.set(character, (counts.get(character) ?? 0) + 1)
  return [...counts]
    .sort(([left], [right]) => compareBytes(left, right))
    .map(([character, count]) => [codePointName(character), count])
}

/** Anything but the visible characters of ASCII, spaces and layout. */
const MAY_HIDE = /[^\t\n\x20-\x7e]/

/**
 * The hosts of all http(s) URLs of a text, wherever they stand: agents follow one in a code block, too. In lower case, without port, as a URL parser
 * spells them; each once, in byte order.
 */
export function hostsIn(text: string): string[] {
  const hosts = new Set<string>()
  for (let at = text.indexOf('://'); at >= 0; at = text.indexOf('://', at + 3)) {
    if (!SCHEME.test(text.slice(Math.max(0, at - 5), at))) continue
    const host = hostOf(AUTHORITY.exec(text.slice(at + 3, at + 3 + AUTHORITY_CHARACTERS))?.[0] ?? '')
    if (host !== null) hosts.add(host)
  }
  return [...hosts].sort(compareBytes)
}

const SCHEME = /(?:^|[^a-z0-9+.-])http$|https$/i
/** The bound of a host is 253 characters; a name and a password may precede it. */
const AUTHORITY_CHARACTERS = 1_024
const AUTHORITY = /^[^\s/?#\\"'<>(){}|^`]*/
/** A host may be followed by a port, or by what ends a sentence or an emphasis. */
const HOST = /^(?:\[[\da-f:.]+\]|[\p{L}\p{M}\p{N}\p{Cf}._~%-]+)/iu

function hostOf(authority: string): string | null {
  const written = withoutTrailing(HOST.exec(authority.slice(authority.lastIndexOf('@') + 1))?.[0] ?? '', /[.~_-]/)
  if (written === '') return null
  if (/^[\w.-]+$/.test(written)) return written.toLowerCase()
  return URL.canParse(`http://${written}/`) ? new URL(`http://${written}/`).hostname : null
}

/**
 * About how many tokens of o200k_base a text has. Counting takes a second for a megabyte, too long for every document of a repository; this takes
 * milliseconds, and is a few percent off for prose.
 */
export function estimateTokens(text: string): number {
  let tokens = 0
  let run = 0
  let kind = SPACE
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const next = code < 128 ? (KINDS[code] as number) : code < WIDE_FROM ? LETTER : WIDE
    if (next !== kind) {
      tokens += tokensOfRun(kind, run)
      kind = next
      run = 0
    }
    // A letter beyond ASCII costs more: most words with one are cut into more tokens.
    run += code < 128 ? 1 : 2
  }
  return Math.round(tokens + tokensOfRun(kind, run))
}

const [SPACE, LETTER, DIGIT, SIGN, WIDE] = [0, 1, 2, 3, 4]
/** Scripts whose words have no spaces between them begin here. */
const WIDE_FROM = 0x2e80

function tokensOfRun(kind: number, length: number): number {
  switch (kind) {
    case LETTER:
      return length <= 7 ? 1.03 : 1 + (length - 7) / 5.5
    case DIGIT:
      return Math.ceil(length / 3)
    case SIGN:
      return length <= 3 ? 0.85 : 1 + length / 12
    case WIDE:
      return length * 0.42
    default:
      return length <= 1 ? 0.06 : 0.9
  }
}

const KINDS = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code)
  return /\s/.test(character) ? SPACE : /[a-z]/i.test(character) ? LETTER : /\d/.test(character) ? DIGIT : SIGN
})
