import { type Address, formatAddress, parseAddress } from '#core/address.ts'
import type { Card } from '#core/contract/card.ts'
import type { ListedRepositories, ListedState } from '#core/listed-repositories.ts'
import type { ApiClient } from './api-client.ts'
import { type PictureOrigins, pictureHref } from './links.ts'
import { readAddress } from './read-address.ts'

/** A repository as a row of a list. */
export interface RepositoryRow {
  address: Address
  href: string
  isVerified: boolean
  picture: string | undefined
  /** What it says of itself: what was indexed, or else its host. */
  sentence: string | null
  state: ListedState
}

/** Rows that are shown at once, and from how many on they can be filtered. */
export const SHOWN_ROWS = 100
export const FILTERED_ROWS = 30
const FILTER_CHARACTERS = 200

/** Lists of a site whose service tells nothing beside the API. */
export const UNKNOWN_LISTS: ListedRepositories = {
  peek: async addresses => addresses.map(address => ({ address, description: null, state: { kind: 'unread' } })),
  search: async addresses => ({ found: [], unread: [...addresses], isCut: false }),
}

type Sources = Pick<App.Locals, 'client' | 'listLocal' | 'listed' | 'hosts'> & PictureOrigins

/** The featured addresses, in the operator's order. `null` when the API cannot answer. */
export async function loadFeatured(client: ApiClient): Promise<Card[] | null> {
  const featured = await client.get('featured', '', {})
  return featured.ok ? featured.answer.items : null
}

/** The addresses of lists that are the same for everyone: those that the operator features, then the local ones. */
export function listedAddresses(featured: readonly Card[], local: readonly string[]): string[] {
  return [...new Set([...featured.map(({ address }) => address), ...local])]
}

/**
 * The featured addresses and the local repositories that everyone may open, as rows; those that have nothing to read come last. Local ones start
 * no index job.
 */
export async function loadRows(sources: Sources, featured: readonly Card[]): Promise<RepositoryRow[]> {
  const addresses = listedAddresses(featured, await sources.listLocal())
  const peeked = new Map((await sources.listed.peek(addresses)).flatMap(one => (one === null ? [] : [[one.address, one]])))
  const cards = new Map(featured.map(card => [card.address, card]))
  const rows = addresses.flatMap((text): RepositoryRow[] => {
    const read = readAddress(text, sources.hosts)
    const card = cards.get(text)
    const found = peeked.get(text)
    if ('error' in read || (found === undefined && card === undefined)) return []
    const state = found?.state.kind === 'ready' || card === undefined ? found?.state : stateOfCard(card)
    const own = state?.kind === 'ready' ? state.facts.sentence : null
    return [
      {
        address: read.address,
        href: formatAddress(read.address),
        isVerified: card?.verified ?? false,
        picture: card && pictureHref(text, card, sources),
        sentence: own ?? card?.repository.description ?? found?.description ?? null,
        state: state ?? { kind: 'unavailable' },
      },
    ]
  })
  return [...rows.filter(row => !hasNothing(row)), ...rows.filter(hasNothing)]
}

/** A featured address knows less of itself while it is not indexed, or where only the API answers. */
function stateOfCard({ index, repository }: Card): ListedState {
  if (index.status === 'failed') return { kind: 'failed', errorCode: index.errorCode }
  if (index.status === 'indexing') return { kind: 'indexing' }
  const { manifest, license, counts } = index
  const facts = { sentence: manifest?.description ?? repository.description, language: manifest?.language ?? null }
  return { kind: 'ready', facts: { ...facts, ...counts, withheld: 0, license, findings: null, changedAt: null } }
}

function hasNothing({ state }: RepositoryRow): boolean {
  return state.kind === 'failed' || state.kind === 'empty' || state.kind === 'damaged' || state.kind === 'unavailable'
}

/** The rows whose name or sentence has all the words. */
export function filterRows(rows: readonly RepositoryRow[], words: string): readonly RepositoryRow[] {
  const wanted = words.slice(0, FILTER_CHARACTERS).toLowerCase().split(/\s+/).filter(Boolean)
  if (wanted.length === 0) return rows
  return rows.filter(({ href, sentence }) => {
    const text = `${href.slice(1)} ${sentence ?? ''}`.toLowerCase()
    return wanted.every(word => text.includes(word))
  })
}

/** Names that a person may be writing, as the endpoint of suggestions answers them. */
export interface Suggestions {
  items: { text: string; href: string }[]
}

const SUGGESTED = 8
const SUGGESTION_CHARACTERS = 100

/** The addresses that contain the text, best first: its repository begins with it, its owner does, any other part has it. */
export function suggest(addresses: readonly string[], text: string): Suggestions {
  const wanted = text.slice(0, SUGGESTION_CHARACTERS).trim().replace(/^\//, '').toLowerCase()
  if (wanted === '') return { items: [] }
  const placeOf = (address: string) => {
    const { owner, repository } = parseAddress(address, [address.split('/')[1] ?? ''])
    const places = [repository, `${owner}/${repository}`, address.slice(1)].map(name => name.toLowerCase().startsWith(wanted))
    return places.includes(true) ? places.indexOf(true) : places.length
  }
  const items = addresses
    .filter(address => address.toLowerCase().includes(wanted))
    .map(address => ({ address, place: placeOf(address) }))
    .sort((left, right) => left.place - right.place)
    .slice(0, SUGGESTED)
    .map(({ address }) => ({ text: decodeURI(address.slice(1)), href: address }))
  return { items }
}
