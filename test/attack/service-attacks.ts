import type { StartAttack } from './attack.ts'
import type { Attacked } from './attacked.ts'
import type { Held, HeldOptions } from './held-resources.ts'
import { isGivenBack } from './held-resources.ts'
import { largeRefs } from './large-refs.ts'
import { largeTables } from './large-tables.ts'
import { madeUpNames } from './made-up-names.ts'
import { manyRefs } from './many-refs.ts'
import { slowConnections } from './slow-connections.ts'
import { stalledReaders } from './stalled-readers.ts'
import { unknownHashes } from './unknown-hashes.ts'

/** An attack on a running service, and what the service may hold meanwhile. */
export interface ServiceAttack {
  name: string
  start: StartAttack
  /** Growth of the process, and of its git processes together. */
  maxMegabytes: number
  options: HeldOptions
}

/** Places of look-ups, walks and raw files, and a few idle processes that are reused. */
export const MAX_GIT_PROCESSES = 24
/** What callers of an attack hold open at most, beside what the service needs. */
export const MAX_DESCRIPTORS = 1_600
const MAX_MEGABYTES = 256
/** A stalled reader holds a share of what raw files may hold. */
const MAX_RAW_MEGABYTES = 768

/** @param seconds of each @param refs that `manyRefs` asks for */
export function serviceAttacks({ history, large, tables, rawPath }: Attacked, seconds: number, refs: number): ServiceAttack[] {
  const attack = (name: string, start: StartAttack, maxMegabytes = MAX_MEGABYTES): ServiceAttack => {
    return { name, start, maxMegabytes, options: { seconds } }
  }
  return [
    attack('unknown hashes', unknownHashes(history.address, history.lost)),
    attack('many large refs', largeRefs(large.address, large.refs)),
    attack('made-up names', madeUpNames),
    attack('stalled readers', stalledReaders(rawPath), MAX_RAW_MEGABYTES),
    attack('slow connections', slowConnections),
    attack('large tables', largeTables(tables.address, tables.paths)),
    ...['local', 'gh'].map(host => ({
      ...attack(`${refs} long refs of ${host}`, manyRefs(large.address.replace('/local/', `/${host}/`))),
      options: { seconds: 0, requests: refs },
    })),
  ]
}

/** What an attack made the service hold beyond its bounds; empty when all is well. */
export function excesses({ maxMegabytes }: ServiceAttack, { before, peak, after }: Held): string[] {
  const grown = peak.megabytes - before.megabytes + peak.gitMegabytes
  return [
    ...(peak.gitProcesses > MAX_GIT_PROCESSES ? [`${peak.gitProcesses} git processes`] : []),
    ...(peak.descriptors > MAX_DESCRIPTORS ? [`${peak.descriptors} descriptors`] : []),
    ...(grown > maxMegabytes ? [`${grown} MB more`] : []),
    ...(isGivenBack(after, before) ? [] : [`afterwards ${after.gitProcesses} git processes and ${after.sockets} sockets`]),
  ]
}
