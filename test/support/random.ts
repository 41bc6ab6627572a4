import { createHash } from 'node:crypto'

/** A number from 0 to below 1 that looks like chance, and is the same for the same parts on every machine. */
export function fractionOf(...parts: readonly (string | number)[]): number {
  return createHash('sha256').update(parts.join('\0')).digest().readUInt32BE() / 2 ** 32
}

/** One such number after another. */
export function createRandom(...seed: readonly (string | number)[]): () => number {
  let turn = 0
  return () => fractionOf(...seed, turn++)
}
