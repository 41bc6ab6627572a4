import { expect, test } from 'vitest'
import type { CardModel } from '#api/pictures/card.ts'
import { createCards, type Drawer } from '#api/pictures/cards.ts'
import { GOLDEN_CARDS } from '#test/support/golden-cards.ts'

/** Three of them are more than the cache holds. */
const PNG = new Uint8Array(12 * 1024 * 1024)

const card = (title: string): CardModel => ({ ...(GOLDEN_CARDS.latin as CardModel), title })

test('a card that cannot be drawn in the end is busy, also where others fill the cache meanwhile', async () => {
  const slow = Promise.withResolvers<Awaited<ReturnType<Drawer['draw']>>>()
  const drawer: Drawer = {
    draw: async ({ card: { title } }) => (title === 'slow' ? await slow.promise : { status: 'done', result: PNG }),
    async close() {},
  }
  const cards = createCards(drawer)
  const asked = cards.get(card('slow'), null, 'one')
  for (const title of ['a', 'b', 'c', 'd']) expect(await cards.get(card(title), null, 'other')).toHaveProperty('png')
  slow.resolve({ status: 'busy' })
  expect(await asked).toBe('busy')
})
