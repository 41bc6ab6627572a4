import { randomBytes } from 'node:crypto'
import { ATTEMPTS, backOff } from './attempts.ts'
import { StoreError } from './store-error.ts'

/** A conditional write. It carries a nonce, which identifies it later. */
export interface ConditionalPut {
  /** One attempt. @returns the etag. @throws StoreError */
  put(): Promise<string>
  /** The current version, and whether it or one of its predecessors is this write. @throws StoreError */
  current(): Promise<{ etag: string; isOurs: boolean } | null>
  /** Etag of the version to replace; `null` to create. */
  over: string | null
}

/** `etag`: that of the current version. */
export type PutOutcome = { status: 'written'; etag: string } | { status: 'conflict' }

/** The condition did not hold, or another write came first. Ceph answers 500 in the latter case, which is transient. */
const REFUSALS = [409, 412]
/** The version to replace is gone. */
const GONE = 404

/**
 * Writes, and reads the current version when the answer is inconclusive: an answer may be lost after the write was done, and its retry is
 * then refused because of the first attempt.
 *
 * @throws StoreError when the server refuses the write for another reason, or the outcome cannot be determined
 */
export async function putConditionally({ put, current, over }: ConditionalPut): Promise<PutOutcome> {
  for (let attempts = 1; ; attempts++) {
    try {
      return { status: 'written', etag: await put() }
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      const isRefused = REFUSALS.includes(error.status ?? 0) || (over !== null && error.status === GONE)
      if (!isRefused && !error.isTransient) throw error
      const found = await current()
      if (found?.isOurs) return { status: 'written', etag: found.etag }
      if ((found?.etag ?? null) !== over) return { status: 'conflict' }
      // The condition still holds: the write was not done, or was undone since.
      if (attempts === ATTEMPTS) throw error
      await backOff(attempts)
    }
  }
}

/** A random id of one write, 12 characters. */
export function newNonce(): string {
  return randomBytes(9).toString('base64url')
}
