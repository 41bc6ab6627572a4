import { hkdfSync } from 'node:crypto'
import { z } from 'zod'

/** Sealing keys of a deployment. The first one seals; every one opens. */
export const SealingKeys = z
  .array(z.object({ kid: z.string().min(1).max(64), key: z.string().regex(/^[A-Za-z0-9_-]{43}$/) }))
  .min(1)
  .refine(keys => new Set(keys.map(key => key.kid)).size === keys.length)
export type SealingKeys = z.infer<typeof SealingKeys>

/** The purpose a key is derived for. A value sealed for one purpose cannot be opened with a key of another. */
export type KeyPurpose = 'cursor' | 'log' | 'notice' | 'signin' | 'host-token' | 'client' | 'oauth-request' | 'oauth-code'

/** One 32-byte key for each sealing key, in their order. */
export type PurposeKeys = readonly [Uint8Array, ...Uint8Array[]]

export function deriveKeys(keys: SealingKeys, purpose: KeyPurpose): PurposeKeys {
  const [first, ...rest] = keys.map(({ key }) => {
    return new Uint8Array(hkdfSync('sha256', Buffer.from(key, 'base64url'), new Uint8Array(), `mountglass ${purpose}`, 32))
  })
  if (!first) throw new TypeError('at least one sealing key is needed')
  return [first, ...rest]
}

/** The text of `MOUNTGLASS_KEYS` with one new key. */
export function formatNewKeys(kid: string, secret: Uint8Array): string {
  return JSON.stringify([newKey(kid, secret)])
}

function newKey(kid: string, secret: Uint8Array): SealingKeys[number] {
  return { kid, key: Buffer.from(secret).toString('base64url') }
}

/** A key to add to those of a deployment. Its name is the number after theirs. */
export function nextKey(keys: SealingKeys, secret: Uint8Array): SealingKeys[number] {
  const numbers = keys.map(({ kid }) => (/^\d{1,9}$/.test(kid) ? Number(kid) : 0))
  return newKey(String(Math.max(...numbers) + 1), secret)
}

/** Parses the value of `MOUNTGLASS_KEYS`; `null` when it is malformed. */
export function parseSealingKeys(text: string): SealingKeys | null {
  try {
    return SealingKeys.parse(JSON.parse(text))
  } catch {
    return null
  }
}
