import { expect, test } from 'vitest'
import { FEATURED_CARD_MS } from '#api/cards/featured.ts'
import { OWNER_LISTINGS_MS } from '#api/cards/owner-page.ts'
import { ANSWER_MS } from '#infra/github/api-client.ts'
import { PATIENCE_MS } from '#infra/github/host.ts'
import { HISTORY_WAIT_MS } from '#infra/local/host.ts'

// Other tests inject their patience, so these values would otherwise be tested by none.
test('a visitor waits at most six seconds for a git host, and less for optional parts of a page', () => {
  expect(2 * PATIENCE_MS).toBeLessThanOrEqual(6_000)
  expect(ANSWER_MS).toBeLessThanOrEqual(6_000)
  expect(HISTORY_WAIT_MS).toBeLessThanOrEqual(6_000)
  expect(OWNER_LISTINGS_MS).toBeLessThanOrEqual(3_000)
  expect(FEATURED_CARD_MS).toBe(1_500)
})
