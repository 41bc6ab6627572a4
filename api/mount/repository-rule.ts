import type { Address } from '#core/address.ts'

/** Whether a repository is meant, given its canonical or requested spelling. */
export type RepositoryRule = (repository: Pick<Address, 'host' | 'owner' | 'repository'>) => boolean

/**
 * Parses a pattern as `gh/acme/*`: host, owner and repository, each a name in which `*` stands for any characters.
 * Case counts only where it counts for the host. `null` when the text is no such pattern.
 */
export function parseRepositoryRule(text: string): RepositoryRule | null {
  if (!/^[A-Za-z0-9._*-]+(?:\/[A-Za-z0-9._*-]+){2}$/.test(text)) return null
  const tests = text.split('/').map(parseNamePattern)
  return ({ host, owner, repository }) => {
    const fold = (name: string) => (host === 'gh' ? name.toLowerCase() : name)
    const names = [host, owner, repository]
    return tests.every((pattern, index) => matchesName(pattern.map(fold), fold(names[index] ?? '')))
  }
}

function parseNamePattern(text: string): string[] {
  return text.split('*')
}

// The pieces between the stars must follow each other; greedy from the left is right because a star takes anything.
function matchesName([first = '', ...rest]: string[], name: string): boolean {
  const last = rest.pop()
  if (last === undefined) return name === first
  if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last)) return false
  let at = first.length
  for (const piece of rest) {
    const found = name.indexOf(piece, at)
    if (found < 0) return false
    at = found + piece.length
  }
  return at <= name.length - last.length
}
