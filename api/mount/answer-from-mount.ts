import type { Address } from '#core/address.ts'
import { ServiceError } from '#core/errors.ts'
import type { Deps } from '../deps.ts'
import type { Viewer } from '../people/viewer.ts'
import { ReplacedSnapshot } from '../snapshot/unavailable.ts'
import { type BeforeReading, type OpenMount, openMount } from './open-mount.ts'

/**
 * Answers from the mount of an address, and once more where the snapshot was replaced.
 *
 * @throws ServiceError as `openMount` and `answer`
 */
export function answerFromMount<Answer>(
  deps: Deps,
  { viewer, subject }: { viewer: Viewer; subject: Address },
  answer: (mount: OpenMount) => Promise<Answer>,
  before?: BeforeReading,
): Promise<Answer> {
  return againIfReplaced(async () => answer(await openMount(deps, viewer, subject, before)))
}

/**
 * A repair may replace a snapshot, and a sweep remove it, while it is read or since its header was cached: then it is opened and read once more.
 *
 * @throws whatever `read` throws
 */
export async function againIfReplaced<Answer>(read: () => Promise<Answer>): Promise<Answer> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof ServiceError && error.cause instanceof ReplacedSnapshot) return await read()
    throw error
  }
}
