import { randomBytes } from 'node:crypto'
import type { RandomSource } from '#core/ports/system.ts'

/** Cryptographically secure random bytes. */
export const systemRandom: RandomSource = { bytes: length => randomBytes(length) }
