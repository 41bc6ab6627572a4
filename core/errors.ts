import type { ERRORS } from '#words/en/errors.ts'
import { t } from '#words/t.ts'
import {
  ADDRESS_BYTES,
  ADDRESS_SEGMENTS,
  RAW_FILE_BYTES,
  READABLE_FILE_BYTES,
  TOKEN_DAYS,
  TOKEN_LABEL_CHARACTERS,
  TOKENS_PER_PERSON,
} from './limits.ts'

/**
 * The code and HTTP status of every error answer; `IndexErrorCode` has the codes of failed index jobs. Statuses are part of the wire
 * contract, so they belong to core. Servers and sockets do not.
 */
export const ERROR_STATUS = {
  'address.invalid_escape': 400,
  'address.unknown_host': 400,
  'address.incomplete': 400,
  'address.invalid_owner': 400,
  'address.invalid_repository': 400,
  'address.invalid_ref': 400,
  'address.invalid_path': 400,
  'address.too_long': 400,
  'request.invalid': 400,
  'request.not_found': 404,
  'request.method_not_allowed': 405,
  'request.timeout': 408,
  'request.too_large': 413,
  'request.encoded': 415,
  'request.headers_too_large': 431,
  'mount.repo_not_found': 404,
  'mount.ref_not_found': 404,
  'mount.path_not_found': 404,
  'mount.not_allowed': 403,
  'mount.rate_limited': 503,
  'mount.unavailable': 503,
  'skill.not_found': 404,
  'skill.ambiguous': 409,
  'skill.unavailable': 503,
  'index.indexing': 503,
  'index.failed': 503,
  'file.not_found': 404,
  'file.not_served': 403,
  'file.too_large': 413,
  'file.not_text': 415,
  'owner.invalid': 400,
  'owner.not_found': 404,
  'legal.not_found': 404,
  'auth.required': 401,
  'auth.forbidden_origin': 403,
  'auth.unavailable': 503,
  'token.invalid': 400,
  'token.not_a_repository': 400,
  'token.public_repository': 400,
  'token.limit': 409,
  'token.not_found': 404,
  'grant.not_found': 404,
  'oauth.invalid_request': 400,
  'oauth.not_visible': 403,
  'hook.forged': 401,
  'hook.busy': 503,
  'service.internal': 500,
} as const

export type ErrorCode = keyof typeof ERROR_STATUS

/** Fields of an error answer besides its code and message. */
export interface ErrorDetails {
  /** URL of the refused file at the git host. */
  sourceUrl?: string
  /** The repository has no commits (`mount.ref_not_found`), or objects that cannot be read (`mount.unavailable`). */
  reason?: 'empty' | 'damaged'
  /** Skill folders to choose from (`skill.ambiguous`). */
  directories?: string[]
  /** Seconds to wait before a retry; also sent as the header `retry-after`. */
  retryAfter?: number
}

export interface ServiceErrorOptions extends ErrorDetails {
  /** Says more than the code alone. */
  case?: ErrorCase | undefined
  /** Replaces the message of the code. Lower case, no full stop, no private value. */
  message?: string | undefined
  cause?: unknown
}

type ErrorKey = keyof typeof ERRORS
type ErrorCase = ErrorKey extends infer Key ? (Key extends `${string}:${infer Case}` ? Case : never) : never

/** The message of a code, or of `<code>:<case>`. */
export function errorMessage(key: ErrorKey): string {
  return t(`error.${key}`, VALUES)
}

const VALUES = {
  addressBytes: number(ADDRESS_BYTES),
  addressSegments: ADDRESS_SEGMENTS,
  readableBytes: number(READABLE_FILE_BYTES),
  rawBytes: number(RAW_FILE_BYTES),
  labelCharacters: TOKEN_LABEL_CHARACTERS,
  minDays: TOKEN_DAYS.min,
  maxDays: TOKEN_DAYS.max,
  tokens: TOKENS_PER_PERSON,
}

function number(count: number): string {
  return count.toLocaleString('en')
}

/** An error of the wire contract. Thrown anywhere; `api/http/error-handler.ts` turns it into an answer. */
export class ServiceError extends Error {
  readonly code: ErrorCode
  readonly case: string | undefined
  readonly details: ErrorDetails

  constructor(code: ErrorCode, options: ServiceErrorOptions = {}) {
    const { message, case: of, cause, ...details } = options
    super(message ?? errorMessage(of === undefined ? code : (`${code}:${of}` as ErrorKey)), cause === undefined ? {} : { cause })
    this.name = 'ServiceError'
    this.code = code
    this.case = of
    this.details = details
  }

  get status(): number {
    return ERROR_STATUS[this.code]
  }
}
