import { type Address, refNames } from './address.ts'
import { isShortenedSha } from './commit-sha.ts'
import type { ServiceErrorOptions } from './errors.ts'
import type { GitHost, HostRefs, HostRepository } from './ports/git-host.ts'

/** What `mount.ref_not_found` says of an address. Empty where nothing is known beside its code. */
export async function explainMissingRef(
  host: Pick<GitHost, 'refs' | 'isRemote'>,
  repository: HostRepository,
  { ref, path }: Pick<Address, 'ref' | 'path'>,
): Promise<Pick<ServiceErrorOptions, 'case' | 'reason'>> {
  // A remote host is not asked about every name that does not exist.
  if (ref !== null && path === '' && (host.isRemote || isShortenedSha(ref)))
    return isShortenedSha(ref) ? { case: 'shortened' } : {}
  const listed = await host.refs(repository)
  if (listed.status !== 'ok') return {}
  if (listed.value.size === 0) return { case: 'empty', reason: 'empty' }
  const found = ref === null ? caseOfDefault(listed.value) : caseOfNamed(listed.value, ref, path)
  return found === null ? {} : { case: found }
}

function caseOfDefault(refs: HostRefs): 'default' | 'tags' {
  return refs.keys().some(name => name.startsWith('refs/heads/')) ? 'default' : 'tags'
}

/** Of a ref that ends where the path begins, the path may be the rest. */
function caseOfNamed(refs: HostRefs, ref: string, path: string): 'slash' | 'shortened' | null {
  const segments = path.split('/')
  const longer = segments.map((_, index) => [ref, ...segments.slice(0, index + 1)].join('/'))
  if (longer.some(name => refNames(name).some(full => refs.has(full)))) return 'slash'
  return isShortenedSha(ref) ? 'shortened' : null
}
