import { type Address, refNames } from './address.ts'
import { isShortenedSha } from './commit-sha.ts'
import type { ServiceErrorOptions } from './errors.ts'
import type { GitHost, HostRefs, HostRepository } from './ports/git-host.ts'

/** What `mount.ref_not_found` says of an address. Empty where nothing is known beside its code. */
export async function explainMissingRef(
  host: Pick<GitHost, 'refs'>,
  repository: HostRepository,
  { ref, path }: Pick<Address, 'ref' | 'path'>,
): Promise<Pick<ServiceErrorOptions, 'case'>> {
  if (ref !== null && path === '') return isShortenedSha(ref) ? { case: 'shortened' } : {}
  const listed = await host.refs(repository)
  const found =
    listed.status === 'ok' ? (ref === null ? caseOfDefault(listed.value) : caseOfNamed(listed.value, ref, path)) : null
  return found === null ? {} : { case: found }
}

/** What an empty repository lacks, the message of the code says. */
function caseOfDefault(refs: HostRefs): 'default' | 'tags' | null {
  if (refs.size === 0) return null
  return refs.keys().some(name => name.startsWith('refs/heads/')) ? 'default' : 'tags'
}

/** Of a ref that ends where the path begins, the path may be the rest. */
function caseOfNamed(refs: HostRefs, ref: string, path: string): 'slash' | 'shortened' | null {
  const segments = path.split('/')
  const longer = segments.map((_, index) => [ref, ...segments.slice(0, index + 1)].join('/'))
  if (longer.some(name => refNames(name).some(full => refs.has(full)))) return 'slash'
  return isShortenedSha(ref) ? 'shortened' : null
}
