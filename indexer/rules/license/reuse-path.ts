type Token = string | 'name' | 'anything'

export interface ReusePath {
  matches: (path: string) => boolean
  /** For each character of a path, at most; 0 where nothing stands for other characters. */
  steps: number
}

/**
 * Compiles a `path` of a `REUSE.toml`: `*` matches within a name, `**` anything, and a backslash makes the next character plain. `null` for a
 * path that leads out of the folder, or is none. Matching takes at most path length times `steps`.
 */
export function compileReusePath(pattern: string): ReusePath | null {
  if (pattern === '' || pattern.length > PATTERN_CHARACTERS || /^\/|(?:^|\/)\.{1,2}(?:\/|$)/.test(pattern)) return null
  const tokens = (pattern.match(/\*{2,}|\*|\\[\s\S]|[\s\S]/g) ?? []).map(tokenOf)
  const wildcard = tokens.findIndex(token => token.length > 1)
  const prefix = tokens.slice(0, wildcard < 0 ? tokens.length : wildcard).join('')
  if (wildcard < 0) return { matches: path => path === prefix, steps: 0 }
  const rest = tokens.slice(wildcard)
  return { matches: path => path.startsWith(prefix) && matches(rest, path.slice(prefix.length)), steps: rest.length }
}

const PATTERN_CHARACTERS = 256

function tokenOf(text: string): Token {
  if (text === '*') return 'name'
  return text.startsWith('**') ? 'anything' : text.slice(-1)
}

/** Follows every position of the pattern that the path so far may have reached. */
function matches(tokens: readonly Token[], path: string): boolean {
  if (tokens.length === 1 && tokens[0] === 'anything') return true
  let reached = new Uint8Array(tokens.length + 1)
  reached[0] = 1
  skipWildcards(tokens, reached)
  for (const character of path.split('')) {
    const next = new Uint8Array(tokens.length + 1)
    for (const [at, token] of tokens.entries()) {
      if (reached[at] !== 1) continue
      if (token === 'anything' || (token === 'name' && character !== '/')) next[at] = 1
      else if (token === character) next[at + 1] = 1
    }
    skipWildcards(tokens, next)
    reached = next
  }
  return reached[tokens.length] === 1
}

/** A wildcard may match nothing. */
function skipWildcards(tokens: readonly Token[], reached: Uint8Array): void {
  for (const [at, token] of tokens.entries()) if (reached[at] === 1 && token.length > 1) reached[at + 1] = 1
}
