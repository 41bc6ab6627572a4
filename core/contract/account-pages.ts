import { z } from 'zod'
import {
  GRANT_DAYS,
  GRANT_IDLE_DAYS,
  SESSION_DAYS,
  SESSION_IDLE_DAYS,
  SIGN_IN_RETURN_CHARACTERS,
  TOKEN_LABEL_CHARACTERS,
} from '../limits.ts'
import { Instant } from './shared.ts'

/** Bounds that the pages of a person name. */
export const ACCOUNT_LIMITS = {
  labelCharacters: TOKEN_LABEL_CHARACTERS,
  sessionDays: SESSION_DAYS,
  sessionIdleDays: SESSION_IDLE_DAYS,
  grantDays: GRANT_DAYS,
  grantIdleDays: GRANT_IDLE_DAYS,
  returnCharacters: SIGN_IN_RETURN_CHARACTERS,
} as const

/** The forms of the pages of a person. */
export const ACCOUNT_FORMS = ['token', 'delete_token', 'end_grant', 'end_session', 'decision'] as const
export type AccountForm = (typeof ACCOUNT_FORMS)[number]

/** What a form of a page led to. The page that the browser is sent to says it once. */
export const AccountNotice = z.discriminatedUnion('kind', [
  /** The one time that the secret of an agent token is shown. */
  z.object({
    kind: z.literal('token_created'),
    token: z.string(),
    address: z.string(),
    label: z.string(),
    expiresAt: Instant,
  }),
  z.object({ kind: z.literal('done'), form: z.enum(ACCOUNT_FORMS) }),
  z.object({
    kind: z.literal('refused'),
    form: z.enum(ACCOUNT_FORMS),
    /** See `core/errors.ts`. */
    code: z.string(),
    message: z.string(),
    /** The submitted values of the form for a token, which the page fills in again. */
    values: z.object({ address: z.string(), label: z.string(), days: z.string() }).optional(),
  }),
])
export type AccountNotice = z.infer<typeof AccountNotice>
