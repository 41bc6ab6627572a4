import { EncryptJWT, errors, type JWTPayload, jwtDecrypt } from 'jose'
import type { Clock } from '#core/ports/system.ts'
import { deriveKeys, type KeyPurpose, type SealingKeys } from '../purpose-keys.ts'

/** Values that leave this process and come back: only this deployment can read them, and only for the purpose they were sealed for. */
export interface Seals {
  /** @param ttlSeconds after which the text no longer opens; `null`: never, for what lies in a record */
  seal(purpose: KeyPurpose, claims: JWTPayload, ttlSeconds: number | null): Promise<string>
  /** `null` when the text was edited, has expired, or was sealed for another purpose, elsewhere or with a key that is no longer used. */
  open(purpose: KeyPurpose, text: string): Promise<JWTPayload | null>
}

const ALGORITHM = 'dir'
const ENCRYPTION = 'A256GCM'

/** @param issuer the public origin of the deployment */
export function createSeals(keys: SealingKeys, issuer: string, clock: Clock): Seals {
  const derived = new Map<KeyPurpose, Map<string, Uint8Array>>()
  function keysOf(purpose: KeyPurpose): Map<string, Uint8Array> {
    const known = derived.get(purpose)
    if (known) return known
    const bytes = deriveKeys(keys, purpose)
    const made = new Map(keys.map(({ kid }, index) => [kid, bytes[index] as Uint8Array]))
    derived.set(purpose, made)
    return made
  }

  return {
    async seal(purpose, claims, ttlSeconds) {
      const [kid, key] = [...keysOf(purpose)][0] as [string, Uint8Array]
      const now = clock.now()
      const token = new EncryptJWT(claims)
        .setProtectedHeader({ alg: ALGORITHM, enc: ENCRYPTION, typ: typeOf(purpose), kid })
        .setIssuer(issuer)
        .setAudience(audienceOf(issuer, purpose))
        .setIssuedAt(now)
      if (ttlSeconds !== null) token.setExpirationTime(new Date(now.getTime() + ttlSeconds * 1000))
      return await token.encrypt(key)
    },

    async open(purpose, text) {
      try {
        const { payload } = await jwtDecrypt(text, ({ kid }) => requireKey(keysOf(purpose), kid), {
          keyManagementAlgorithms: [ALGORITHM],
          contentEncryptionAlgorithms: [ENCRYPTION],
          typ: typeOf(purpose),
          issuer,
          audience: audienceOf(issuer, purpose),
          currentDate: clock.now(),
        })
        return payload
      } catch (error) {
        if (error instanceof errors.JOSEError) return null
        throw error
      }
    },
  }
}

function typeOf(purpose: KeyPurpose): string {
  return `mountglass-${purpose}+jwt`
}

function audienceOf(issuer: string, purpose: KeyPurpose): string {
  return `${issuer}#${purpose}`
}

function requireKey(keys: ReadonlyMap<string, Uint8Array>, kid: unknown): Uint8Array {
  const key = typeof kid === 'string' ? keys.get(kid) : undefined
  if (key === undefined) throw new errors.JWEInvalid('sealed with an unknown key')
  return key
}
