import { type Address, atPath, formatAddress } from '#core/address.ts'
import { baseNameOf, parentOf, type RepoPath, SKILL_FILE } from '#core/repo-path.ts'
import type { TypedContext } from '#core/typed-address.ts'
import { t } from '#words/t.ts'
import { NoAddressError, readTypedRepository } from '../typed-repository.ts'

/**
 * The canonical addresses that a text may mean, to be tried in this order: where the URL of a branch does not say where its name ends, there
 * are several. A `SKILL.md` stands for its folder, and the page of a skill or a folder for what it shows.
 *
 * @throws NoAddressError
 */
export function readTypedPin(text: string, context: TypedContext): string[] {
  const typed = readTypedRepository(text, context)
  const readings = [typed, ...(typed.longerRefs ?? [])]
  return readings.map(({ address, file }) => formatAddress(mountOf(address, file, text)))
}

function mountOf(address: Address, file: RepoPath | undefined, text: string): Address {
  const path = file ?? address.path
  if (baseNameOf(path) === SKILL_FILE) return atPath(address, parentOf(path))
  if (file === undefined) return address
  throw new NoAddressError(t('problem.fileNotFolder', { text }))
}
