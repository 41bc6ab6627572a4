import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { ServiceError } from '#core/errors.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { spentKey } from '#core/snapshot/store-keys.ts'

/** Marks that the codes of one authorization request are redeemed. It is there before the family that was redeemed. */
const Marker = z.object({
  uk: z.string(),
  gk: z.string(),
  /** The family that the code started. */
  fid: z.string(),
  /** When the marker may be removed. */
  exp: z.string(),
  /** The code was presented again, so that two hold it. */
  revoked: z.boolean(),
})
export type Marker = z.infer<typeof Marker>

export interface RedeemedCodes {
  /** Redeems the request for a family. `redeemed_before`: for another family. */
  redeem(
    jti: string,
    marker: Omit<Marker, 'revoked'>,
  ): Promise<{ status: 'redeemed' } | { status: 'redeemed_before'; marker: Marker }>
  /** Notes that a code was presented again. */
  revoke(jti: string): Promise<void>
  /** Whether the request is redeemed for this family. */
  isRedeemedFor(jti: string, fid: string): Promise<boolean>
}

const ATTEMPTS = 30
const BACK_OFF_MS = 20

/** Every method throws `ServiceError` `auth.unavailable` when the store does not answer. */
export function openRedeemedCodes(states: StateStore): RedeemedCodes {
  async function read(jti: string): Promise<{ marker: Marker; etag: string } | null> {
    const stored = await states.read(spentKey(jti))
    return stored && { marker: Marker.parse(stored.value), etag: stored.etag }
  }

  return {
    redeem: (jti, marker) =>
      repeated(async () => {
        const written = await states.create(spentKey(jti), { ...marker, revoked: false })
        if (written.status === 'written') return { status: 'redeemed' }
        const stored = await read(jti)
        if (stored === null) return null
        // The own write may have been done although the store says that it failed.
        const isOwn = stored.marker.fid === marker.fid && !stored.marker.revoked
        return isOwn ? { status: 'redeemed' } : { status: 'redeemed_before', marker: stored.marker }
      }),
    revoke: jti =>
      repeated(async () => {
        const stored = await read(jti)
        if (stored === null || stored.marker.revoked) return true
        const written = await states.replace(spentKey(jti), { ...stored.marker, revoked: true }, stored.etag)
        return written.status === 'written' ? true : null
      }).then(() => {}),
    isRedeemedFor: (jti, fid) =>
      repeated(async () => {
        const stored = await read(jti)
        return stored !== null && stored.marker.fid === fid && !stored.marker.revoked
      }),
  }
}

/** Calls `attempt` until it gives something else than `null`. @throws ServiceError `auth.unavailable` */
async function repeated<Value>(attempt: () => Promise<Value | null>): Promise<Value> {
  try {
    for (let attempts = 0; attempts < ATTEMPTS; attempts++) {
      const value = await attempt()
      if (value !== null) return value
      await sleep(Math.random() * BACK_OFF_MS)
    }
  } catch (cause) {
    throw new ServiceError('auth.unavailable', { cause })
  }
  throw new ServiceError('auth.unavailable', { cause: new Error('a marker is written too often') })
}
