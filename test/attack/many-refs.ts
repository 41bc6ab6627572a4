import { type Attack, type StartAttack, sendRequests } from './attack.ts'

const CLIENTS = 8
/** With the repository almost as long as an address may be. */
const NAME_CHARACTERS = 2_000

/** Asks for refs with long names that do not exist, each once. @param address of a repository */
export function manyRefs(address: string): StartAttack {
  return (origin): Attack =>
    sendRequests(origin, CLIENTS, number => `/api/v1/mounts${address}@${`${number}-`.padEnd(NAME_CHARACTERS, 'long-')}`)
}
