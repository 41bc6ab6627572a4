import { randomBytes } from 'node:crypto'
import type { Clock, RandomSource } from '#core/ports/system.ts'

export const systemClock: Clock = { now: () => new Date() }

/** Cryptographically secure random bytes. */
export const systemRandom: RandomSource = { bytes: length => randomBytes(length) }
