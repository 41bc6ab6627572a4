import { ServiceError } from '#core/errors.ts'

/**
 * Runs a read, and turns every error into one code: a caller only learns that stored content cannot be read. The cause says what failed, for the
 * log.
 *
 * @throws ServiceError `skill.unavailable`
 */
export async function orUnavailable<Value>(what: string, read: () => Value | Promise<Value>): Promise<Value> {
  try {
    return await read()
  } catch (cause) {
    throw new ServiceError('skill.unavailable', { cause: new Error(`cannot read ${what}`, { cause }) })
  }
}

/** The store does not answer. Its bytes may be intact. */
export class StoreFailure extends Error {}

/**
 * Waits for an answer of the store.
 *
 * @throws StoreFailure when it does not answer
 */
export async function askStore<Value>(answer: Promise<Value>): Promise<Value> {
  try {
    return await answer
  } catch (cause) {
    throw new StoreFailure('the store does not answer', { cause })
  }
}

/** Stored bytes are missing or damaged. It was reported before it is thrown. */
export class DamagedSnapshot extends Error {}

/** The snapshot was rewritten or removed since it was opened. Opening it again may succeed. */
export class ReplacedSnapshot extends Error {}

/** Whether a read failed because bytes are missing or damaged, and not because the store does not answer. */
export function isDamage(error: unknown): boolean {
  if (!(error instanceof ServiceError) || error.code !== 'skill.unavailable') return false
  for (let cause = error.cause; cause instanceof Error; cause = cause.cause) if (cause instanceof StoreFailure) return false
  return true
}
