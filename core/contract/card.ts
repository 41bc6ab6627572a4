import { z } from 'zod'
import { Repository } from './mount.ts'
import { Counts, IndexErrorCode, Instant, License, ManifestMetadata } from './shared.ts'

const CardReady = z
  .object({
    status: z.literal('ready'),
    manifest: ManifestMetadata.optional().meta({ description: 'The nearest manifest at or above the folder of the address.' }),
    license: License,
    counts: Counts,
    skillNames: z.array(z.string()).meta({ description: 'Names of the first skills, in path order.' }),
  })
  .meta({ id: 'CardReady' })
const CardIndexing = z.object({ status: z.literal('indexing') }).meta({ id: 'CardIndexing' })
const CardFailed = z
  .object({ status: z.literal('failed'), errorCode: IndexErrorCode, retryAt: Instant })
  .meta({ id: 'CardFailed' })

/** An address in a list, with a summary of its mount. */
export const Card = z
  .object({
    address: z.string().meta({ description: 'Canonical address.' }),
    repository: Repository,
    verified: z.boolean(),
    image: z.string().nullable().meta({ description: 'As on the mount.' }),
    index: z.discriminatedUnion('status', [CardIndexing, CardFailed, CardReady]),
  })
  .meta({ id: 'Card' })
export type Card = z.infer<typeof Card>

/** `GET /api/v1/featured` */
export const Featured = z
  .object({ items: z.array(Card).meta({ description: 'In the order that the operator chose.' }) })
  .meta({ id: 'Featured' })
export type Featured = z.infer<typeof Featured>
