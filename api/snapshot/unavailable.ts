import { ServiceError } from '#core/errors.ts'

/**
 * Does the read. Whatever goes wrong in it is the same to who asks: stored content cannot be read. The cause says what and where, for the log.
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

/** The store does not answer; the bytes in it may be as they were written. */
export class StoreFailure extends Error {}

/** @throws StoreFailure */
export async function askStore<Value>(answer: Promise<Value>): Promise<Value> {
  try {
    return await answer
  } catch (cause) {
    throw new StoreFailure('the store does not answer', { cause })
  }
}

/** Stored bytes are missing, or are not those that were written. Whoever throws it has told of it. */
export class DamagedSnapshot extends Error {}

/** The snapshot was written anew, or removed, since it was opened: what is read next is another one. */
export class ReplacedSnapshot extends Error {}

/** Whether a read failed for the bytes, and not for the store. */
export function isDamage(error: unknown): boolean {
  if (!(error instanceof ServiceError) || error.code !== 'skill.unavailable') return false
  for (let cause = error.cause; cause instanceof Error; cause = cause.cause) if (cause instanceof StoreFailure) return false
  return true
}
