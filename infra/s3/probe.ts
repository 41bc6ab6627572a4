import { repeat } from './attempts.ts'
import type { Bucket, Condition, EtagForm } from './bucket.ts'
import { newNonce } from './conditional-put.ts'
import { StoreError } from './store-error.ts'

/** A server's support for conditional writes. Some servers answer 200 and ignore the condition. */
export interface Conditions {
  /** Whether it supports `If-None-Match: *`. */
  createsOnly: boolean
  /** The form of etag with which it supports `If-Match`; `null` when it does not. */
  replaces: EtagForm | null
}

export const PROBE_PREFIX = 'probe/'

/**
 * Tests the conditions with four or five small writes: creates an object, creates it again, replaces it, and replaces its first version
 * again. Then removes the object.
 *
 * @throws StoreError when the bucket cannot be used
 */
export async function probeConditions(bucket: Bucket): Promise<Conditions> {
  const keys: string[] = []
  const { key, etag } = await repeat(async () => {
    // A new key for each attempt: after a lost answer, the object may exist.
    const key = `${PROBE_PREFIX}${newNonce().toLowerCase()}`
    keys.push(key)
    return { key, etag: await put(bucket, key, 'absent') }
  })
  try {
    // `null` for a key that no other process writes: the server refuses the condition itself.
    if (etag === null || (await repeat(() => put(bucket, key, 'absent'))) !== null) return { createsOnly: false, replaces: null }
    return { createsOnly: true, replaces: await probeReplacing(bucket, key, etag) }
  } finally {
    // Best effort: these objects do no harm, and a process may lack the permission to remove objects.
    await Promise.all(keys.map(tried => bucket.remove(tried).catch(() => {})))
  }
}

/** @param first etag of the current version */
async function probeReplacing(bucket: Bucket, key: string, first: string): Promise<EtagForm | null> {
  for (const form of ['quoted', 'bare'] as const) {
    const condition = { etag: first, form }
    let isUnsure = false
    const isWritten = await repeat(async () => {
      try {
        // After an attempt without an answer, a refusal may mean that the write was done.
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

/** 501: conditions are not implemented. */
const REFUSALS = [409, 412, 501]

/** Writes new bytes. @returns the etag; `null` when the server refuses because of the condition */
async function put(bucket: Bucket, key: string, condition: Condition): Promise<string | null> {
  try {
    return await bucket.put({ key, bytes: Buffer.from(newNonce()), type: 'application/octet-stream', condition })
  } catch (error) {
    if (error instanceof StoreError && REFUSALS.includes(error.status ?? 0)) return null
    throw error
  }
}
