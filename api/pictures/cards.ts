import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { createSingleFlight } from '#core/concurrency/single-flight.ts'
import { memoryOfText } from '#core/memory.ts'
import type { CardModel } from './card.ts'
import { DRAWING_VERSION } from './card.ts'
import type { Drawer } from './drawer.ts'
import type { Icon } from './icons.ts'

/** A drawn card. */
export interface DrawnCard {
  png: Uint8Array
  /** Hash of everything that it shows; without quotes. */
  etag: string
}

/** Drawn cards, kept in memory by the hash of what they show: some 1,200 of them. */
export interface Cards {
  /**
   * @param icon picture of the owner
   * @returns `busy` when too many cards wait, or none can be drawn now
   */
  get(card: CardModel, icon: Icon | null): Promise<DrawnCard | 'busy'>
}

const KEPT_BYTES = 32 * 1024 * 1024
const ENTRY_BYTES = 256

export function createCards(drawer: Drawer): Cards {
  const flights = createSingleFlight<DrawnCard | 'busy'>()
  const kept = new LRUCache<string, DrawnCard>({
    maxSize: KEPT_BYTES,
    sizeCalculation: ({ png }, key) => ENTRY_BYTES + memoryOfText(key) + png.length,
  })

  async function draw(card: CardModel, icon: Icon | null): Promise<Uint8Array | null> {
    const drawn = await drawer.draw({ card, picture: icon?.bytes ?? null })
    if (drawn.status === 'done') return drawn.result
    if (drawn.status !== 'refused') return null
    // The words or the picture are more than the drawing can take: the address alone says where the link leads.
    const plain = await drawer.draw({ card: { ...card, title: card.plainTitle, description: null, lang: null }, picture: null })
    return plain.status === 'done' ? plain.result : null
  }

  return {
    async get(card, icon) {
      const etag = hash('sha256', JSON.stringify([DRAWING_VERSION, card, icon?.etag ?? null])).slice(0, 32)
      const before = kept.get(etag)
      if (before) return before
      return await flights.run(etag, async () => {
        const png = await draw(card, icon)
        if (png === null) return 'busy'
        const drawn = { png, etag }
        kept.set(etag, drawn)
        return drawn
      })
    },
  }
}
