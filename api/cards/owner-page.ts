import { type Address, formatAddress, type OwnerName } from '#core/address.ts'
import { mapFew } from '#core/concurrency/map-few.ts'
import { withTimeout } from '#core/concurrency/timeout.ts'
import type { Card } from '#core/contract/card.ts'
import type { Owner, OwnerPage, OwnerRepository } from '#core/contract/owner.ts'
import { ServiceError } from '#core/errors.ts'
import { HIDDEN_HOURS, OWNER_CARDS, OWNER_PAGE } from '#core/limits.ts'
import type { OwnerListing } from '#core/owner-listings.ts'
import type {
  AccountDirectory,
  GitHost,
  HostAccount,
  HostAnswer,
  HostRepository,
  ListedRepository,
} from '#core/ports/git-host.ts'
import { ROOT } from '#core/repo-path.ts'
import { compareBytes } from '#core/text.ts'
import type { Deps } from '../deps.ts'
import { manifestImageOf } from '../mount/image.ts'
import { isServed, requireValue } from '../mount/open-mount.ts'
import { describeRepository } from '../mount/overview.ts'
import { isVerified, pictureOf } from '../operator/operator-content.ts'

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
      .map(one => shapeRepository(segment, one)),
    nextPage: hasNext && page < OWNER_PAGE.max ? page + 1 : null,
  }
}

function describeOwner({ host, login, name, bio, kind, avatar, url, publicRepositories }: HostAccount): Owner {
  return { host, login, name, bio, kind, avatar, url, publicRepositories }
}

function shapeRepository(host: string, repository: ListedRepository): OwnerRepository {
  const { name, description, fork, archived, stars, pushedAt } = repository
  return { address: formatAddress(addressOf(host, repository)), name, description, fork, archived, stars, pushedAt }
}

function addressOf(host: string, { owner, name }: ListedRepository): Address {
  return { host, owner, repository: name, ref: null, path: ROOT }
}

interface IndexedRepositories {
  /** Most skills first. */
  cards: Card[]
  /** Ids to leave out of the host's list: repositories with a card, and those that the host no longer shows. */
  known: ReadonlySet<string>
}

interface Listing {
  host: GitHost
  accounts: AccountDirectory
  account: HostAccount
}

/** Concurrent requests to the host, and the time for all of them. Later answers are cached for the next try. */
const QUESTIONS_AT_ONCE = 10
export const OWNER_LISTINGS_MS = 2_800
/** Requests for one page: enough when half of the listed repositories are hidden. */
const QUESTIONS = 2 * OWNER_CARDS

/**
 * The account's repositories that are indexed and have skills. Each is shown only while the host shows it publicly, under this account.
 *
 * @throws ServiceError `mount.rate_limited`, `mount.unavailable`, `skill.unavailable`
 */
async function readIndexed(deps: Deps, { host, accounts, account }: Listing): Promise<IndexedRepositories> {
  const addressOf = (name: string) => ({ host: host.segment, owner: account.login, repository: name })
  const listings = (await readListings(deps, account)).filter(({ name }) => isServed(deps, addressOf(name)))
  const candidates = listings.sort(byAskingOrder).slice(0, QUESTIONS)
  const asked = await askForCards(candidates, deps.patienceMs?.listings ?? OWNER_LISTINGS_MS, async listing => {
    const sight = sightOf(listing, await accounts.shown(account.login, listing.name))
    const isTheirs = isListed(listing, sight, account)
    return { listing, sight, card: isTheirs ? describeCard(deps, host, sight, listing) : null }
  })
  await noteChanges(deps, account, asked)

  const shown = asked.flatMap(({ card, listing }) => (card ? [{ card, listing }] : []))
  const cards = shown.sort((left, right) => byRank(left.listing, right.listing)).slice(0, OWNER_CARDS)
  const seen = new Map(asked.map(({ listing, sight }) => [listing.repositoryId, sight]))
  // A repository that was hidden and not asked about stays hidden.
  const hidden = listings.filter(({ repositoryId, hiddenSince }) => {
    return typeof (seen.get(repositoryId) ?? (hiddenSince === undefined ? null : 'unknown')) === 'string'
  })
  return {
    cards: cards.map(({ card }) => card),
    known: new Set([...cards.map(({ listing }) => listing.repositoryId), ...hidden.map(({ repositoryId }) => repositoryId)]),
  }
}

/** What the host shows under the name of a listing. `unknown`: the host cannot be asked, and the repository was hidden before. */
type Sight = HostRepository | 'hidden' | 'unknown'

interface Asked {
  listing: OwnerListing
  sight: Sight
  card: Card | null
}

/** @throws ServiceError when the host cannot be asked about a repository that it showed before */
function sightOf({ hiddenSince }: OwnerListing, answer: HostAnswer<HostRepository>): Sight {
  if (answer.status === 'missing') return 'hidden'
  if (answer.status !== 'ok' && hiddenSince !== undefined) return 'unknown'
  return requireValue(answer, 'mount.repo_not_found')
}

/** Whether the host still shows this repository: its name may belong to another one, and it may have moved to another account. */
function isListed({ repositoryId }: OwnerListing, sight: Sight, account: HostAccount): sight is HostRepository {
  return typeof sight !== 'string' && sight.id === repositoryId && sight.ownerId === account.id
}

/** Stores what changed at the host. The page does not depend on it: a failed write is repeated at the next request. */
async function noteChanges(
  { listings, hidden, clock, fallbacks }: Deps,
  account: HostAccount,
  asked: readonly Asked[],
): Promise<void> {
  const now = clock.now()
  const writing = asked.map(async ({ listing, sight }) => {
    const { hiddenSince, repositoryId } = listing
    if (sight === 'unknown') return
    if (sight === 'hidden') {
      hidden.hidden(repositoryId)
      if (hiddenSince === undefined) await listings.hide(account.id, listing, now)
      else if (Date.parse(hiddenSince) <= now.getTime() - HIDDEN_HOURS * HOUR_MS) await listings.drop(account.id, listing)
    } else if (!isListed(listing, sight, account)) await listings.drop(account.id, listing)
    else if (hiddenSince !== undefined) await listings.show(account.id, listing)
  })
  for (const change of await Promise.allSettled(writing)) {
    if (change.status === 'rejected') fallbacks?.note('owner_listing', change.reason)
  }
}

const HOUR_MS = 3_600_000

async function readListings(deps: Deps, account: HostAccount): Promise<OwnerListing[]> {
  try {
    return await deps.listings.of(account.id)
  } catch (cause) {
    throw new ServiceError('skill.unavailable', { cause })
  }
}

/** The order of requests: hidden repositories come last. */
function byAskingOrder(left: OwnerListing, right: OwnerListing): number {
  const isHidden = ({ hiddenSince }: OwnerListing) => Number(hiddenSince !== undefined)
  return isHidden(left) - isHidden(right) || byRank(left, right)
}

/** Most skills first. */
function byRank(left: OwnerListing, right: OwnerListing): number {
  return right.counts.skills - left.counts.skills || compareBytes(left.name, right.name)
}

function describeCard(deps: Deps, host: GitHost, repository: HostRepository, listing: OwnerListing): Card | null {
  const address = { host: host.segment, owner: repository.owner, repository: repository.name, ref: null, path: ROOT }
  if (!isServed(deps, address)) return null
  const { manifest, license, counts, skillNames, commit, image } = listing
  return {
    address: formatAddress(address),
    repository: describeRepository(repository),
    verified: isVerified(deps.operator, address),
    image: pictureOf(deps.operator, address) ?? manifestImageOf(deps, host, repository, commit, image),
    index: { status: 'ready', ...(manifest && { manifest }), license, counts, skillNames },
  }
}

/**
 * Asks about listings in their order, until a page is full. Returns the answers in the same order.
 *
 * @throws ServiceError `mount.unavailable` on timeout, or what `ask` throws
 */
async function askForCards(
  listings: readonly OwnerListing[],
  patienceMs: number,
  ask: (listing: OwnerListing) => Promise<Asked>,
): Promise<Asked[]> {
  let isOver = false
  const askInTime = (listing: OwnerListing) => {
    if (isOver) throw new Error('the page was answered without this question')
    return ask(listing)
  }

  async function askAll(): Promise<Asked[]> {
    const asked: Asked[] = []
    for (let missing = OWNER_CARDS; missing > 0 && asked.length < listings.length; ) {
      const next = await mapFew(listings.slice(asked.length, asked.length + missing), askInTime, QUESTIONS_AT_ONCE)
      asked.push(...next)
      missing -= next.filter(({ card }) => card !== null).length
    }
    return asked
  }

  try {
    return await withTimeout(askAll(), patienceMs, () => {
      throw new ServiceError('mount.unavailable', { retryAfter: 1 })
    })
  } finally {
    isOver = true
  }
}
