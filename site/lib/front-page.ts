import { LRUCache } from 'lru-cache'
import type { Card } from '#core/contract/card.ts'
import type { Mount } from '#core/contract/mount.ts'
import type { ShowcaseEntry } from '#core/contract/showcase.ts'
import type { ApiClient } from './api-client.ts'
import type { Delivery } from './delivery.ts'

/** The data of the front page. */
export interface FrontPage {
  /** The example to start with: the first featured address that is ready, else the first one. */
  example: Example | null
  /** The other featured addresses. */
  cards: Card[]
  /** Something on the page is being indexed. */
  isIndexing: boolean
  /** False when the API cannot answer. */
  isKnown: boolean
}

/** `delivery`: the first page of one of its skills, the one with the most kinds of text. */
export interface Example {
  mount: Mount
  delivery: Delivery | null
}

/** The deliveries that were chosen, by client, then by address and commit: choosing asks for several skills. */
const chosen = new WeakMap<ApiClient, LRUCache<string, Delivery>>()
const CHOSEN_BYTES = 1024 * 1024

function chosenOf(client: ApiClient): LRUCache<string, Delivery> {
  const sizeCalculation = (delivery: Delivery) => 2 * JSON.stringify(delivery).length
  const kept = chosen.get(client) ?? new LRUCache<string, Delivery>({ maxSize: CHOSEN_BYTES, sizeCalculation })
  chosen.set(client, kept)
  return kept
}

/** Of so many skills, the one with the most kinds of text is shown. */
const SKILLS_TRIED = 8

/** Fetches the featured addresses. If that fails, the page shows the address field alone. */
export async function loadFrontPage(client: ApiClient): Promise<FrontPage> {
  const featured = await client.get('featured', '', {})
  if (!featured.ok) return { example: null, cards: [], isIndexing: false, isKnown: false }
  const { items } = featured.answer
  const isIndexing = items.some(({ index }) => index.status === 'indexing')
  const first = items.find(({ index }) => index.status === 'ready') ?? items[0]
  const mount = first && (await client.get('mounts', first.address, {}))
  if (!mount?.ok) return { example: null, cards: items, isIndexing, isKnown: true }
  const example = { mount: mount.answer, delivery: await loadDeliveryOf(client, mount.answer) }
  return { example, cards: items.filter(card => card !== first), isIndexing, isKnown: true }
}

async function loadDeliveryOf(client: ApiClient, { address, commit, index }: Mount): Promise<Delivery | null> {
  if (index.status !== 'ready') return null
  const key = `${address} ${commit} ${index.indexedAt}`
  const kept = chosenOf(client).get(key)
  if (kept) return kept
  const paths = index.skills.filter(({ describedOnly }) => !describedOnly).map(({ path }) => path)
  const answers = await Promise.all(paths.slice(0, SKILLS_TRIED).map(path => client.get('skills', address, { path })))
  const deliveries = answers.flatMap((result): Delivery[] =>
    result.ok && result.answer.status === 'ready'
      ? [{ page: result.answer, number: 1, all: false, hasNext: false, frontMatter: null }]
      : [],
  )
  const [best = null] = deliveries.toSorted((left, right) => kindsOf(right) - kindsOf(left))
  if (best !== null) chosenOf(client).set(key, best)
  return best
}

/** How many kinds of text a delivery has. A complete one comes before one that continues. */
function kindsOf({ page: { skill, complete } }: Delivery): number {
  const kinds = [skill.ruleChain, skill.includes, skill.references, skill.files]
  return kinds.filter(list => list !== undefined && list.length > 0).length + (complete ? 0.5 : 0)
}

/** The showcase; empty when the API cannot answer, since the page has enough to show without it. */
export async function loadShowcase(client: ApiClient): Promise<ShowcaseEntry[]> {
  const result = await client.get('showcase', '', {}).catch(() => null)
  return result?.ok ? result.answer.items : []
}
