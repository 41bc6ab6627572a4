import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { ApiClient } from './api-client.ts'

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

  set(key: string, facts: string, page: SentPage): void {
    this.#pages.set(key, { ...page, facts })
  }
}

/**
 * The facts of a mount as a hash of the API's answer; `null` when it has none to keep a page by.
 *
 * @param hasRefs the page shows branches or tags, or where the default branch is
 */
export async function readFacts(client: ApiClient, address: string, hasRefs: boolean): Promise<string | null> {
  const [{ status, body }, refs] = await Promise.all([
    client.getText('mounts', address, {}),
    hasRefs ? client.getText('refs', address, {}) : null,
  ])
  if (status !== 200) return null
  // A host that does not say where its refs are is asked again for each page.
  return refs === null ? hash('sha256', body) : refs.status === 200 ? hash('sha256', `${body}\n${refs.body}`) : null
}

/** A client that notes whether every answer was one that stays the same at its commit. */
export function watchAnswers(client: ApiClient): { client: ApiClient; isLasting(): boolean } {
  let isLasting = true
  const watched: ApiClient = {
    getText: client.getText.bind(client),
    async get(name, subject, query) {
      const result = await client.get(name, subject, query)
      if (!result.ok || ('status' in result.answer && result.answer.status !== 'ready')) isLasting = false
      return result
    },
  }
  return { client: watched, isLasting: () => isLasting }
}
