import { hash, timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { RandomSource } from '#core/ports/system.ts'

/**
 * The strings that people and programs carry: a prefix that names the kind, record ids, a secret, and a checksum. The ids say where the
 * record is, so a check is one read. Widths are fixed, so that scanners find the strings by `\bmg[pars]_[0-9A-Za-z]{83,100}\b`.
 */
export const TOKEN_PREFIXES = { agent: 'mgp_', access: 'mga_', refresh: 'mgr_', session: 'mgs_' } as const

export type TokenKind = keyof typeof TOKEN_PREFIXES

/** The id of a record: 12 bytes as 24 hex digits, as in keys and records. */
export type RecordId = string

/** What a token says of itself. Nothing of it is checked against a record. */
export type ParsedToken =
  /** `id`: of the agent token or session in the person's record. */
  | { kind: 'agent' | 'session'; person: RecordId; id: RecordId }
  | { kind: 'access' | 'refresh'; person: RecordId; grant: RecordId; family: RecordId }

export const RECORD_ID_BYTES = 12
export const SECRET_BYTES = 32

const RECORD_ID_CHARACTERS = 17
const SECRET_CHARACTERS = 43
const CHECKSUM_CHARACTERS = 6
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const BASE = BigInt(DIGITS.length)

/** @param secret `SECRET_BYTES` random bytes */
export function formatToken(parts: ParsedToken, secret: Uint8Array): string {
  const recordIds = recordIdsOf(parts).map(id => toBase62(Buffer.from(id, 'hex'), RECORD_ID_CHARACTERS))
  const text = `${TOKEN_PREFIXES[parts.kind]}${recordIds.join('')}${toBase62(secret, SECRET_CHARACTERS)}`
  return `${text}${checksum(text)}`
}

/** Whether a text is meant as a token of a service like this one, right or wrong. */
export function looksLikeToken(text: string): boolean {
  return Object.values(TOKEN_PREFIXES).some(prefix => text.startsWith(prefix))
}

/** `null` for a text that is no token: mistyped and made up ones are refused here, without a read. */
export function parseToken(text: string): ParsedToken | null {
  const kind = (Object.keys(TOKEN_PREFIXES) as TokenKind[]).find(one => text.startsWith(TOKEN_PREFIXES[one]))
  if (kind === undefined) return null
  const count = kind === 'agent' || kind === 'session' ? 2 : 3
  const start = TOKEN_PREFIXES[kind].length
  const end = start + count * RECORD_ID_CHARACTERS + SECRET_CHARACTERS
  if (text.length !== end + CHECKSUM_CHARACTERS || !/^[0-9A-Za-z]+$/.test(text.slice(start))) return null
  if (text.slice(end) !== checksum(text.slice(0, end))) return null
  const recordIds = Array.from({ length: count }, (_, index) => {
    const at = start + index * RECORD_ID_CHARACTERS
    return fromBase62(text.slice(at, at + RECORD_ID_CHARACTERS), RECORD_ID_BYTES)
  })
  const secret = fromBase62(text.slice(end - SECRET_CHARACTERS, end), SECRET_BYTES)
  if (secret === null || recordIds.some(id => id === null)) return null
  const [person, second, family] = recordIds as [RecordId, RecordId, RecordId]
  return kind === 'agent' || kind === 'session' ? { kind, person, id: second } : { kind, person, grant: second, family }
}

/** What a record keeps of a token: a hash cannot be presented. */
export function hashToken(token: string): string {
  return hash('sha256', token, 'base64url')
}

/** Whether the hash is that of the token. Takes the same time wherever they differ. */
export function isTokenOfHash(token: string, kept: string): boolean {
  const [left, right] = [Buffer.from(hashToken(token)), Buffer.from(kept)]
  return left.length === right.length && timingSafeEqual(left, right)
}

export function newRecordId(random: RandomSource): RecordId {
  return Buffer.from(random.bytes(RECORD_ID_BYTES)).toString('hex')
}

function recordIdsOf(parts: ParsedToken): readonly RecordId[] {
  return 'id' in parts ? [parts.person, parts.id] : [parts.person, parts.grant, parts.family]
}

function toBase62(bytes: Uint8Array, width: number): string {
  let rest = BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
  let text = ''
  for (let at = 0; at < width; at++) {
    text = `${DIGITS[Number(rest % BASE)]}${text}`
    rest /= BASE
  }
  return text
}

/** In hex; `null` when the number needs more bytes: every value has one spelling. */
function fromBase62(text: string, bytes: number): string | null {
  let value = 0n
  for (const digit of text) value = value * BASE + BigInt(DIGITS.indexOf(digit))
  const hex = value.toString(16)
  return hex.length > bytes * 2 ? null : hex.padStart(bytes * 2, '0')
}

function checksum(text: string): string {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(crc32(text))
  return toBase62(bytes, CHECKSUM_CHARACTERS)
}
