import { LRUCache } from 'lru-cache'
import type { Card } from '#core/contract/card.ts'
import type { Mount } from '#core/contract/mount.ts'
import type { ShowcaseEntry } from '#core/contract/showcase.ts'
import type { ApiClient } from './api-client.ts'
import type { Delivery } from './delivery.ts'
import { loadFeatured, loadRows, type RepositoryRow } from './repository-rows.ts'

/** The data of the front page. It is the same for everyone. */
export interface FrontPage {
  /** Of the first featured address that is ready; `null` before there is one. */
  example: Example | null
  rows: RepositoryRow[]
  /** A featured address is being indexed. */
  isIndexing: boolean
  /** False when the API cannot answer. */
  isKnown: boolean
}

/** `delivery`: the first page of one of its skills, the one with the most kinds of text. */
export interface Example {
  mount: Mount
  delivery: Delivery
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

/** Fetches what the front page shows. If the featured addresses cannot be read, it shows the local ones. */
export async function loadFrontPage(sources: Parameters<typeof loadRows>[0]): Promise<FrontPage> {
  const { client } = sources
  const featured = await loadFeatured(client)
  const [rows, example] = await Promise.all([loadRows(sources, featured ?? []), loadExample(client, featured ?? [])])
  const isIndexing = featured?.some(({ index }) => index.status === 'indexing') ?? false
  return { example, rows, isIndexing, isKnown: featured !== null }
}

async function loadExample(client: ApiClient, featured: readonly Card[]): Promise<Example | null> {
  const first = featured.find(({ index }) => index.status === 'ready')
  const mount = first && (await client.get('mounts', first.address, {}))
  if (!mount?.ok) return null
  const delivery = await loadDeliveryOf(client, mount.answer)
  return delivery && { mount: mount.answer, delivery }
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
