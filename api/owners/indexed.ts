import { formatAddress } from '#core/address.ts'
import type { Card } from '#core/contract/card.ts'
import { ServiceError } from '#core/errors.ts'
import { OWNER_CARDS } from '#core/limits.ts'
import type { OwnerListing } from '#core/owner-listings.ts'
import type { AccountDirectory, GitHost, HostAccount, HostAnswer, HostRepository } from '#core/ports/git-host.ts'
import { ROOT } from '#core/repo-path.ts'
import { compareBytes } from '#core/text.ts'
import type { Deps } from '../deps.ts'
import { manifestImageOf } from '../mount/image.ts'
import { isServed, requireValue } from '../mount/open-mount.ts'
import { describeRepository } from '../mount/overview.ts'
import { isVerified, pictureOf } from '../operator/content.ts'

export interface IndexedRepositories {
  /** Most skills first. */
  cards: Card[]
  /** Ids of what the host's list is not to name: what has a card, and what the host does not show any more. */
  known: ReadonlySet<string>
}

interface Listing {
  host: GitHost
  accounts: AccountDirectory
  account: HostAccount
}

/** Questions to the host at once, and how long all of them may take together. What is answered later is known at the next try. */
const QUESTIONS = 10
const PATIENCE_MS = 2_800

/**
 * The account's repositories that are indexed and have skills. Each is shown only while the host shows it to everyone, under this account.
 *
 * @throws ServiceError `mount.rate_limited`, `mount.unavailable`, `skill.unavailable`
 */
export async function readIndexed(deps: Deps, { host, accounts, account }: Listing): Promise<IndexedRepositories> {
  const listings = (await readListings(deps, account)).sort(byRank).slice(0, OWNER_CARDS)
  const answers = await askAll(listings, ({ name }) => accounts.shown(account.login, name))
  const cards: Card[] = []
  const known = new Set<string>()
  for (const [index, listing] of listings.entries()) {
    const repository = requireShown(answers[index])
    // Its name may lead to another repository by now, or the repository belong to another account.
    const isStillTheirs = repository?.id === listing.repositoryId && repository.ownerId === account.id
    const card = isStillTheirs ? describeCard(deps, host, repository, listing) : null
    if (card) cards.push(card)
    if (card || repository === null) known.add(listing.repositoryId)
  }
  return { cards, known }
}

async function readListings(deps: Deps, account: HostAccount): Promise<OwnerListing[]> {
  try {
    return await deps.listings.of(account.id)
  } catch (cause) {
    throw new ServiceError('skill.unavailable', { cause })
  }
}

function byRank(left: OwnerListing, right: OwnerListing): number {
  return right.counts.skills - left.counts.skills || compareBytes(left.name, right.name)
}

/** `null`: the host does not show it. */
function requireShown(answer: HostAnswer<HostRepository> | undefined): HostRepository | null {
  if (answer === undefined) throw new ServiceError('mount.unavailable', { retryAfter: 1 })
  return answer.status === 'missing' ? null : requireValue(answer, 'mount.repo_not_found')
}

function describeCard(deps: Deps, host: GitHost, repository: HostRepository, listing: OwnerListing): Card | null {
  const address = { host: host.segment, owner: repository.owner, repository: repository.name, ref: null, path: ROOT }
  if (!isServed(deps, address)) return null
  const { manifest, license, counts, skillNames, commit, image } = listing
  return {
    address: formatAddress(address),
    repository: describeRepository(repository),
    verified: isVerified(deps.operator, address),
    image: pictureOf(deps.operator, address) ?? manifestImageOf(host, repository, commit, image),
    index: { status: 'ready', ...(manifest && { manifest }), license, counts, skillNames },
  }
}

/** Asks a few at a time. What is not answered in time stays `undefined`. */
async function askAll<Item, Answer>(
  items: readonly Item[],
  ask: (item: Item) => Promise<Answer>,
): Promise<(Answer | undefined)[]> {
  const answers: (Answer | undefined)[] = items.map(() => undefined)
  let next = 0
  let isOver = false
  const work = async () => {
    while (next < items.length && !isOver) {
      const index = next++
      answers[index] = await ask(items[index] as Item)
    }
  }
  let timer: NodeJS.Timeout | undefined
  const impatient = new Promise<void>(resolve => {
    timer = setTimeout(resolve, PATIENCE_MS)
  })
  await Promise.race([Promise.all(Array.from({ length: QUESTIONS }, work)), impatient])
  clearTimeout(timer)
  isOver = true
  return [...answers]
}
