import type { Address } from '#core/address.ts'
import { ServiceError } from '#core/errors.ts'
import type { Deps } from '../deps.ts'
import type { Viewer } from '../people/viewer.ts'
import { ReplacedSnapshot } from '../snapshot/unavailable.ts'
import { type BeforeReading, type OpenMount, openMount } from './open-mount.ts'

/**
 * Answers from the mount of an address. A repair may replace the snapshot while it is read, or since its header was cached: then the mount is
 * opened and read once more.
 *
 * @throws ServiceError as `openMount` and `answer`
 */
export async function answerFromMount<Answer>(
  deps: Deps,
  { viewer, subject }: { viewer: Viewer; subject: Address },
  answer: (mount: OpenMount) => Promise<Answer>,
  before?: BeforeReading,
): Promise<Answer> {
  const once = async () => answer(await openMount(deps, viewer, subject, before))
  try {
    return await once()
  } catch (error) {
    if (error instanceof ServiceError && error.cause instanceof ReplacedSnapshot) return await once()
    throw error
  }
}
