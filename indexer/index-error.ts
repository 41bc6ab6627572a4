import type { IndexErrorCode } from '#core/contract/shared.ts'

/** The repository cannot be indexed. */
export class IndexError extends Error {
  readonly code: IndexErrorCode

  constructor(code: IndexErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'IndexError'
    this.code = code
  }
}
