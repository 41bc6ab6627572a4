import type { IncomingHttpHeaders } from 'node:http'
import { SESSION_DAYS, SESSION_IDLE_DAYS, SESSIONS_PER_PERSON } from '#core/limits.ts'
import { browserName } from './browser-name.ts'
import type { PeopleContext } from './context.ts'
import type { Cookie } from './cookies.ts'
import type { PersonRecord, Session } from './records.ts'
import { formatToken, hashToken, isTokenOfHash, newRecordId, parseToken, type RecordId, SECRET_BYTES } from './token-text.ts'

const DAY_MS = 86_400_000

/** A session that is about to be kept, and the cookie that its browser carries. */
export interface NewSession {
  session: Session
  token: string
}

/** @param userAgent what the browser calls itself */
export function newSession(
  { random, clock }: Pick<PeopleContext, 'random' | 'clock'>,
  person: RecordId,
  userAgent: string | undefined,
): NewSession {
  const id = newRecordId(random)
  const token = formatToken({ kind: 'session', person, id }, random.bytes(SECRET_BYTES))
  const now = clock.now()
  const at = now.toISOString()
  const exp = new Date(now.getTime() + SESSION_DAYS * DAY_MS).toISOString()
  const browser = browserName(userAgent)
  const session = { id, h: hashToken(token), createdAt: at, seenAt: at, exp, ...(browser === null ? {} : { browser }) }
  return { token, session }
}

/** The sessions with another one in front. The oldest of too many ends. */
export function withSession(sessions: readonly Session[], added: Session, now: Date): Session[] {
  const others = activeSessions(sessions, now).filter(({ id }) => id !== added.id)
  return [added, ...others].slice(0, SESSIONS_PER_PERSON)
}

export function activeSessions(sessions: readonly Session[], now: Date): Session[] {
  return sessions.filter(session => isActive(session, now))
}

/** A session that the cookie of a request names, whether or not it is valid. */
export interface CarriedSession {
  person: RecordId
  id: RecordId
  token: string
}

export function carriedSession(cookie: Cookie, headers: IncomingHttpHeaders): CarriedSession | null {
  const token = cookie.read(headers)
  const parsed = token === null ? null : parseToken(token)
  return token !== null && parsed?.kind === 'session' ? { person: parsed.person, id: parsed.id, token } : null
}

/** The session of the record that the token is for, while it lives. */
export function sessionOf(record: PersonRecord, { id, token }: CarriedSession, now: Date): Session | null {
  const found = record.sessions.find(session => session.id === id)
  return found && isTokenOfHash(token, found.h) && isActive(found, now) ? found : null
}

/** Ends a session of the person. @returns whether it was alive */
export async function endSession(
  { records, clock }: Pick<PeopleContext, 'records' | 'clock'>,
  person: RecordId,
  id: RecordId,
): Promise<boolean> {
  let wasActive = false
  await records.people.update([person], record => {
    const found = record?.sessions.find(session => session.id === id)
    if (!record || !found) return record
    wasActive = isActive(found, clock.now())
    return { ...record, sessions: record.sessions.filter(session => session !== found) }
  })
  return wasActive
}

/** Ends the session that a browser carries, if the browser has its secret. */
export async function endCarriedSession(
  context: Pick<PeopleContext, 'records' | 'clock'>,
  carried: CarriedSession,
): Promise<void> {
  const { records, clock } = context
  await records.people.update([carried.person], record => {
    const found = record && sessionOf(record, carried, clock.now())
    return record && found ? { ...record, sessions: record.sessions.filter(session => session !== found) } : record
  })
}

function isActive({ seenAt, exp }: Session, now: Date): boolean {
  return now.getTime() < Date.parse(exp) && now.getTime() < Date.parse(seenAt) + SESSION_IDLE_DAYS * DAY_MS
}
