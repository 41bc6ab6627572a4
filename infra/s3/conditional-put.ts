import { ATTEMPTS, backOff } from './attempts.ts'
import { StoreError } from './store-error.ts'

/** A write under a condition. It carries a nonce, by which it is known again. */
export interface ConditionalPut {
  /** Tries once. @returns the etag. @throws StoreError */
  put(): Promise<string>
  /** The version that stands there now, and whether this write made it, or one that it was made from. @throws StoreError */
  current(): Promise<{ etag: string; isOurs: boolean } | null>
  /** Etag of the version that is written over; `null`: of none. */
  over: string | null
}

/** @property etag of the version that stands there now */
export type PutOutcome = { status: 'written'; etag: string } | { status: 'conflict' }

/** The condition does not hold, or did not by the time the write was to be done. Ceph answers 500 then, which is transient. */
const REFUSALS = [409, 412]
/** What was to be written over is gone. */
const GONE = 404

/**
 * Writes, and finds out what happened where the answer does not say: it may be lost although the write was done, and a repeated write is
 * refused because of the first one.
 *
 * @throws StoreError when that cannot be found out now
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
      // The condition holds, so the write was not done, or somebody has undone it since.
      if (attempts === ATTEMPTS) throw error
      await backOff(attempts)
    }
  }
}
