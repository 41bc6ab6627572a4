import type { IndexErrorCode } from '#core/contract/shared.ts'
import { ReadError } from '#core/ports/git-host.ts'

/** The repository cannot be indexed. `code` is the error code of the job. */
export class IndexError extends Error {
  readonly code: IndexErrorCode

  constructor(code: IndexErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'IndexError'
    this.code = code
  }
}

/** The error code of a failed job. */
export function errorCodeOf(error: unknown): IndexErrorCode {
  return error instanceof IndexError || error instanceof ReadError ? error.code : 'index.internal'
}
