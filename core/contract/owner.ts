import { z } from 'zod'
import { OWNER_PAGE } from '../limits.ts'
import { Card } from './card.ts'
import { Instant, queryInteger } from './shared.ts'

export const OwnerQuery = z.strictObject({
  page: queryInteger(OWNER_PAGE.min, OWNER_PAGE.max)
    .default(OWNER_PAGE.default)
    .meta({ description: 'Number of the page, from 1.' }),
})
export type OwnerQuery = z.infer<typeof OwnerQuery>

export const Owner = z
  .object({
    host: z.string(),
    login: z.string().meta({ description: 'As the host spells it.' }),
    name: z.string().nullable(),
    bio: z.string().nullable(),
    kind: z.enum(['organization', 'user']),
    avatar: z.string().nullable(),
    url: z.string().meta({ description: "The account's page at the host." }),
    publicRepositories: z.int().min(0).meta({ description: 'As counted by the host.' }),
  })
  .meta({ id: 'Owner' })
export type Owner = z.infer<typeof Owner>

export const OwnerRepository = z
  .object({
    address: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    fork: z.boolean(),
    archived: z.boolean(),
    stars: z.int().min(0),
    pushedAt: Instant.nullable(),
  })
  .meta({ id: 'OwnerRepository' })
export type OwnerRepository = z.infer<typeof OwnerRepository>

/** `GET /api/v1/owners/gh/<owner>` */
export const OwnerPage = z
  .object({
    owner: Owner,
    indexed: z.array(Card).optional().meta({
      description: 'On the first page only: repositories whose default branch is indexed and has skills, most skills first.',
    }),
    repositories: z
      .array(OwnerRepository)
      .meta({ description: 'The others, most recently pushed first, as the host lists them.' }),
    nextPage: z.int().min(OWNER_PAGE.min).max(OWNER_PAGE.max).nullable(),
  })
  .meta({ id: 'OwnerPage' })
export type OwnerPage = z.infer<typeof OwnerPage>
