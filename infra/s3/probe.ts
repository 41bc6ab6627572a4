import { repeat } from './attempts.ts'
import type { Bucket, Condition, EtagForm } from './bucket.ts'
import { newNonce } from './nonce.ts'
import { StoreError } from './store-error.ts'

/** What a server does with the conditions of a write. Some answer 200 and ignore them. */
export interface Conditions {
  /** It refuses to write over an object when told so. */
  createsOnly: boolean
  /** The form of etag with which it writes over the right version and no other; `null`: none. */
  replaces: EtagForm | null
}

export const PROBE_PREFIX = 'probe/'

/**
 * Finds out by writing: creates an object, once more, writes over it, and over its first version again. Four or five small writes, and
 * one that removes the object.
 *
 * @throws StoreError when the bucket cannot be used
 */
export async function probeConditions(bucket: Bucket): Promise<Conditions> {
  const keys: string[] = []
  const { key, etag } = await repeat(async () => {
    // Another key each time: where an answer was lost the object may be there.
    const key = `${PROBE_PREFIX}${newNonce().toLowerCase()}`
    keys.push(key)
    return { key, etag: await put(bucket, key, 'absent') }
  })
  try {
    // Nobody has written there: it is the condition that the server does not know.
    if (etag === null || (await repeat(() => put(bucket, key, 'absent'))) !== null) return { createsOnly: false, replaces: null }
    return { createsOnly: true, replaces: await probeReplacing(bucket, key, etag) }
  } finally {
    // Left behind, they are in nobody's way; whoever may not remove them may be right to start all the same.
    await Promise.all(keys.map(tried => bucket.remove(tried).catch(() => {})))
  }
}

/** @param first etag of the version that is there */
async function probeReplacing(bucket: Bucket, key: string, first: string): Promise<EtagForm | null> {
  for (const form of ['quoted', 'bare'] as const) {
    const condition = { etag: first, form }
    let isUnsure = false
    const isWritten = await repeat(async () => {
      try {
        // Refused after an attempt without an answer: that one may have been done.
        return (await put(bucket, key, condition)) !== null || (isUnsure && (await bucket.head(key))?.etag !== first)
      } catch (error) {
        isUnsure = true
        throw error
      }
    })
    if (isWritten) return (await repeat(() => put(bucket, key, condition))) === null ? form : null
  }
  return null
}

/** 501: the condition is not implemented. */
const REFUSALS = [409, 412, 501]

/** Other bytes each time. @returns the etag; `null` when the server refuses for the condition */
async function put(bucket: Bucket, key: string, condition: Condition): Promise<string | null> {
  try {
    return await bucket.put({ key, bytes: Buffer.from(newNonce()), type: 'application/octet-stream', condition })
  } catch (error) {
    if (error instanceof StoreError && REFUSALS.includes(error.status ?? 0)) return null
    throw error
  }
}
