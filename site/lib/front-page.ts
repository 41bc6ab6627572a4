import type { Card } from '#core/contract/card.ts'
import type { Mount } from '#core/contract/mount.ts'
import type { ApiClient } from './api-client.ts'

/** The data of the front page. */
export interface FrontPage {
  /** The example to start with: the first featured address that is ready, else the first one. */
  example: Mount | null
  /** The other featured addresses. */
  cards: Card[]
  /** False when the API cannot answer. */
  isKnown: boolean
}

/** Fetches the featured addresses. If that fails, the page shows the address field alone. */
export async function loadFrontPage(client: ApiClient): Promise<FrontPage> {
  const featured = await client.get('featured', '', {})
  if (!featured.ok) return { example: null, cards: [], isKnown: false }
  const { items } = featured.answer
  const first = items.find(({ index }) => index.status === 'ready') ?? items[0]
  const mount = first && (await client.get('mounts', first.address, {}))
  if (!mount?.ok) return { example: null, cards: items, isKnown: true }
  return { example: mount.answer, cards: items.filter(card => card !== first), isKnown: true }
}
