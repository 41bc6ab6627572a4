import type { Address } from '#core/address.ts'
import type { ServiceError } from '#core/errors.ts'
import { t } from '#words/t.ts'

/**
 * What a command says that reads repositories itself: where local ones lie, only its own settings tell.
 *
 * @param address `null`: the error says that there is none
 */
export function saidOfOwnReading(error: ServiceError, address: Address | null): string {
  if (!isMissingLocal(error, address)) return t('problem.asTold', { reason: error })
  const { owner, repository } = address
  return t('problem.noLocalRepository', { owner, repository })
}

/** Whether the error says that the local repository of the address does not exist. */
export function isMissingLocal(error: ServiceError, address: Address | null): address is Address {
  return address?.host === 'local' && error.code === 'mount.repo_not_found'
}
