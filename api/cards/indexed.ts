import { formatAddress } from '#core/address.ts'
import type { Card } from '#core/contract/card.ts'
import { ServiceError } from '#core/errors.ts'
import { HIDDEN_HOURS, OWNER_CARDS } from '#core/limits.ts'
import type { OwnerListing } from '#core/owner-listings.ts'
import type { AccountDirectory, GitHost, HostAccount, HostAnswer, HostRepository } from '#core/ports/git-host.ts'
import { ROOT } from '#core/repo-path.ts'
import { compareBytes } from '#core/text.ts'
import type { Deps } from '../deps.ts'
import { manifestImageOf } from '../mount/image.ts'
import { isServed, requireValue } from '../mount/open-mount.ts'
import { describeRepository } from '../mount/overview.ts'
import { isVerified, pictureOf } from '../operator/operator-content.ts'

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
const QUESTIONS_AT_ONCE = 10
const PATIENCE_MS = 2_800
/** Questions for one page: enough when half of what is listed is hidden. */
const QUESTIONS = 2 * OWNER_CARDS

/**
 * The account's repositories that are indexed and have skills. Each is shown only while the host shows it to everyone, under this account.
 *
 * @throws ServiceError `mount.rate_limited`, `mount.unavailable`, `skill.unavailable`
 */
export async function readIndexed(deps: Deps, { host, accounts, account }: Listing): Promise<IndexedRepositories> {
  const addressOf = (name: string) => ({ host: host.segment, owner: account.login, repository: name })
  const listings = (await readListings(deps, account)).filter(({ name }) => isServed(deps, addressOf(name)))
  const hopeful = listings.sort(byHope).slice(0, QUESTIONS)
  const asked = await askForCards(hopeful, deps.patienceMs?.listings ?? PATIENCE_MS, async listing => {
    const sight = sightOf(listing, await accounts.shown(account.login, listing.name))
    const isTheirs = isListed(listing, sight, account)
    return { listing, sight, card: isTheirs ? describeCard(deps, host, sight, listing) : null }
  })
  await noteChanges(deps, account, asked)

  const shown = asked.flatMap(({ card, listing }) => (card ? [{ card, listing }] : []))
  const cards = shown.sort((left, right) => byRank(left.listing, right.listing)).slice(0, OWNER_CARDS)
  const seen = new Map(asked.map(({ listing, sight }) => [listing.repositoryId, sight]))
  // What was hidden and nobody asked about is as it was.
  const hidden = listings.filter(({ repositoryId, hiddenSince }) => {
    return typeof (seen.get(repositoryId) ?? (hiddenSince === undefined ? null : 'unknown')) === 'string'
  })
  return {
    cards: cards.map(({ card }) => card),
    known: new Set([...cards.map(({ listing }) => listing.repositoryId), ...hidden.map(({ repositoryId }) => repositoryId)]),
  }
}

/** What the host shows where a listing leads. `unknown`: it cannot be asked, and showed nothing before. */
type Sight = HostRepository | 'hidden' | 'unknown'

interface Asked {
  listing: OwnerListing
  sight: Sight
  card: Card | null
}

/** @throws ServiceError when the host cannot be asked about what it showed before */
function sightOf({ hiddenSince }: OwnerListing, answer: HostAnswer<HostRepository>): Sight {
  if (answer.status === 'missing') return 'hidden'
  if (answer.status !== 'ok' && hiddenSince !== undefined) return 'unknown'
  return requireValue(answer, 'mount.repo_not_found')
}

/** A name may lead to another repository by now, and the repository belong to another account. */
function isListed({ repositoryId }: OwnerListing, sight: Sight, account: HostAccount): sight is HostRepository {
  return typeof sight !== 'string' && sight.id === repositoryId && sight.ownerId === account.id
}

/** Writes down what has changed at the host. The page does not depend on it: what cannot be written is found again. */
async function noteChanges({ listings, uses, clock }: Deps, account: HostAccount, asked: readonly Asked[]): Promise<void> {
  const now = clock.now()
  const writing = asked.map(async ({ listing, sight }) => {
    const { hiddenSince, repositoryId } = listing
    if (sight === 'unknown') return
    if (sight === 'hidden') {
      uses.hidden(repositoryId)
      if (hiddenSince === undefined) await listings.hide(account.id, listing, now)
      else if (Date.parse(hiddenSince) <= now.getTime() - HIDDEN_HOURS * HOUR_MS) await listings.drop(account.id, listing)
    } else if (!isListed(listing, sight, account)) await listings.drop(account.id, listing)
    else if (hiddenSince !== undefined) await listings.show(account.id, listing)
  })
  await Promise.allSettled(writing)
}

const HOUR_MS = 3_600_000

async function readListings(deps: Deps, account: HostAccount): Promise<OwnerListing[]> {
  try {
    return await deps.listings.of(account.id)
  } catch (cause) {
    throw new ServiceError('skill.unavailable', { cause })
  }
}

/** The order of asking: what was hidden takes no place of what was not. */
function byHope(left: OwnerListing, right: OwnerListing): number {
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
    image: pictureOf(deps.operator, address) ?? manifestImageOf(host, repository, commit, image),
    index: { status: 'ready', ...(manifest && { manifest }), license, counts, skillNames },
  }
}

/**
 * Asks about listings in their order, until there are as many cards as a page has. The answers in the same order.
 *
 * @throws ServiceError `mount.unavailable` when this takes too long, or what `ask` throws
 */
async function askForCards(
  listings: readonly OwnerListing[],
  patienceMs: number,
  ask: (listing: OwnerListing) => Promise<Asked>,
): Promise<Asked[]> {
  let isOver = false
  let timer: NodeJS.Timeout | undefined
  const impatient = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ServiceError('mount.unavailable', { retryAfter: 1 })), patienceMs)
  })

  /** Asks a few at a time. */
  async function askAll(some: readonly OwnerListing[]): Promise<Asked[]> {
    const answers: Asked[] = []
    const rest = some.entries()
    const work = async () => {
      for (const [index, listing] of rest) if (!isOver) answers[index] = await ask(listing)
    }
    await Promise.race([Promise.all(Array.from({ length: QUESTIONS_AT_ONCE }, work)), impatient])
    return answers
  }

  try {
    const asked: Asked[] = []
    for (let missing = OWNER_CARDS; missing > 0 && asked.length < listings.length; ) {
      const next = await askAll(listings.slice(asked.length, asked.length + missing))
      asked.push(...next)
      missing -= next.filter(({ card }) => card !== null).length
    }
    return asked
  } finally {
    isOver = true
    clearTimeout(timer)
  }
}
