import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { ListedRepositories } from '#core/listed-repositories.ts'
import type { ApiClient } from './api-client.ts'
import { listedAddresses, loadFeatured } from './repository-rows.ts'

/** A page as it was sent. */
export interface SentPage {
  headers: [name: string, value: string][]
  bytes: Uint8Array
}

interface KeptPage extends SentPage {
  facts: string
}

/** Memory of all kept pages, and of the largest. */
const CACHE_BYTES = 32 * 1024 * 1024
const PAGE_BYTES = 1024 * 1024
const ENTRY_BYTES = 1_024

/**
 * Keeps pages of addresses. What a page shows follows from its URL and the facts of its mount: whether the visitor may see it, and its commit. So
 * a kept page is sent while the API answers the same facts, and each visitor asks for them.
 */
export class PageCache {
  readonly #pages: LRUCache<string, KeptPage>

  constructor(maxBytes = CACHE_BYTES) {
    const sizeCalculation = ({ bytes }: KeptPage, key: string) => ENTRY_BYTES + 2 * key.length + bytes.byteLength
    this.#pages = new LRUCache({ maxSize: maxBytes, maxEntrySize: PAGE_BYTES, sizeCalculation })
  }

  get(key: string, facts: string): SentPage | undefined {
    const kept = this.#pages.get(key)
    return kept?.facts === facts ? kept : undefined
  }

  /** The facts by which a page is kept. */
  factsOf(key: string): string | null {
    return this.#pages.peek(key)?.facts ?? null
  }

  set(key: string, facts: string, page: SentPage): void {
    this.#pages.set(key, { ...page, facts })
  }
}

/**
 * Reads the facts of a mount, the tags of the API's answers; `null` when it has none to keep a page by.
 *
 * @param hasRefs the page shows branches or tags, or where the default branch is
 * @param known the facts of a kept page, which cost less to read if they are still the same
 */
export async function readFacts(
  client: ApiClient,
  address: string,
  hasRefs: boolean,
  known: string | null,
): Promise<string | null> {
  const [knownMount = null, knownRefs = null] = known?.split(' ') ?? []
  const [mount, refs] = await Promise.all([
    client.getTag('mounts', address, {}, knownMount),
    hasRefs ? client.getTag('refs', address, {}, knownRefs) : null,
  ])
  if (mount.status !== 200) return null
  if (refs === null) return mount.tag
  // A host that does not say where its refs are is asked again for each page.
  return refs.status === 200 ? `${mount.tag} ${refs.tag}` : null
}

/** Numbers of answers about listed repositories, which are new objects when they were read again. */
const numbers = new WeakMap<object, number>()
let numbered = 0

function numberOf(answer: object): number {
  const number = numbers.get(answer) ?? ++numbered
  numbers.set(answer, number)
  return number
}

/** Reads the facts of the front page: what the operator chose, and what is known of the rows. */
export async function readFrontFacts({
  client,
  listLocal = async () => [],
  listed,
}: {
  client: ApiClient
  listLocal?: (() => Promise<readonly string[]>) | undefined
  listed?: ListedRepositories | undefined
}): Promise<string | null> {
  const [featured, showcase] = await Promise.all([loadFeatured(client), client.getTag('showcase', '', {}, null)])
  if (featured === null || listed === undefined) return null
  const peeked = await listed.peek(listedAddresses(featured, await listLocal()))
  return [hash('sha256', JSON.stringify(featured)), numberOf(peeked), showcase.tag].join(' ')
}

/** Of answers that pages were rendered from: the facts of their mount, as they were before and after. */
export type AnswerFacts = WeakMap<object, string>

/** The client of one page, and what its answers were. */
interface WatchedAnswers {
  client: ApiClient
  /** Whether every answer was one that stays the same at its commit. */
  areLasting(): boolean
  /** Notes that the facts are still the same, so that another page of them need not ask for the same answers. */
  keep(): void
}

/** @param facts of the mount of the page; `null` when it has none */
export function watchAnswers(client: ApiClient, facts: string | null, factsOf: AnswerFacts): WatchedAnswers {
  let areLasting = true
  const answers: object[] = []
  const watched: ApiClient = {
    last: client.last.bind(client),
    getTag: client.getTag.bind(client),
    as: client.as.bind(client),
    async get(name, subject, query) {
      const last = facts === null ? null : client.last(name, subject, query)
      if (last !== null && factsOf.get(last) === facts) return { ok: true, status: 200, answer: last }
      const result = await client.get(name, subject, query)
      if (result.ok) answers.push(result.answer)
      if (!result.ok || ('status' in result.answer && result.answer.status !== 'ready')) areLasting = false
      return result
    },
  }
  return {
    client: watched,
    areLasting: () => areLasting,
    keep: () => {
      if (facts !== null) for (const answer of answers) factsOf.set(answer, facts)
    },
  }
}
