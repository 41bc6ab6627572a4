import { randomBytes } from 'node:crypto'

/** A random id of one write, 12 characters. */
export function newNonce(): string {
  return randomBytes(9).toString('base64url')
}
