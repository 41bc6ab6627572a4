import { parseAddress, parseOwner } from '#core/address.ts'
import type { Deps } from '../deps.ts'
import type { SubjectParsers } from '../http/endpoint.ts'

/** Reads the addresses and accounts of the hosts of this deployment. */
export function subjectParsers({ hosts }: Pick<Deps, 'hosts'>): SubjectParsers {
  const segments = hosts.map(host => host.segment)
  const listing = hosts.filter(host => host.accounts).map(host => host.segment)
  return {
    address: raw => parseAddress(raw, segments),
    owner: raw => parseOwner(raw, listing),
    kind: raw => raw,
    id: raw => raw,
    none: () => null,
  }
}
