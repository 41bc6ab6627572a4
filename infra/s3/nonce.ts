import { randomBytes } from 'node:crypto'

/** Tells one write from every other. 12 characters. */
export function newNonce(): string {
  return randomBytes(9).toString('base64url')
}
