import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { z } from 'zod'
import { ServiceError } from '#core/errors.ts'
import { SIGN_IN_RETURN_CHARACTERS } from '#core/limits.ts'
import type { HostCredential, HostPerson, PeopleHost } from '#core/ports/people-host.ts'
import type { RequestOrigin } from './audit.ts'
import type { PeopleContext } from './context.ts'
import { type Cookies, SIGN_IN_SECONDS } from './cookies.ts'
import type { HostCredentials } from './host-credentials.ts'
import type { PersonRecord } from './records.ts'
import { type CarriedSession, carriedSession, endCarriedSession, newSession, sessionOf, withSession } from './sessions.ts'
import { newRecordId, type RecordId } from './token-text.ts'

/** The web flow of a sign-in: the browser goes to the host, and comes back with a code. */
export interface SignIn {
  /** @param returnTo where the browser wants to be in the end. @returns where it goes, and its cookie */
  begin(headers: IncomingHttpHeaders, returnTo: string | undefined): Promise<Redirect>
  /** What the host sent the browser back with. */
  finish(headers: IncomingHttpHeaders, query: Callback, origin: RequestOrigin): Promise<SignInOutcome>
}

export interface Redirect {
  location: string
  /** Values of the header `set-cookie`. */
  cookies: string[]
}

export type Callback = Readonly<Record<string, string | string[] | undefined>>

export type SignInOutcome =
  | ({ status: 'signed_in' } & Redirect)
  /** The browser did not begin this sign-in, the person refused, or the host does not accept the code. */
  | { status: 'failed'; cookies: string[] }
  | { status: 'unavailable'; retryAfterSeconds: number | null; cookies: string[] }

export const CALLBACK_PATH = '/auth/callback'

/** Sign-ins that one browser has begun, in several tabs. The oldest are dropped beyond it, and where they do not fit into a cookie. */
const PENDING = 3
/** Browsers take 4,096 bytes, with the name and the attributes of the cookie. */
const COOKIE_CHARACTERS = 3_900

const Pending = z.array(z.object({ state: z.string(), verifier: z.string(), to: z.string(), until: z.number() })).max(PENDING)
type Pending = z.infer<typeof Pending>

export interface SignInOptions {
  context: PeopleContext
  host: PeopleHost
  credentials: HostCredentials
  cookies: Cookies
}

export function createSignIn(options: SignInOptions): SignIn {
  const { context, host, cookies } = options
  const { seals, clock, random, origin, audit } = context
  const redirectUri = `${origin}${CALLBACK_PATH}`
  const text = (bytes: number) => Buffer.from(random.bytes(bytes)).toString('base64url')

  async function pendingOf(headers: IncomingHttpHeaders): Promise<Pending> {
    const sealed = cookies.signIn.read(headers)
    const claims = sealed === null ? null : await seals.open('signin', sealed)
    const pending = Pending.safeParse(claims?.p).data ?? []
    return pending.filter(({ until }) => until > clock.now().getTime())
  }

  async function cookieFor(pending: Pending): Promise<string> {
    if (pending.length === 0) return cookies.signIn.clear()
    const sealed = await seals.seal('signin', { p: pending }, SIGN_IN_SECONDS)
    // A browser keeps its old cookie instead of one that is too long.
    return sealed.length > COOKIE_CHARACTERS ? await cookieFor(pending.slice(0, -1)) : cookies.signIn.set(sealed)
  }

  return {
    async begin(headers, returnTo) {
      const [state, verifier] = [text(32), text(32)]
      const until = clock.now().getTime() + SIGN_IN_SECONDS * 1000
      const begun = { state, verifier, to: returnPath(returnTo, origin), until }
      const challenge = createHash('sha256').update(verifier).digest('base64url')
      const cookie = await cookieFor([begun, ...(await pendingOf(headers))].slice(0, PENDING))
      return { location: host.signInUrl({ state, challenge, redirectUri }), cookies: [cookie] }
    },

    async finish(headers, { state, code, error }, request) {
      const pending = await pendingOf(headers)
      const begun = pending.find(one => typeof state === 'string' && isSame(one.state, state))
      const left = await cookieFor(pending.filter(one => one !== begun))
      const failed = (reason: string, person?: RecordId): SignInOutcome => {
        audit.note('signin.fail', { origin: request, reason, ...(person === undefined ? {} : { person }) })
        return { status: 'failed', cookies: [left] }
      }
      if (begun === undefined) return failed('state')
      if (typeof code !== 'string' || code === '') return failed(error === 'access_denied' ? 'denied' : 'no code')
      const given = await host.exchange({ code, verifier: begun.verifier, redirectUri })
      if (given.status === 'refused') return failed('code')
      if (given.status !== 'ok') return { ...given, status: 'unavailable', cookies: [left] }
      const known = await host.person({ key: 'sign-in', accessToken: given.value.accessToken })
      if (known.status === 'missing' || known.status === 'signed_out') return failed('account')
      if (known.status !== 'ok') return { ...known, status: 'unavailable', cookies: [left] }

      const person = context.recordIds.person(known.value.id)
      const carried = carriedSession(cookies.session, headers)
      const session = await keepSignIn(options, person, known.value, given.value, { carried, userAgent: headers['user-agent'] })
      audit.note('signin.ok', { origin: request, person, id: session.id })
      return { status: 'signed_in', location: begun.to, cookies: [left, cookies.session.set(session.token)] }
    },
  }
}

/** Stores account, credential and a new session of the person. The session that the browser carried ends, also that of another person. */
async function keepSignIn(
  { context, host, credentials }: SignInOptions,
  person: RecordId,
  account: HostPerson,
  credential: HostCredential,
  { carried, userAgent }: { carried: CarriedSession | null; userAgent: string | undefined },
): Promise<{ id: RecordId; token: string }> {
  const { records, clock } = context
  const { session, token } = newSession(context, person, userAgent)
  const cred = await credentials.seal(person, credential)
  const now = clock.now()
  let replaced: PersonRecord['cred'] = null
  const since = newRecordId(context.random)
  const kept = await records.people.update([person], record => {
    // A store may report that a write failed although it was done.
    if (record?.sessions.some(({ id }) => id === session.id)) return record
    replaced = record?.cred ?? null
    const { id, login, name, avatar } = account
    const ended = record && carried?.person === person ? sessionOf(record, carried, now) : null
    const others = (record?.sessions ?? []).filter(one => one !== ended)
    return {
      v: 1,
      uk: person,
      since: record && record.forgottenAt === undefined ? record.since : since,
      host: { kind: 'gh', id, login, name, avatar, seenAt: now.toISOString() },
      cred,
      sessions: withSession(others, session, now),
      tokens: record?.tokens ?? [],
    }
  })
  if (kept === null) throw new ServiceError('auth.unavailable')
  if (carried && carried.person !== person) await endCarriedSession(context, carried)
  // Hosts keep few credentials for each person and app, so the replaced one is revoked.
  const before = replaced && (await credentials.open(person, replaced))
  if (before) void host.revoke(before)
  return { id: session.id, token }
}

function isSame(left: string, right: string): boolean {
  const [one, other] = [Buffer.from(left), Buffer.from(right)]
  return one.length === other.length && timingSafeEqual(one, other)
}

/**
 * Where a sign-in leads back to: a path of this deployment, and the front page for everything else. No text leads to another origin.
 *
 * @param origin the public origin of the deployment
 */
export function returnPath(text: string | undefined, origin: string): string {
  if (text === undefined || text.length > SIGN_IN_RETURN_CHARACTERS || !/^\/(?![/\\])/.test(text)) return '/'
  // Browsers drop control characters from URLs, so that `/<tab>/host` would be another origin.
  if (/[\p{Cc}\p{Cs}\\]/u.test(text)) return '/'
  const url = URL.parse(text, origin)
  if (url === null || url.origin !== new URL(origin).origin || url.username !== '') return '/'
  // A sign-in that leads to a sign-in never ends.
  if (/^\/auth(?:\/|$)/.test(url.pathname)) return '/'
  const path = `${url.pathname}${url.search}${url.hash}`
  // The URL is normalised, so that `/.//host` has become `//host`; and encoded, so that it may be longer.
  return /^\/(?![/\\])/.test(path) && path.length <= SIGN_IN_RETURN_CHARACTERS ? path : '/'
}
