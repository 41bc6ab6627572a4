import { z } from 'zod'
import { Instant } from './shared.ts'

const MediaFile = z
  .object({
    url: z.string().meta({ description: 'Path below `/media/`, named by the SHA-256 of the file.' }),
    type: z.string().meta({ description: 'Media type, by the bytes of the file.' }),
  })
  .meta({ id: 'MediaFile' })

export const ShowcaseText = z
  .object({
    title: z.string(),
    body: z.string(),
    tags: z.array(z.string()),
    action: z.string().meta({ description: 'Words of the link to the address.' }),
    requirement: z.string().nullable().meta({ description: 'What a visitor needs for it.' }),
    clip: z.string().nullable().meta({ description: 'What the clip shows, in words.' }),
    credit: z.string().nullable(),
    demo: z.string().nullable().meta({ description: 'The example conversation.' }),
  })
  .meta({ id: 'ShowcaseText' })
export type ShowcaseText = z.infer<typeof ShowcaseText>

/** The kinds of media that an entry may have besides its poster. */
export const MEDIA_SLOTS = ['clip', 'animation', 'reference', 'picture', 'social'] as const

export const ShowcaseEntry = z
  .object({
    id: z.string(),
    address: z.string().meta({ description: 'Canonical form of the address as the operator wrote it.' }),
    position: z.int(),
    width: z.int().min(1).meta({ description: 'Pixels of the clip, or of the poster where there is no clip.' }),
    height: z.int().min(1),
    durationMs: z.int().min(1).nullable().meta({ description: 'Of the clip; `null` without one.' }),
    published: Instant.nullable().meta({ description: 'When the clip was published; `null` without a clip.' }),
    media: z.object({
      poster: MediaFile,
      clip: MediaFile.nullable(),
      animation: MediaFile.nullable(),
      reference: MediaFile.nullable(),
      picture: MediaFile.nullable(),
      social: MediaFile.nullable(),
    }),
    texts: z.record(z.string(), ShowcaseText).meta({ description: 'Keyed by canonical language tag.' }),
  })
  .meta({ id: 'ShowcaseEntry' })
export type ShowcaseEntry = z.infer<typeof ShowcaseEntry>

/** `GET /api/v1/showcase` */
export const Showcase = z
  .object({ items: z.array(ShowcaseEntry).meta({ description: 'In order of their positions.' }) })
  .meta({ id: 'Showcase' })
