import type { Card } from '#core/contract/card.ts'
import type { Mount } from '#core/contract/mount.ts'
import type { ApiClient } from './api-client.ts'

/** What the front page shows beside the address field. */
export interface FrontPage {
  /** The first featured address that is ready, as something to begin with; the first of all while none is. */
  example: Mount | null
  /** The other featured addresses. */
  cards: Card[]
  /** False when they cannot be read now. */
  isKnown: boolean
}

/** Asks the API for what is featured. What cannot be had is left out: the address field is there in any case. */
export async function loadFrontPage(client: ApiClient): Promise<FrontPage> {
  const featured = await client.get('featured', '', {})
  if (!featured.ok) return { example: null, cards: [], isKnown: false }
  const { items } = featured.answer
  const first = items.find(({ index }) => index.status === 'ready') ?? items[0]
  const mount = first && (await client.get('mounts', first.address, {}))
  if (!mount?.ok) return { example: null, cards: items, isKnown: true }
  return { example: mount.answer, cards: items.filter(card => card !== first), isKnown: true }
}
