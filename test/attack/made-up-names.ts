import { type StartAttack, sendRequests } from './attack.ts'

const CLIENTS = 16

/** Asks for repositories and accounts of GitHub that do not exist. */
export const madeUpNames: StartAttack = origin =>
  sendRequests(origin, CLIENTS, number =>
    number % 8 === 0 ? `/api/v1/owners/gh/nobody-${number}` : `/api/v1/mounts/gh/nobody-${number % 50}/nothing-${number}`,
  )
