import { type Address, type OwnerName, parseAddress, parseOwner } from '#core/address.ts'
import type { ApiError } from './api-client.ts'
import { ACCOUNT_HOST } from './links.ts'

/** The error that the API would answer, with its HTTP status. */
export interface Misread {
  status: number
  error: ApiError
}

/**
 * Parses a raw address, or returns its `address.*` error.
 *
 * @param raw percent-encoded, with or without its leading slash
 */
export function readAddress(raw: string, hosts: readonly string[]): { address: Address } | Misread {
  return orMisread(() => ({ address: parseAddress(raw, hosts) }))
}

/**
 * Parses `<host>/<owner>`, or returns the error `owner.invalid`.
 *
 * @param raw percent-encoded, with or without its leading slash
 */
export function readOwner(raw: string, hosts: readonly string[] = [ACCOUNT_HOST]): OwnerName | Misread {
  return orMisread(() => parseOwner(raw, hosts))
}

function orMisread<Value>(parse: () => Value): Value | Misread {
  try {
    return parse()
  } catch (error) {
    if (!isServiceError(error)) throw error
    return { status: error.status, error: { code: error.code, message: error.message } }
  }
}

function isServiceError(error: unknown): error is Error & { code: string; status: number } {
  return error instanceof Error && error.name === 'ServiceError' && 'status' in error && 'code' in error
}
