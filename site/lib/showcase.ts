import type { ShowcaseEntry } from '#core/contract/showcase.ts'
import type { ApiClient } from './api-client.ts'

/** The showcase; empty when the API cannot answer, since the page has enough to show without it. */
export async function loadShowcase(client: ApiClient): Promise<ShowcaseEntry[]> {
  const result = await client.get('showcase', '', {}).catch(() => null)
  return result?.ok ? result.answer.items : []
}
