import type { FastifyReply, FastifyRequest } from 'fastify'
import { createFairBudget } from '#core/concurrency/fair-budget.ts'
import { ServiceError } from '#core/errors.ts'
import { clientNetwork } from './admit.ts'

/** Counts the bytes of an answer until its client has read them. @throws ServiceError `mount.unavailable` when others hold too many */
export type HoldBytes = (request: FastifyRequest, reply: FastifyReply, bytes: number) => void

/**
 * Bounds what answers hold in memory for clients that read slowly. Where there is no room, the client that holds most loses the answer that it has read
 * longest, unless the newcomer would hold as much.
 */
export function createHoldBytes(limit: number): HoldBytes {
  const budget = createFairBudget({ limit, part: limit / 2 })
  return ({ ip }, { raw: response }, bytes) => {
    const giveBack = budget.acquire([clientNetwork(ip)], bytes, { pace: () => null, evict: () => response.destroy() })
    if (giveBack === null) throw new ServiceError('mount.unavailable', { message: BUSY, retryAfter: BUSY_RETRY_SECONDS })
    if (response.closed || response.destroyed) giveBack()
    else response.once('close', giveBack)
  }
}

const BUSY_RETRY_SECONDS = 5
const BUSY = `too many bytes are being read; try again after ${BUSY_RETRY_SECONDS} seconds`
