import { hash } from 'node:crypto'
import { canonicalJson } from '#core/snapshot/canonical-json.ts'
import type { Digest } from '#core/snapshot/delivered.ts'

export const DIGEST_CHARACTERS = 32

/** Tells whether two values are the same. */
export function digestOf(value: unknown): Digest {
  return hash('sha256', canonicalJson(value)).slice(0, DIGEST_CHARACTERS)
}
