import { atPath } from '#core/address.ts'
import { parseRepoPath, ROOT } from '#core/repo-path.ts'
import { readTypedAddress, type TypedContext, type TypedRepository } from '#core/typed-address.ts'
import { SentenceError } from '#words/sentence.ts'
import { t } from '#words/t.ts'

/** A text that names no repository, and nothing in one. */
export class NoAddressError extends SentenceError {}

/**
 * What a text means that a person types or pastes. The page of a skill or a folder stands for what it shows.
 *
 * @throws NoAddressError
 */
export function readTypedRepository(text: string, context: TypedContext): TypedRepository {
  const typed = readTypedAddress(text, context)
  if (typed.kind === 'owner') throw new NoAddressError(t('problem.account', { owner: typed.owner.owner }))
  if (typed.kind === 'unreadable') {
    const place = typed.code === null ? text : `${text}: ${typed.code}`
    throw new NoAddressError(t('problem.ofText', { text: place, problem: typed.message }))
  }
  if (typed.other !== undefined) throw new NoAddressError(t('problem.pageOfGithub', { text, page: typed.other }))
  return { ...typed, ...shownOn(typed) }
}

/** The folder or the file that a page of this service shows, where its URL names one. */
function shownOn(typed: TypedRepository): Pick<TypedRepository, 'address' | 'file'> {
  const query = new URLSearchParams(typed.query)
  const path = parseRepoPath(query.get('path') ?? '')
  if (path === null || path === ROOT) return typed
  return query.get('view') === 'browse' ? { address: atPath(typed.address, path) } : { address: typed.address, file: path }
}
