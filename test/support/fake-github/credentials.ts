import { createPublicKey, createVerify, randomBytes, randomUUID } from 'node:crypto'
import { type FakeRequest, header } from './http.ts'
import type { Account, App, Installation, Repository, Token, World } from './world.ts'

/** Who asks, as far as the request proves it. */
export type Credential =
  | { kind: 'anonymous' }
  | (Token & { token: string })
  | { kind: 'app'; app: App }
  | { kind: 'client'; clientId: string; app: App | null }
  | { kind: 'invalid'; message: string }

const BAD: Credential = { kind: 'invalid', message: 'Bad credentials' }

/** `Authorization: token T`, `Bearer T`, and `Basic` with a token on either side or a client id and its secret. */
export function readCredential(world: World, request: FakeRequest): Credential {
  const text = header(request, 'authorization')
  if (text === null) return { kind: 'anonymous' }
  const [scheme = '', value = ''] = text.trim().split(/\s+/)
  if (/^basic$/i.test(scheme)) return readBasic(world, value)
  if (!/^(token|bearer)$/i.test(scheme) || value === '') return BAD
  // An installation token holds two dots as well, behind its prefix.
  if (!/^gh[pousr]_/.test(value) && value.split('.').length === 3) return readJwt(world, value)
  return readToken(world, value)
}

function readBasic(world: World, value: string): Credential {
  const text = Buffer.from(value, 'base64').toString()
  const user = text.split(':', 1)[0] ?? ''
  const password = text.slice(user.length + 1)
  const app = [...world.apps].find(({ clientId }) => clientId === user) ?? null
  const secret = app?.clientSecret ?? world.oauthClients.get(user)
  if (secret !== undefined) return secret === password ? { kind: 'client', clientId: user, app } : BAD
  const isToken = password === '' || password === 'x-oauth-basic'
  return readToken(world, isToken ? user : password)
}

function readToken(world: World, value: string): Credential {
  const token = world.tokens.get(value)
  if (!token || (token.endsAt !== null && token.endsAt <= world.clock.now())) return BAD
  return { ...token, token: value }
}

const JWT_SECONDS = 600
const CLOCK_DRIFT_SECONDS = 60

/** The JWT by which an app names itself: RS256, at most ten minutes long, issued by its id or client id. */
function readJwt(world: World, jwt: string): Credential {
  const invalid = (message: string): Credential => ({ kind: 'invalid', message })
  const [head = '', payload = '', signature = ''] = jwt.split('.')
  const fields = parseObject(payload)
  if (fields === null || parseObject(head)?.alg !== 'RS256') return invalid('A JSON web token could not be decoded')
  const issuer = String(fields.iss ?? '')
  const app = [...world.apps].find(({ id, clientId }) => String(id) === issuer || clientId === issuer)
  if (!app) return invalid('A JSON web token could not be decoded')
  const verify = createVerify('RSA-SHA256').update(`${head}.${payload}`)
  if (!verify.verify(createPublicKey(app.publicKey), signature, 'base64url'))
    return invalid('A JSON web token could not be decoded')
  const now = world.clock.now() / 1000
  const { exp, iat } = fields
  if (typeof exp !== 'number' || exp <= now)
    return invalid(
      "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires",
    )
  if (exp > now + JWT_SECONDS + CLOCK_DRIFT_SECONDS) return invalid("'Expiration time' claim ('exp') is too far in the future")
  if (typeof iat !== 'number' || iat > now + CLOCK_DRIFT_SECONDS)
    return invalid("'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued")
  return { kind: 'app', app }
}

function parseObject(encoded: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(encoded, 'base64url').toString())
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}

const HOUR = 60 * 60 * 1000
const USER_TOKEN_SECONDS = 8 * 60 * 60
const REFRESH_TOKEN_SECONDS = 184 * 24 * 60 * 60

/** A classic personal token. Without the scope `repo` it shows what everyone sees. */
export function issuePersonalToken(world: World, user: Account, scopes: string[] = ['repo']): string {
  const value = `ghp_${randomText(36)}`
  world.tokens.set(value, { kind: 'personal', user, scopes, isFineGrained: false, endsAt: null })
  return value
}

/** A fine-grained personal token, for public repositories only or for those of its owner, too. No answer tells its permissions. */
export function issueFineGrainedToken(world: World, user: Account, sees: 'public' | 'private'): string {
  const value = `github_pat_${randomText(22)}_${randomText(59)}`
  const scopes = sees === 'private' ? ['repo'] : []
  world.tokens.set(value, { kind: 'personal', user, scopes, isFineGrained: true, endsAt: null })
  return value
}

export interface UserTokens {
  access_token: string
  expires_in?: number
  refresh_token?: string
  refresh_token_expires_in?: number
  scope: ''
  token_type: 'bearer'
}

/** What the token endpoint answers for a person of the app. */
export function issueUserTokens(world: World, app: App, user: Account): UserTokens {
  const now = world.clock.now()
  const accessToken = `ghu_${randomText(36)}`
  const endsAt = app.expiringTokens ? now + USER_TOKEN_SECONDS * 1000 : null
  world.tokens.set(accessToken, { kind: 'user', user, app, endsAt, issuedAt: now })
  if (!app.expiringTokens) return { access_token: accessToken, scope: '', token_type: 'bearer' }
  const refreshToken = `ghr_${randomText(76)}`
  world.refreshTokens.set(refreshToken, { user, app, accessToken, endsAt: now + REFRESH_TOKEN_SECONDS * 1000 })
  return {
    access_token: accessToken,
    expires_in: USER_TOKEN_SECONDS,
    refresh_token: refreshToken,
    refresh_token_expires_in: REFRESH_TOKEN_SECONDS,
    scope: '',
    token_type: 'bearer',
  }
}

/** In the form of 2026: `ghs_<app id>_<JWT>`, some 520 characters with two dots. It lives an hour. */
export function issueInstallationToken(
  world: World,
  installation: Installation,
  repositories: Set<Repository> | null,
  permissions: Record<string, string>,
): { token: string; endsAt: number } {
  const now = world.clock.now()
  const endsAt = now + HOUR
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const payload = {
    iss: 'https://github.com',
    sub: `installation:${installation.id}`,
    jti: randomUUID(),
    iat: Math.floor(now / 1000),
    exp: Math.floor(endsAt / 1000),
  }
  const jwt = `${encode({ alg: 'RS256', typ: 'JWT' })}.${encode(payload)}.${randomBytes(256).toString('base64url')}`
  const token = `ghs_${installation.app.id}_${jwt}`
  world.tokens.set(token, { kind: 'installation', installation, repositories, permissions, endsAt })
  return { token, endsAt }
}

/** Ends every token and refresh token of the person for the app. */
export function revokeGrant(world: World, app: App, user: Account): void {
  for (const [value, token] of world.tokens) {
    if (token.kind === 'user' && token.app === app && token.user === user) world.tokens.delete(value)
  }
  for (const [value, refresh] of world.refreshTokens) {
    if (refresh.app === app && refresh.user === user) world.refreshTokens.delete(value)
  }
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

export function randomText(length: number): string {
  return Array.from(randomBytes(length), byte => LETTERS[byte % LETTERS.length]).join('')
}
