import type { ListedRepositories } from '#core/listed-repositories.ts'

/**
 * Those of a few addresses that a page may suggest: a repository without a commit, and a damaged one, has nothing to read. Starts no index job.
 *
 * @param addresses of repositories that everyone may open
 */
export async function withContent(listed: Pick<ListedRepositories, 'peek'>, addresses: readonly string[]): Promise<string[]> {
  if (addresses.length === 0) return []
  const peeked = await listed.peek(addresses)
  return addresses.filter((_, index) => {
    const kind = peeked[index]?.state.kind
    return kind !== undefined && kind !== 'empty' && kind !== 'damaged'
  })
}
