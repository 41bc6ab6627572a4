import { ServiceError } from '#core/errors.ts'
import { isDamage as isDamageOfBytes } from '#core/snapshot/damage.ts'

/**
 * Runs a read. A caller learns only that stored content cannot be read; the cause says why, for the log. A fault of this program is thrown as
 * it is: it is no property of the stored bytes.
 *
 * @throws ServiceError `skill.unavailable` when the store does not answer, or bytes are missing or damaged
 */
export async function orUnavailable<Value>(what: string, read: () => Value | Promise<Value>): Promise<Value> {
  try {
    return await read()
  } catch (cause) {
    if (!isFailureOfStore(cause) && !isDamageOfBytes(cause)) throw cause
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

/** Whether a read failed because bytes are missing or damaged, and not because the store does not answer or this program is at fault. */
export function isDamage(error: unknown): boolean {
  const isUnavailable = error instanceof ServiceError && error.code === 'skill.unavailable'
  return isUnavailable && !isFailureOfStore(error) && isDamageOfBytes(error)
}

function isFailureOfStore(error: unknown): boolean {
  for (let one = error; one instanceof Error; one = one.cause) if (one instanceof StoreFailure) return true
  return false
}
