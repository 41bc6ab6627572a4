/** Whether a path, relative to the folder of the list, is excluded. Callers ask for the folders above it first. */
export type Exclusions = (path: string, isFolder: boolean) => boolean

/**
 * Compiles a list of patterns in the syntax of gitignore(5). The last matching pattern decides. Matching compares bytes, case-sensitively, as
 * git does.
 *
 * Patterns are untrusted, so none becomes a regular expression: matching one takes at most path length times pattern length steps for each
 * folder of the path.
 */
export function compileExclusions(lines: readonly string[]): Exclusions {
  const patterns = lines.map(readPattern).filter(pattern => pattern !== null)
  return (path, isFolder) => {
    const bytes = Buffer.from(path)
    const name = bytes.subarray(bytes.lastIndexOf(SLASH) + 1)
    const last = patterns.findLast(
      ({ foldersOnly, anchored, tokens }) => (isFolder || !foldersOnly) && matches(tokens, anchored ? bytes : name),
    )
    return last?.excludes === true
  }
}

interface Pattern {
  excludes: boolean
  foldersOnly: boolean
  /** Matched against the whole path instead of the name. */
  anchored: boolean
  tokens: Token[]
}

/** A byte; a class of bytes (256 flags); any bytes of a name; any folders and a slash; anything. */
type Token = number | Uint8Array | 'star' | 'folders' | 'everything'

/** `null` for a blank line, a comment, or a pattern that matches nothing. */
function readPattern(line: string): Pattern | null {
  if (line.startsWith('#')) return null
  const trimmed = withoutTrailingSpaces(line)
  const excludes = !trimmed.startsWith('!')
  const plain = excludes ? trimmed : trimmed.slice(1)
  const foldersOnly = plain.endsWith('/')
  const pattern = foldersOnly ? plain.slice(0, -1) : plain
  const tokens = readTokens(Buffer.from(pattern.startsWith('/') ? pattern.slice(1) : pattern))
  return tokens === null || tokens.length === 0 ? null : { excludes, foldersOnly, anchored: pattern.includes('/'), tokens }
}

/** A space after a backslash belongs to the pattern. */
function withoutTrailingSpaces(line: string): string {
  const end = endWithout(line, line.length, ' ')
  const backslashes = end - endWithout(line, end, '\\')
  return line.slice(0, backslashes % 2 === 1 ? end + 1 : end)
}

/** Where the run of the character before `end` begins. A regular expression takes time that grows with the square of a run within the line. */
function endWithout(line: string, end: number, character: string): number {
  let at = end
  while (at > 0 && line[at - 1] === character) at--
  return at
}

/** `null` when nothing can match: an unclosed class, an unknown class name, a backslash at the end. */
function readTokens(pattern: Uint8Array): Token[] | null {
  const tokens: Token[] = []
  for (let at = 0; at < pattern.length; ) {
    const byte = pattern[at] as number
    if (byte === STAR) {
      const end = endOf(pattern, at, STAR)
      const wholeName = end - at > 1 && (at === 0 || pattern[at - 1] === SLASH)
      if (wholeName && end === pattern.length) tokens.push('everything')
      else if (wholeName && pattern[end] === SLASH) tokens.push('folders')
      else tokens.push('star')
      at = tokens.at(-1) === 'folders' ? end + 1 : end
    } else if (byte === OPENING) {
      const read = readClass(pattern, at)
      if (read === null) return null
      tokens.push(read.members)
      at = read.end
    } else {
      if (byte === BACKSLASH && ++at === pattern.length) return null
      tokens.push(byte === QUESTION ? ANY : (pattern[at] as number))
      at++
    }
  }
  return tokens
}

/** Reads a class from its opening bracket, as git does. A slash is never a member. */
function readClass(pattern: Uint8Array, start: number): { members: Uint8Array; end: number } | null {
  const members = new Uint8Array(256)
  let at = start + 1
  const negated = pattern[at] === EXCLAMATION || pattern[at] === CARET
  if (negated) at++
  let before: number | null = null
  for (let first = true; first || pattern[at] !== CLOSING; first = false) {
    const named = pattern[at] === OPENING && pattern[at + 1] === COLON ? readClassName(pattern, at + 2) : undefined
    if (named === null) return null
    if (named) {
      for (const member of named.members) members[member] = 1
      at = named.end
      before = null
      continue
    }
    const isRange: boolean =
      pattern[at] === HYPHEN && before !== null && pattern[at + 1] !== undefined && pattern[at + 1] !== CLOSING
    if (isRange) at++
    if (pattern[at] === BACKSLASH) at++
    const byte = pattern[at++]
    if (byte === undefined) return null
    members.fill(1, isRange ? (before ?? byte) : byte, byte + 1)
    before = isRange ? null : byte
  }
  const wanted = negated ? members.map(member => 1 - member) : members
  wanted[SLASH] = 0
  return { members: wanted, end: at + 1 }
}

/** Reads `[:name:]` from its name. `undefined`: the bracket is an ordinary member. `null`: unknown or unclosed. */
function readClassName(pattern: Uint8Array, start: number): { members: Iterable<number>; end: number } | null | undefined {
  const closing = pattern.indexOf(CLOSING, start)
  if (closing < 0) return null
  if (closing === start || pattern[closing - 1] !== COLON) return undefined
  const members = CLASSES.get(Buffer.from(pattern.subarray(start, closing - 1)).toString())
  return members ? { members, end: closing + 1 } : null
}

/**
 * Matches by backtracking to the last wildcard only: on a mismatch the last star takes one more byte; at the end of a name the last `folders`
 * takes one more folder.
 */
function matches(tokens: readonly Token[], text: Uint8Array): boolean {
  let token = 0
  let at = 0
  let star: { token: number; at: number } | null = null
  let folders: { token: number; at: number } | null = null
  for (;;) {
    const wanted = tokens[token]
    if (wanted === 'everything') return true
    if (wanted === 'star') star = { token: ++token, at }
    else if (wanted === 'folders') {
      folders = { token: ++token, at }
      star = null
    } else if (wanted === undefined && at === text.length) return true
    else if (wanted !== undefined && at < text.length && isMember(wanted, text[at] as number)) {
      token++
      at++
    } else if (star !== null && star.at < text.length && text[star.at] !== SLASH) {
      at = ++star.at
      token = star.token
    } else if (folders !== null) {
      const slash = text.indexOf(SLASH, folders.at)
      if (slash < 0) return false
      at = folders.at = slash + 1
      token = folders.token
      star = null
    } else return false
  }
}

function isMember(wanted: number | Uint8Array, byte: number): boolean {
  return typeof wanted === 'number' ? wanted === byte : wanted[byte] === 1
}

function endOf(bytes: Uint8Array, from: number, byte: number): number {
  let end = from
  while (bytes[end] === byte) end++
  return end
}

const STAR = 42 // *
const SLASH = 47 // /
const QUESTION = 63 // ?
const BACKSLASH = 92 // \
const OPENING = 91 // [
const CLOSING = 93 // ]
const EXCLAMATION = 33 // !
const CARET = 94 // ^
const COLON = 58 // :
const HYPHEN = 45 // -

const ANY = new Uint8Array(256).fill(1)
ANY[SLASH] = 0

/** The POSIX classes, over ASCII. */
const CLASSES: ReadonlyMap<string, readonly number[]> = new Map(
  Object.entries({
    alnum: /[A-Za-z0-9]/,
    alpha: /[A-Za-z]/,
    blank: /[ \t]/,
    cntrl: /\p{Cc}/u,
    digit: /[0-9]/,
    graph: /[!-~]/,
    lower: /[a-z]/,
    print: /[ -~]/,
    punct: /[!-/:-@[-`{-~]/,
    space: /[ \t\n\r]/,
    upper: /[A-Z]/,
    xdigit: /[A-Fa-f0-9]/,
  }).map(([name, members]) => [
    name,
    Array.from({ length: 128 }, (_, code) => code).filter(code => members.test(String.fromCharCode(code))),
  ]),
)
