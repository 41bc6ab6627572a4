/** Every error code of the interface with its HTTP status. The one place where a code is declared. */
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
  'hook.forged': 401,
  'hook.busy': 503,
  'service.internal': 500,
} as const

export type ErrorCode = keyof typeof ERROR_STATUS

/** What an error answer carries beside its code and message. */
export interface ErrorDetails {
  /** Location of the refused bytes at the git host. */
  sourceUrl?: string
  /** Skill folders to choose from (`skill.ambiguous`). */
  directories?: string[]
  /** Seconds after which asking again makes sense; also sent as the header `retry-after`. */
  retryAfter?: number
}

export interface ServiceErrorOptions extends ErrorDetails {
  /** Replaces the default sentence of the code. Lower case, no full stop, no private value. */
  message?: string
  cause?: unknown
}

const DEFAULT_MESSAGE: Record<ErrorCode, string> = {
  'address.invalid_escape': 'the address has a percent-escape that is malformed or not UTF-8',
  'address.unknown_host': 'this deployment does not know the host segment of the address',
  'address.incomplete': 'an address needs a host, an owner and a repository',
  'address.invalid_owner': 'the owner is not a name that the host allows',
  'address.invalid_repository': 'the repository is not a name that the host allows',
  'address.invalid_ref': 'the ref after @ is not a branch, a tag or a commit name',
  'address.invalid_path': 'the path of the address has an empty, relative or unprintable segment',
  'address.too_long': 'the address is longer than 2,048 bytes or deeper than 64 segments',
  'request.invalid': 'a parameter or the cursor of the request is invalid; restart from the first page',
  'request.not_found': 'there is no such route',
  'request.method_not_allowed': 'this route does not answer this method',
  'mount.repo_not_found': 'there is no such repository, or you may not see it',
  'mount.ref_not_found': 'the repository has no such ref',
  'mount.path_not_found': 'there is no such folder at this commit',
  'mount.not_allowed': 'this deployment does not serve this repository',
  'mount.rate_limited': 'the git host asks us to wait',
  'mount.unavailable': 'the git host cannot be asked now',
  'skill.not_found': 'there is no skill at this path inside the mount',
  'skill.ambiguous': 'more than one skill answers to this; choose one of the directories',
  'skill.unavailable': 'the indexed content cannot be read now; try again',
  'index.indexing': 'the repository is being indexed; try again',
  'index.failed': 'the repository could not be indexed; it is tried again later',
  'file.not_found': 'there is no readable file at this path inside the mount',
  'file.not_served': 'its license permits a description but not a copy; read it at its source',
  'file.too_large': 'the file is larger than the readable size; read it at its source',
  'file.not_text': 'the file is not UTF-8 text; read it at its source',
  'owner.invalid': 'the path does not name an account as /gh/<owner>',
  'owner.not_found': 'the git host shows no such account',
  'hook.forged': 'the message has no signature of the git host, or a wrong one',
  'hook.busy': 'too many long messages are being read; send it again',
  'service.internal': 'something went wrong on our side',
}

/** A failure that the interface names. Thrown anywhere, answered once in `api/http/error-handler.ts`. */
export class ServiceError extends Error {
  readonly code: ErrorCode
  readonly details: ErrorDetails

  constructor(code: ErrorCode, options: ServiceErrorOptions = {}) {
    const { message, cause, ...details } = options
    super(message ?? DEFAULT_MESSAGE[code], cause === undefined ? {} : { cause })
    this.name = 'ServiceError'
    this.code = code
    this.details = details
  }

  get status(): number {
    return ERROR_STATUS[this.code]
  }
}
