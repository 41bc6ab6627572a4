import { hkdfSync } from 'node:crypto'
import { z } from 'zod'

/** Sealing keys of a deployment: the first seals, all open. */
export const SealingKeys = z
  .array(z.object({ kid: z.string().min(1).max(64), key: z.string().regex(/^[A-Za-z0-9_-]{43}$/) }))
  .min(1)
  .refine(keys => new Set(keys.map(key => key.kid)).size === keys.length)
export type SealingKeys = z.infer<typeof SealingKeys>

/** What a derived key is for. A key of one purpose opens nothing of another. */
export type KeyPurpose = 'cursor'

/** One 32-byte key a sealing key, in their order. */
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
  return JSON.stringify([{ kid, key: Buffer.from(secret).toString('base64url') }] satisfies SealingKeys)
}

/** The keys that a text holds; `null` when it holds none. */
export function parseSealingKeys(text: string): SealingKeys | null {
  try {
    return SealingKeys.parse(JSON.parse(text))
  } catch {
    return null
  }
}
