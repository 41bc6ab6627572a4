import { type StartAttack, sendRequests } from './attack.ts'

const CLIENTS = 40

/**
 * Asks for hashes to which no ref leads.
 *
 * @param address of a repository with a long history
 * @param lost its commits that no ref leads to, asked for between hashes that do not exist
 */
export function unknownHashes(address: string, lost: readonly string[]): StartAttack {
  const hashOf = (number: number) =>
    (number % 2 === 0 ? lost[(number / 2) % lost.length] : undefined) ?? number.toString(16).padStart(40, 'a')
  return origin => sendRequests(origin, CLIENTS, number => `/api/v1/mounts${address}@${hashOf(number)}`)
}
