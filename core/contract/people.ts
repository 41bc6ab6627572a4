import { z } from 'zod'
import { TOKEN_DAYS, TOKEN_LABEL_CHARACTERS, TOKENS_PER_PERSON } from '../limits.ts'
import { Instant } from './shared.ts'

export const User = z
  .object({
    host: z.string(),
    login: z.string().meta({ description: 'As the host spells it.' }),
    name: z.string().nullable(),
    avatar: z.string(),
  })
  .meta({ id: 'User' })
export type User = z.infer<typeof User>

/** `GET /api/v1/me` */
export const Me = z.object({ user: User.nullable().meta({ description: '`null` when nobody is signed in.' }) }).meta({ id: 'Me' })
export type Me = z.infer<typeof Me>

const InstalledRepository = z
  .object({
    address: z.string(),
    owner: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    visibility: z.enum(['public', 'private']),
  })
  .meta({ id: 'InstalledRepository' })

export const Installation = z
  .object({
    account: z.object({ login: z.string(), kind: z.enum(['organization', 'user']), avatar: z.string() }),
    manageUrl: z.string().nullable().meta({ description: "The host's page on which the installation is changed." }),
    selection: z.enum(['all', 'selected']),
    repositories: z.array(InstalledRepository),
    truncated: z.boolean().meta({ description: 'More repositories exist; they are opened by their addresses.' }),
  })
  .meta({ id: 'Installation' })
export type Installation = z.infer<typeof Installation>

/** `GET /api/v1/me/repositories` */
export const MyRepositories = z
  .object({
    installUrl: z.string().nullable().meta({ description: "The host's page on which an account installs the app." }),
    installations: z.array(Installation),
    truncated: z.boolean().meta({ description: 'More installations exist.' }),
  })
  .meta({ id: 'MyRepositories' })
export type MyRepositories = z.infer<typeof MyRepositories>

export const Grant = z
  .object({
    id: z.string(),
    client: z
      .object({ name: z.string(), uri: z.string().nullable() })
      .meta({ description: 'The app, in its own words: nobody checked them.' }),
    address: z.string().meta({ description: 'The repository that the app reads.' }),
    createdAt: Instant,
    lastUsedAt: Instant.nullable(),
  })
  .meta({ id: 'Grant' })
export type Grant = z.infer<typeof Grant>

/** `GET /api/v1/me/grants` */
export const MyGrants = z.object({ items: z.array(Grant).meta({ description: 'Newest first.' }) }).meta({ id: 'MyGrants' })
export type MyGrants = z.infer<typeof MyGrants>

export const TokenItem = z
  .object({
    id: z.string(),
    address: z.string().meta({ description: 'The repository that the token reads.' }),
    label: z.string(),
    createdAt: Instant,
    expiresAt: Instant,
    lastUsedAt: Instant.nullable().meta({ description: 'At most one hour old; `null` before the first use.' }),
  })
  .meta({ id: 'TokenItem' })
export type TokenItem = z.infer<typeof TokenItem>

/** `GET /api/v1/me/tokens` */
export const MyTokens = z
  .object({
    items: z.array(TokenItem).meta({ description: 'Newest first. Tokens that expired are left out.' }),
    limit: z.literal(TOKENS_PER_PERSON).meta({ description: 'Tokens that one person may hold.' }),
  })
  .meta({ id: 'MyTokens' })
export type MyTokens = z.infer<typeof MyTokens>

/** Body of `POST /api/v1/me/tokens` */
export const TokenRequest = z
  .strictObject({
    address: z.string().meta({ description: '`/gh/<owner>/<repository>`, without ref and path.' }),
    label: z
      .string()
      .refine(isLabel)
      .meta({ description: `1 to ${TOKEN_LABEL_CHARACTERS} characters, without control characters.` }),
    expiresInDays: z.int().min(TOKEN_DAYS.min).max(TOKEN_DAYS.max),
  })
  .meta({ id: 'TokenRequest' })
export type TokenRequest = z.infer<typeof TokenRequest>

function isLabel(text: string): boolean {
  const { length } = [...text]
  return length >= 1 && length <= TOKEN_LABEL_CHARACTERS && !/\p{Cc}|\p{Cs}/u.test(text)
}

/** `POST /api/v1/me/tokens` */
export const CreatedToken = z
  .object({ token: z.string().meta({ description: 'The secret. It is answered this once only.' }), item: TokenItem })
  .meta({ id: 'CreatedToken' })
export type CreatedToken = z.infer<typeof CreatedToken>

/** The answer of a 204: there is no body. */
export const Nothing = z.null()
