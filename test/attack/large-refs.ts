import { type StartAttack, sendRequests } from './attack.ts'

const CLIENTS = 6

/** Opens many refs of one large repository, again and again. @param refs of different commits, which take seconds to index */
export function largeRefs(address: string, refs: readonly string[]): StartAttack {
  return origin =>
    sendRequests(origin, CLIENTS, number => `/api/v1/mounts${address}@${encodeURIComponent(refs[number % refs.length] ?? '')}`)
}
