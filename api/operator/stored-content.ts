import { z } from 'zod'
import { HOST_NAMES, parseAddress } from '#core/address.ts'
import { LegalDocument } from '#core/contract/legal.ts'
import { ShowcaseEntry } from '#core/contract/showcase.ts'
import type { OperatorContent, ReadMedium } from './operator-content.ts'

/** The operator's content as one value: what a folder says, and what is published. */
export const StoredContent = z.object({
  version: z.literal(1),
  featured: z.array(
    z.object({
      address: z.string(),
      /** Name of a medium. */
      image: z.string().nullable(),
      verified: z.boolean(),
    }),
  ),
  showcase: z.array(ShowcaseEntry),
  legal: z.array(LegalDocument),
  media: z.array(z.object({ name: z.string().regex(/^[0-9a-f]{64}\.[a-z0-9]+$/), type: z.string(), sizeBytes: z.int().min(1) })),
})
export type StoredContent = z.infer<typeof StoredContent>

/** @param baseUrl public origin, without a slash at its end */
export function contentOf(stored: StoredContent, baseUrl: string, read: (name: string) => ReadMedium): OperatorContent {
  return {
    featured: stored.featured.map(({ address, image, verified }) => ({
      address: parseAddress(address, Object.keys(HOST_NAMES)),
      image: image === null ? null : `${baseUrl}/media/${image}`,
      verified,
    })),
    showcase: stored.showcase,
    legal: stored.legal,
    media: new Map(stored.media.map(({ name, type, sizeBytes }) => [name, { type, sizeBytes, read: read(name) }])),
  }
}
