import { z } from 'zod'
import { User } from './people.ts'

/** Query of `GET /api/v1/oauth/request` */
export const OAuthRequestQuery = z.strictObject({
  request: z.string().meta({ description: 'The sealed authorization request, as the consent page received it.' }),
})
export type OAuthRequestQuery = z.infer<typeof OAuthRequestQuery>

/** `GET /api/v1/oauth/request` */
export const OAuthRequest = z
  .object({
    client: z
      .object({
        name: z.string(),
        uri: z.string().nullable(),
        redirectHost: z
          .string()
          .meta({ description: 'Host of the web address to which the browser goes next, or the scheme of an application.' }),
        redirectKind: z.enum(['web', 'loopback', 'application']).meta({
          description:
            'A page on the web, an app on the computer of the person, or the link of an application that is installed there.',
        }),
        loopback: z.boolean().meta({ description: "The client is an app on the person's own computer." }),
      })
      .meta({ description: 'The app. Name and URI are its own words: nobody checked them.' }),
    address: z.string().meta({ description: 'The repository that the app wants to read.' }),
    scope: z.string().meta({ description: 'Scopes, separated by spaces.' }),
    user: User.nullable().meta({ description: '`null` when nobody is signed in.' }),
    visible: z.boolean().nullable().meta({
      description:
        'Whether the person can see the repository now; `null` when nobody is signed in, or the host cannot be asked. `false` for one that does not exist.',
    }),
    installUrl: z
      .string()
      .nullable()
      .meta({ description: "The host's page on which an account installs the app of this deployment." }),
  })
  .meta({ id: 'OAuthRequest' })
export type OAuthRequest = z.infer<typeof OAuthRequest>

/** Body of `POST /api/v1/oauth/decision` */
export const OAuthDecision = z.strictObject({ request: z.string(), approve: z.boolean() }).meta({ id: 'OAuthDecision' })
export type OAuthDecision = z.infer<typeof OAuthDecision>

/** `POST /api/v1/oauth/decision` */
export const OAuthRedirect = z
  .object({ redirect: z.string().meta({ description: 'Where the browser goes next.' }) })
  .meta({ id: 'OAuthRedirect' })
export type OAuthRedirect = z.infer<typeof OAuthRedirect>
