import { z } from 'zod'

export const LEGAL_KINDS = ['terms', 'privacy'] as const
export type LegalKind = (typeof LEGAL_KINDS)[number]

/** `GET /api/v1/legal/<kind>` */
export const LegalDocument = z
  .object({
    kind: z.enum(LEGAL_KINDS),
    revised: z.iso.date().nullable().meta({ description: 'The latest revision of any language.' }),
    texts: z
      .record(z.string(), z.object({ title: z.string(), body: z.string().meta({ description: 'Markdown.' }) }))
      .meta({ description: 'Keyed by canonical language tag.' }),
  })
  .meta({ id: 'LegalDocument' })
export type LegalDocument = z.infer<typeof LegalDocument>
