import { randomBytes } from 'node:crypto'
import type { RandomSource } from '#core/ports/system.ts'

/** Unpredictable bytes: fit for keys and codes. */
export const systemRandom: RandomSource = { bytes: length => randomBytes(length) }
