import { findLikeCommitsAt } from '#api/mount/like-commits.ts'
import { requireValue } from '#api/mount/open-mount.ts'
import type { Address } from '#core/address.ts'
import type { CommitSha } from '#core/commit-sha.ts'
import { ServiceError } from '#core/errors.ts'
import { explainMissingRef } from '#core/missing-ref.ts'
import type { GitHost, HostRepository } from '#core/ports/git-host.ts'

type Hosts = readonly GitHost[]

/** The error code of an address; `null`: its repository and its ref exist. */
export async function problemAt(hosts: Hosts, address: Address): Promise<string | null> {
  try {
    await resolveAddress(hosts, address)
    return null
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return error.code
  }
}

interface ResolvedAddress {
  host: GitHost
  repository: HostRepository
  commit: CommitSha
}

/** The repository and the commit of an address, whose ref may be the beginning of one commit's hash. @throws ServiceError */
export async function resolveAddress(hosts: Hosts, address: Address): Promise<ResolvedAddress> {
  const host = hosts.find(candidate => candidate.segment === address.host) as GitHost
  const repository = await host.repository(address.owner, address.repository)
  if (repository.status === 'missing') throw new ServiceError('mount.repo_not_found')
  if (repository.status !== 'ok') throw new ServiceError(`mount.${repository.status}`)
  const { objectFormat } = repository.value
  if (objectFormat) throw new ServiceError('mount.not_allowed', { case: objectFormat })
  const commit = await host.resolve(repository.value, address.ref)
  if (commit.status === 'gone') throw new ServiceError('mount.repo_not_found')
  if (commit.status === 'missing') {
    const [meant, ...others] = await findLikeCommitsAt(host, repository.value, address.ref ?? '')
    if (meant !== undefined && others.length === 0) return { host, repository: repository.value, commit: meant }
    throw new ServiceError('mount.ref_not_found', await explainMissingRef(host, repository.value, address))
  }
  return { host, repository: repository.value, commit: requireValue(commit, 'mount.ref_not_found') }
}
