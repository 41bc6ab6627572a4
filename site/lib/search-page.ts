import { formatAddress } from '#core/address.ts'
import { FIND_QUERY_CHARACTERS } from '#core/limits.ts'
import type { SearchedRepositories } from '#core/listed-repositories.ts'
import { findNearRepositories } from './not-found.ts'
import { readAddress } from './read-address.ts'
import { listedAddresses, loadFeatured } from './repository-rows.ts'
import { withContent } from './with-content.ts'

/** Skills of listed repositories that match words, and repositories whose names do. */
export interface SearchPage {
  query: string
  /** How many repositories were searched. */
  searched: number
  /** `null` when too many searches run. */
  result: SearchedRepositories | null
  /** Addresses. */
  named: string[]
}

/** Repositories with a similar name that are shown. */
const NAMED = 5

/** @param text as it was written; `null` when it has no words */
export async function loadSearchPage(
  { client, listLocal, listed, network }: Pick<App.Locals, 'client' | 'listLocal' | 'listed' | 'network'>,
  text: string,
): Promise<SearchPage | null> {
  const query = [...text.trim()].slice(0, FIND_QUERY_CHARACTERS).join('')
  if (query === '') return null
  const addresses = listedAddresses((await loadFeatured(client)) ?? [], await listLocal())
  const result = await listed.search(addresses, query, network)
  const searched = addresses.length - (result?.unread.length ?? 0)
  return { query, searched, result, named: await withContent(listed, findNamed(addresses, query)) }
}

/** Repositories whose names the words are, or nearly are. */
function findNamed(addresses: readonly string[], query: string): string[] {
  const name = query.replace(/\s+/g, '-')
  const ofOwner = addresses.filter(address => address.split('/')[2]?.toLowerCase() === name.toLowerCase())
  const read = readAddress(`local/any/${encodeURIComponent(name)}`, ['local'])
  const hosts = [...new Set(addresses.map(address => address.split('/')[1] ?? ''))]
  const near = 'error' in read ? [] : hosts.flatMap(host => nearOf(addresses, { ...read.address, host }))
  return [...new Set([...ofOwner, ...near])].slice(0, NAMED)
}

function nearOf(addresses: readonly string[], asked: Parameters<typeof findNearRepositories>[1]): string[] {
  const ofHost = addresses.filter(address => address.startsWith(`/${asked.host}/`))
  return findNearRepositories(ofHost, asked).map(formatAddress)
}
