import { type Address, atPath, formatAddress } from '#core/address.ts'
import { baseNameOf, parentOf, parseRepoPath, type RepoPath, ROOT, SKILL_FILE } from '#core/repo-path.ts'
import { readTypedAddress, type TypedContext, type TypedRepository } from '#core/typed-address.ts'
import { SentenceError } from '#words/sentence.ts'
import { t } from '#words/t.ts'

/** A text that names nothing to pin. */
export class NoAddressError extends SentenceError {}

/**
 * The canonical addresses that a text may mean, to be tried in this order: where the URL of a branch does not say where its name ends, there
 * are several. A `SKILL.md` stands for its folder, and the page of a skill or a folder for what it shows.
 *
 * @throws NoAddressError
 */
export function readTypedPin(text: string, context: TypedContext): string[] {
  const typed = readTypedAddress(text, context)
  if (typed.kind === 'owner') throw new NoAddressError(t('problem.account', { owner: typed.owner.owner }))
  if (typed.kind === 'unreadable') {
    const place = typed.code === null ? text : `${text}: ${typed.code}`
    throw new NoAddressError(t('problem.ofText', { text: place, problem: typed.message }))
  }
  if (typed.other !== undefined) throw new NoAddressError(t('problem.pageOfGithub', { text, page: typed.other }))
  const readings = [shownOn(typed), ...(typed.longerRefs ?? [])]
  return readings.map(({ address, file }) => formatAddress(mountOf(address, file, text)))
}

/** The folder or the file that a page of this service shows, where its URL names one. */
function shownOn(typed: TypedRepository): Pick<TypedRepository, 'address' | 'file'> {
  const query = new URLSearchParams(typed.query)
  const path = parseRepoPath(query.get('path') ?? '')
  if (path === null || path === ROOT) return typed
  return query.get('view') === 'browse' ? { address: atPath(typed.address, path) } : { address: typed.address, file: path }
}

function mountOf(address: Address, file: RepoPath | undefined, text: string): Address {
  const path = file ?? address.path
  if (baseNameOf(path) === SKILL_FILE) return atPath(address, parentOf(path))
  if (file === undefined) return address
  throw new NoAddressError(t('problem.fileNotFolder', { text }))
}
