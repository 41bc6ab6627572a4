import { formatAddress } from '#core/address.ts'
import { ACCOUNT_HOST } from './links.ts'
import { findNearRepositories } from './not-found.ts'
import { readAddress, readOwner } from './read-address.ts'

/** What a text that is no address may have meant. */
export interface Suggestions {
  /** Addresses of local repositories: those of an owner of this name, and those with a similar name. */
  repositories: string[]
  /** The login of an account, which may not exist. */
  account: string | null
}

/** Repositories of one owner that are offered. */
const OFFERED = 5

/**
 * Looks at the last name of a text.
 *
 * @param local addresses of local repositories that everyone may open
 */
export function findSuggestions(text: string, local: readonly string[], hosts: readonly string[]): Suggestions {
  const words = text.trim()
  const name = /\s/.test(words) ? '' : (words.split(/[/:@?#]/).findLast(Boolean) ?? '')
  const read = readAddress(`local/any/${name}`, ['local'])
  const near = 'error' in read ? [] : findNearRepositories(local, read.address).map(formatAddress)
  const account = hosts.includes(ACCOUNT_HOST) ? readOwner(`${ACCOUNT_HOST}/${words}`) : null
  return {
    repositories: [...new Set([...repositoriesOf(local, name), ...near])],
    account: account !== null && 'owner' in account ? account.owner : null,
  }
}

/** The addresses of the repositories of an owner, whatever the case of its name; a few of very many. */
export function repositoriesOf(local: readonly string[], owner: string): string[] {
  const start = `/local/${owner.toLowerCase()}/`
  return local.filter(address => address.toLowerCase().startsWith(start)).slice(0, OFFERED)
}
