import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto'
import { z } from 'zod'
import type { RandomSource } from '#core/ports/system.ts'
import { formatToken, hashToken, type Locator, SECRET_BYTES } from '../people/token-text.ts'
import type { TokenHashes } from './grant.ts'
import { OAUTH_LIFETIMES } from './lifetimes.ts'

/** Answer of the token endpoint (RFC 6749, 5.1). */
export interface TokenAnswer {
  access_token: string
  token_type: 'Bearer'
  /** Seconds. */
  expires_in: number
  refresh_token: string
  scope: string
}

/** The tokens of one answer. */
export interface Minted {
  access: string
  refresh: string
  hashes: TokenHashes
}

export function mintTokens(random: RandomSource, place: { person: Locator; grant: Locator; family: Locator }): Minted {
  const { person, grant, family } = place
  const access = formatToken({ kind: 'access', person, grant, family }, random.bytes(SECRET_BYTES))
  const refresh = formatToken({ kind: 'refresh', person, grant, family }, random.bytes(SECRET_BYTES))
  return { access, refresh, hashes: { access: hashToken(access), refresh: hashToken(refresh) } }
}

export function answerOf({ access, refresh }: Pick<Minted, 'access' | 'refresh'>, scope: string, seconds: number): TokenAnswer {
  return { access_token: access, token_type: 'Bearer', expires_in: seconds, refresh_token: refresh, scope }
}

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** What a repeated refresh is given: the tokens of the first, and when their access token expires, in seconds since 1970. */
const Successor = z.object({ rt: z.string(), at: z.string(), exp: z.number() })

/**
 * Seals an answer under the refresh token that it was given for: the record has no token, and who presents that token again is given the same
 * answer without a write.
 */
export function sealSuccessor(presented: string, { access, refresh }: Minted, random: RandomSource, now: Date): string {
  const successor: z.infer<typeof Successor> = {
    rt: refresh,
    at: access,
    exp: Math.floor(now.getTime() / 1_000) + OAUTH_LIFETIMES.accessSeconds,
  }
  const nonce = random.bytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', keyOf(presented), nonce)
  const sealed = Buffer.concat([cipher.update(JSON.stringify(successor)), cipher.final()])
  return Buffer.concat([nonce, sealed, cipher.getAuthTag()]).toString('base64url')
}

/** The answer that was sealed under the token, as it is at `now`. */
export function openSuccessor(presented: string, text: string, scope: string, now: Date): TokenAnswer {
  const bytes = Buffer.from(text, 'base64url')
  const decipher = createDecipheriv('aes-256-gcm', keyOf(presented), bytes.subarray(0, NONCE_BYTES))
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  const opened = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()])
  const { rt, at, exp } = Successor.parse(JSON.parse(opened.toString()))
  return answerOf({ access: at, refresh: rt }, scope, Math.max(0, exp - Math.floor(now.getTime() / 1_000)))
}

function keyOf(presented: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', presented, new Uint8Array(), 'mountglass refresh-successor', 32))
}
