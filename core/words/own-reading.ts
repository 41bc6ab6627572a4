import type { Address } from '../address.ts'
import type { ServiceError } from '../errors.ts'
import { type Sentence, sentence } from './sentence.ts'

/** What a command says that reads repositories itself: where local ones lie, only its own settings tell. */
export function saidOfOwnReading(error: ServiceError, { host, owner, repository }: Address): Sentence {
  const isLocalMissing = host === 'local' && error.code === 'mount.repo_not_found'
  return isLocalMissing ? sentence('noLocalRepository', { owner, repository }) : sentence('asTold', { reason: error })
}
