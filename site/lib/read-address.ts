import { type Address, parseAddress } from '#core/address.ts'
import type { ApiError } from './api-client.ts'

/** A raw address as a value, or the `address.*` error that the API would answer for it. */
export type ReadAddress = { address: Address } | { status: number; error: ApiError }

/** @param raw percent-encoded, with or without its leading slash */
export function readAddress(raw: string, hosts: readonly string[]): ReadAddress {
  try {
    return { address: parseAddress(raw, hosts) }
  } catch (error) {
    if (!isAddressError(error)) throw error
    return { status: error.status, error: { code: error.code, message: error.message } }
  }
}

function isAddressError(error: unknown): error is Error & { code: string; status: number } {
  return error instanceof Error && 'status' in error && 'code' in error && String(error.code).startsWith('address.')
}
