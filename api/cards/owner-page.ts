import { type Address, formatAddress, type OwnerName } from '#core/address.ts'
import type { Owner, OwnerPage, OwnerRepository } from '#core/contract/owner.ts'
import { ServiceError } from '#core/errors.ts'
import { OWNER_PAGE } from '#core/limits.ts'
import type { HostAccount, ListedRepository } from '#core/ports/git-host.ts'
import { ROOT } from '#core/repo-path.ts'
import type { Deps } from '../deps.ts'
import { isServed, requireValue } from '../mount/open-mount.ts'
import { readIndexed } from './indexed.ts'

/**
 * The public page of an account: its indexed repositories, then the rest as the host lists them, without those that this deployment
 * refuses. It starts no index job.
 *
 * @throws ServiceError `owner.not_found`; `mount.rate_limited` or `mount.unavailable` when the host cannot be asked;
 * `skill.unavailable` when the store does not answer
 */
export async function readOwnerPage(deps: Deps, { host: segment, owner: login }: OwnerName, page: number): Promise<OwnerPage> {
  const host = deps.hosts.find(candidate => candidate.segment === segment)
  if (!host?.accounts) throw new ServiceError('owner.invalid')
  const account = requireValue(await host.accounts.account(login), 'owner.not_found')
  const [listed, indexed] = await Promise.all([
    host.accounts.repositories(account, page),
    readIndexed(deps, { host, accounts: host.accounts, account }),
  ])
  const { items, hasNext } = requireValue(listed, 'owner.not_found')
  return {
    owner: describeOwner(account),
    ...(page === OWNER_PAGE.min ? { indexed: indexed.cards } : {}),
    repositories: items
      .filter(one => !indexed.known.has(one.id) && isServed(deps, addressOf(segment, one)))
      .map(one => describeRepository(segment, one)),
    nextPage: hasNext && page < OWNER_PAGE.max ? page + 1 : null,
  }
}

function describeOwner({ host, login, name, bio, kind, avatar, url, publicRepositories }: HostAccount): Owner {
  return { host, login, name, bio, kind, avatar, url, publicRepositories }
}

function describeRepository(host: string, repository: ListedRepository): OwnerRepository {
  const { name, description, fork, archived, stars, pushedAt } = repository
  return { address: formatAddress(addressOf(host, repository)), name, description, fork, archived, stars, pushedAt }
}

function addressOf(host: string, { owner, name }: ListedRepository): Address {
  return { host, owner, repository: name, ref: null, path: ROOT }
}
