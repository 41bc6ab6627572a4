import { createCipheriv, createDecipheriv, hash, hkdfSync } from 'node:crypto'
import { z } from 'zod'
import type { Form } from '#core/form.ts'
import type { RandomSource } from '#core/ports/system.ts'
import type { RequestOrigin } from '../people/audit.ts'
import type { GrantRecord } from '../people/records.ts'
import { formatToken, hashToken, newRecordId, parseToken, type RecordId, SECRET_BYTES } from '../people/token-text.ts'
import { hashOfClient } from './clients.ts'
import {
  afterRefresh,
  boundGrants,
  holdsToken,
  type Refresh,
  subjectOf,
  type TokenHashes,
  withFamily,
  withoutFamily,
} from './grants.ts'
import { OAUTH_LIFETIMES, type OAuthDeps } from './oauth.ts'
import { addressOf, identityOf, repositoryOfResource } from './resource.ts'

/** Why a client gets an error instead of tokens (RFC 6749, 5.2; RFC 8707, 2). */
export class RefusedToken extends Error {
  readonly code: 'invalid_request' | 'invalid_client' | 'invalid_grant' | 'unsupported_grant_type' | 'invalid_target'

  constructor(code: RefusedToken['code'], message: string) {
    super(message)
    this.name = 'RefusedToken'
    this.code = code
  }
}

/** What a code stands for: a request that a person approved. */
export const CodeClaims = z.object({
  jti: z.string(),
  /** The person's key, and their account at the host. */
  uk: z.string(),
  uid: z.string(),
  /** See `PersonRecord.since`. */
  since: z.string(),
  client: z.object({ h: z.string(), kind: z.enum(['cimd', 'dcr']), name: z.string(), uri: z.string().nullable() }),
  redirectUri: z.string(),
  challenge: z.string(),
  address: z.string(),
  /** Of the repository at the host. */
  repoId: z.string(),
  scope: z.string(),
  /** How often the person had ended the grant when they approved. */
  ended: z.int(),
})
export type CodeClaims = z.infer<typeof CodeClaims>

/** A form that a client sent. */
interface Sent {
  form: Form
  clientId: string
  origin: RequestOrigin | null
}

/** `POST /oauth/token`. @throws RefusedToken, or ServiceError `auth.unavailable` */
export async function answerToken(deps: OAuthDeps, form: Form, origin: RequestOrigin | null): Promise<TokenAnswer> {
  const grantType = required(form, 'grant_type')
  if (grantType !== 'authorization_code' && grantType !== 'refresh_token')
    throw new RefusedToken('unsupported_grant_type', 'grant_type must be authorization_code or refresh_token')
  const clientId = required(form, 'client_id')
  if (!(await deps.clients.isPlausible(clientId))) throw new RefusedToken('invalid_client', 'no such client; register again')
  const sent = { form, clientId, origin }
  return grantType === 'authorization_code' ? await redeem(deps, sent) : await refresh(deps, sent)
}

/**
 * Redeems a code. The marker says that the code was used. It is written only after every check, so that an attacker who has the code, but not
 * its verifier, cannot use it up.
 *
 * This request writes the marker before the family of tokens, and reads it again afterwards. A request that replays the code revokes the marker
 * before it removes the family. So one of the two sees the other's write, in every order.
 */
async function redeem(deps: OAuthDeps, { form, clientId, origin }: Sent): Promise<TokenAnswer> {
  const { records, redeemedCodes, recordIds, random, clock } = deps
  const code = required(form, 'code')
  const verifier = required(form, 'code_verifier')
  const opened = CodeClaims.safeParse(await deps.seals.open('oauth-code', code))
  if (!opened.success) throw new RefusedToken('invalid_grant', 'the code is not valid or has expired')
  const claims = opened.data
  requireSame(deps, form, clientId, claims)
  if (!isVerifier(verifier, claims.challenge)) throw new RefusedToken('invalid_grant', 'code_verifier is not that of the code')
  await requireSamePerson(deps, claims)

  const { jti, uk, client, address, repoId } = claims
  const subject = { origin, person: uk, client: client.h, address, repositoryId: repoId }
  const gk = recordIds.grant(uk, client.h, identityOf(address))
  const fid = newRecordId(random)
  const exp = new Date(clock.now().getTime() + OAUTH_LIFETIMES.markerSeconds * 1_000).toISOString()
  const redeemed = await redeemedCodes.redeem(jti, { uk, gk, fid, exp })
  if (redeemed.status === 'redeemed_before') {
    await redeemedCodes.revoke(jti)
    await endFamily(deps, redeemed.marker)
    deps.audit.note('code.replay', subject)
    throw new RefusedToken('invalid_grant', 'the code was redeemed before; all tokens of it have ended')
  }
  const minted = mintTokens(random, { person: uk, grant: gk, family: fid })
  const facts = factsOf(claims, gk, clientId)
  let isEnded = false
  await records.grants.update([uk, gk], record => {
    isEnded = (record?.ended ?? 0) !== claims.ended
    return isEnded ? record : withFamily(record, facts, { fid, hashes: minted.hashes }, clock.now())
  })
  // Read again after the write: who forgets everything at the same time removes grants after the record of the person.
  if (isEnded || !(await isSamePerson(deps, claims)) || !(await redeemedCodes.isRedeemedFor(jti, fid))) {
    await endFamily(deps, { uk, gk, fid })
    throw new RefusedToken('invalid_grant', 'the approval has ended')
  }
  deps.audit.note('grant.create', subject)
  await boundGrants(deps, uk, origin)
  return answerOf(minted, claims.scope, OAUTH_LIFETIMES.accessSeconds)
}

function factsOf(claims: CodeClaims, gk: string, clientId: string): Parameters<typeof withFamily>[1] {
  const { uk, uid, client, address, repoId, scope, ended } = claims
  return { v: 1, id: gk, uk, uid, client: { ...client, id: clientId }, address, repoId, scope, ended }
}

async function refresh(deps: OAuthDeps, { form, clientId, origin }: Sent): Promise<TokenAnswer> {
  const { records, random, clock } = deps
  const presented = required(form, 'refresh_token')
  const token = parseToken(presented)
  if (token?.kind !== 'refresh') throw new RefusedToken('invalid_grant', NOT_VALID)
  const { person, grant, family } = token
  // Before anything changes: once they have signed in again, the token is good again.
  await requirePerson(deps, person)
  const minted = mintTokens(random, token)
  const rotation = {
    fid: family,
    presented: hashToken(presented),
    hashes: minted.hashes,
    next: sealSuccessor(presented, minted, random, clock.now()),
    graceSeconds: deps.graceSeconds,
  }
  let turn: Refresh = { outcome: 'unknown' }
  const record = await records.grants.update([person, grant], before => {
    turn = { outcome: 'unknown' }
    if (before === null) return null
    requireSameGrant(deps, form, clientId, before)
    const after = afterRefresh(before, rotation, clock.now())
    turn = after.refresh
    return after.record
  })
  return answerRefresh(deps, { record, turn, presented, minted, origin })
}

interface Refreshed {
  record: GrantRecord | null
  turn: Refresh
  presented: string
  minted: ReturnType<typeof mintTokens>
  origin: RequestOrigin | null
}

function answerRefresh(deps: OAuthDeps, { record, turn, presented, minted, origin }: Refreshed): TokenAnswer {
  if (record === null) throw new RefusedToken('invalid_grant', NOT_VALID)
  const { scope } = record
  const subject = { origin, ...subjectOf(record) }
  switch (turn.outcome) {
    case 'rotated':
      return answerOf(minted, scope, OAUTH_LIFETIMES.accessSeconds)
    case 'repeated':
      deps.audit.note('refresh.grace', subject)
      return openSuccessor(presented, turn.next, scope, deps.clock.now())
    case 'reused':
      deps.audit.note('refresh.reuse', subject)
      throw new RefusedToken('invalid_grant', 'the refresh token was used before; all tokens of this installation have ended')
    case 'unknown':
      throw new RefusedToken('invalid_grant', NOT_VALID)
  }
}

const NOT_VALID = 'the refresh token is not valid or has expired'

/**
 * `POST /oauth/revoke`: ends the family of a token. It may be sent without a client, since whoever finds a token shall be able to end it.
 *
 * @throws RefusedToken for a token of another client than the one that is named (RFC 7009, 2.1)
 */
export async function revokeToken(deps: OAuthDeps, form: Form, origin: RequestOrigin | null): Promise<void> {
  const presented = required(form, 'token')
  const token = parseToken(presented)
  if (token?.kind !== 'access' && token?.kind !== 'refresh') return
  const clientId = form.get('client_id')
  const hashed = hashToken(presented)
  let wasHeld = false
  const record = await deps.records.grants.update([token.person, token.grant], before => {
    const isHeld = before?.families.some(family => family.fid === token.family && holdsToken(family, hashed)) ?? false
    // Kept over attempts: a write that was done although the store said that it failed is met again here.
    wasHeld ||= isHeld
    if (isHeld && clientId !== undefined && hashOfClient(clientId) !== before?.client.h)
      throw new RefusedToken('invalid_grant', 'the token is that of another client')
    return before !== null && isHeld ? withoutFamily(before, token.family, deps.clock.now()) : before
  })
  // It may have been held only at an attempt whose write was lost, to one that used the token up.
  const isEnded = record !== null && !record.families.some(family => family.fid === token.family)
  if (isEnded && wasHeld) deps.audit.note('grant.delete', { origin, ...subjectOf(record), reason: 'revoked by the app' })
}

async function endFamily(deps: OAuthDeps, { uk, gk, fid }: { uk: string; gk: string; fid: string }): Promise<void> {
  await deps.records.grants.update([uk, gk], record => record && withoutFamily(record, fid, deps.clock.now()))
}

/** Checks that the request names the client of the code and, where it sends them, the same redirect URI and resource. @throws RefusedToken */
function requireSame(deps: OAuthDeps, form: Form, clientId: string, claims: CodeClaims): void {
  if (hashOfClient(clientId) !== claims.client.h) throw new RefusedToken('invalid_grant', 'the code is that of another client')
  const redirectUri = form.get('redirect_uri')
  if (redirectUri !== undefined && redirectUri !== claims.redirectUri)
    throw new RefusedToken('invalid_grant', 'redirect_uri is not that of the code')
  requireSameResource(deps, form, claims.address)
}

function requireSameGrant(deps: OAuthDeps, form: Form, clientId: string, { client, address }: GrantRecord): void {
  if (hashOfClient(clientId) !== client.h) throw new RefusedToken('invalid_grant', NOT_VALID)
  requireSameResource(deps, form, address)
}

function requireSameResource({ baseUrl, hosts }: OAuthDeps, form: Form, address: string): void {
  const resource = form.get('resource')
  if (resource === undefined) return
  const repository = repositoryOfResource(resource, baseUrl, hosts)
  if (repository === null || identityOf(addressOf(repository)) !== identityOf(address))
    throw new RefusedToken('invalid_target', 'resource is not of the repository that was approved')
}

/** @throws RefusedToken when the host has ended the sign-in of the person */
async function requirePerson({ records }: OAuthDeps, person: string): Promise<void> {
  const record = await records.people.read(person)
  if (record === null || record.cred === null) throw new RefusedToken('invalid_grant', 'the person has to sign in again')
}

/** Whether the record is still the one that approved: a person who had their data deleted and signed in again has a new one, with another `since`. */
async function isSamePerson({ records }: OAuthDeps, { uk, since }: CodeClaims): Promise<boolean> {
  const record = await records.people.read(uk)
  return record !== null && record.cred !== null && record.since === since
}

/** @throws RefusedToken */
async function requireSamePerson(deps: OAuthDeps, claims: CodeClaims): Promise<void> {
  if (!(await isSamePerson(deps, claims))) throw new RefusedToken('invalid_grant', 'the person has to sign in again')
}

/** RFC 7636, 4.1 and 4.6. */
function isVerifier(verifier: string, challenge: string): boolean {
  return /^[A-Za-z0-9._~-]{43,128}$/.test(verifier) && hash('sha256', verifier, 'base64url') === challenge
}

function required(form: Form, name: string): string {
  const value = form.get(name)
  if (value === undefined) throw new RefusedToken('invalid_request', `${name} is missing`)
  return value
}

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
interface Minted {
  access: string
  refresh: string
  hashes: TokenHashes
}

function mintTokens(random: RandomSource, place: { person: RecordId; grant: RecordId; family: RecordId }): Minted {
  const { person, grant, family } = place
  const access = formatToken({ kind: 'access', person, grant, family }, random.bytes(SECRET_BYTES))
  const refresh = formatToken({ kind: 'refresh', person, grant, family }, random.bytes(SECRET_BYTES))
  return { access, refresh, hashes: { access: hashToken(access), refresh: hashToken(refresh) } }
}

function answerOf({ access, refresh }: Pick<Minted, 'access' | 'refresh'>, scope: string, seconds: number): TokenAnswer {
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
function sealSuccessor(presented: string, { access, refresh }: Minted, random: RandomSource, now: Date): string {
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
function openSuccessor(presented: string, text: string, scope: string, now: Date): TokenAnswer {
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
