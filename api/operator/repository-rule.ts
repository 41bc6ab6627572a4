import type { Address } from '#core/address.ts'

/** A repository in its canonical or requested spelling. */
export type RepositoryName = Pick<Address, 'host' | 'owner' | 'repository'>

/** Whether a rule applies to a repository. */
export type RepositoryRule = (repository: RepositoryName) => boolean

/**
 * Parses a pattern such as `gh/acme/*`: host, owner and repository, each a name in which `*` matches any characters.
 * Names of hosts that ignore case are compared without case. `null` when the text is not a pattern.
 */
export function parseRepositoryRule(text: string): RepositoryRule | null {
  if (!/^[A-Za-z0-9._*-]+(?:\/[A-Za-z0-9._*-]+){2}$/.test(text)) return null
  const tests = text.split('/').map(parseNamePattern)
  return ({ host, owner, repository }) => {
    const fold = foldOf(host)
    const names = [host, owner, repository]
    return tests.every((pattern, index) => matchesName(pattern.map(fold), fold(names[index] ?? '')))
  }
}

/** Folds names so that names which are equal for the host become equal texts. */
function foldOf(host: string): (name: string) => string {
  return name => (host === 'gh' ? name.toLowerCase() : name)
}

export function isSameRepository(left: RepositoryName, right: RepositoryName): boolean {
  const fold = foldOf(left.host)
  return left.host === right.host && fold(left.owner) === fold(right.owner) && fold(left.repository) === fold(right.repository)
}

function parseNamePattern(text: string): string[] {
  return text.split('*')
}

// The pieces between stars must follow each other. Matching greedily from the left is correct, since a star matches anything.
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
