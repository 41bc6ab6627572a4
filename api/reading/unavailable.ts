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
