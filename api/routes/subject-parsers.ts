import { LRUCache } from 'lru-cache'
import { type Address, parseAddress, parseOwner } from '#core/address.ts'
import { memoryOfEntry } from '#core/memory.ts'
import { detached } from '#core/text.ts'
import type { Deps } from '../deps.ts'
import type { SubjectParsers } from '../http/endpoint.ts'

/** Estimated memory of parsed addresses. */
const PARSED_BYTES = 2 * 1024 * 1024

/** Reads the addresses and accounts of the hosts of this deployment. */
export function subjectParsers({ hosts }: Pick<Deps, 'hosts'>): SubjectParsers {
  const segments = hosts.map(host => host.segment)
  const listing = hosts.filter(host => host.accounts).map(host => host.segment)
  const parsed = new LRUCache<string, Address>({ maxSize: PARSED_BYTES, sizeCalculation: memoryOfEntry })

  function address(raw: string): Address {
    const before = parsed.get(raw)
    if (before) return before
    // The text of the address alone: a part of a request's target would keep all of it in memory.
    const text = detached(raw)
    const address = Object.freeze(parseAddress(text, segments))
    parsed.set(text, address)
    return address
  }

  return {
    address,
    owner: raw => parseOwner(raw, listing),
    kind: raw => raw,
    id: raw => raw,
    none: () => null,
  }
}
