import { mapFew } from '#core/concurrency/map-few.ts'
import type { PeopleHost } from '#core/ports/people-host.ts'
import { activeTokens } from './agent-tokens.ts'
import type { PeopleContext } from './context.ts'
import { type ForgetOptions, forgetAtHost } from './forget.ts'
import type { HostCredentials } from './host-credentials.ts'
import { hasActiveGrant, type PersonRecord } from './records.ts'
import { activeSessions } from './sessions.ts'
import type { RecordId } from './token-text.ts'

/** A credential in whose name a token or grant may act is refreshed when it is this old, so that it never is 30 days old. */
const REFRESHED_AFTER_DAYS = 28
const PAGE = 200
const DAY_MS = 86_400_000

export interface KeepAliveOptions extends ReleaseOptions {
  context: Pick<PeopleContext, 'records' | 'clock' | 'random' | 'fallbacks'>
  host: ReleaseOptions['host'] & ForgetOptions['host']
  credentials: HostCredentials
}

/**
 * Looks at everybody once: refreshes the credential of those in whose name a token or a grant acts, and gives back that of those whose sessions,
 * tokens and grants have all run out. Asks the host again to end the authorization of those who had everything deleted. Where the host refuses, the person is signed out, and their tokens answer 401 until they sign in again.
 * Never rejects: what fails is tried again in the next round.
 */
export async function keepSignInsAlive(options: KeepAliveOptions): Promise<void> {
  const { records, fallbacks } = options.context
  let last: RecordId | null = null
  try {
    for (;;) {
      const people: RecordId[] = await records.peopleAfter(last, PAGE)
      if (people.length === 0) return
      await mapFew(people, person => keepAlive(options, person))
      last = people.at(-1) ?? null
    }
  } catch (error) {
    fallbacks.note('keep_alive', error)
  }
}

async function keepAlive(options: KeepAliveOptions, person: RecordId): Promise<void> {
  const { context, credentials } = options
  const { records, clock, fallbacks } = context
  try {
    const record = await records.people.read(person)
    const now = clock.now()
    if (record?.forgottenAt !== undefined) return await forgetAtHost(options, record)
    if (!record?.cred) return
    const isSignedIn = activeSessions(record.sessions, now).length > 0
    const isOld = now.getTime() - Date.parse(record.cred.at) >= REFRESHED_AFTER_DAYS * DAY_MS
    if (isSignedIn && !isOld) return
    const acts = activeTokens(record.tokens, now).length > 0 || (await hasActiveGrant(context, person))
    if (acts && isOld) await credentials.refresh(record)
    if (!acts && !isSignedIn) await releaseCredential(options, person)
  } catch (error) {
    fallbacks.note('keep_alive', error)
  }
}

interface ReleaseOptions {
  context: Pick<PeopleContext, 'records' | 'clock'>
  host: Pick<PeopleHost, 'revoke'>
  credentials: Pick<HostCredentials, 'open' | 'refresh'>
}

/**
 * Has the host end the credential of a person once nothing acts in their name: no session, no token, no grant. So a record holds no credential
 * that its person does not use.
 */
export async function releaseCredential({ context, host, credentials }: ReleaseOptions, person: RecordId): Promise<void> {
  const { records, clock } = context
  const isIdle = (record: PersonRecord) =>
    activeSessions(record.sessions, clock.now()).length === 0 && activeTokens(record.tokens, clock.now()).length === 0
  const before = await records.people.read(person)
  if (!before?.cred || !isIdle(before) || (await hasActiveGrant(context, person))) return
  // The host ends a pair of tokens by its access token alone. One that ran out is exchanged for that, so that its refresh token ends, too.
  const isOver = before.cred.exp !== null && Date.parse(before.cred.exp) <= clock.now().getTime()
  if (isOver) await credentials.refresh(before)
  const cred = isOver ? (await records.people.read(person))?.cred : before.cred
  if (!cred) return
  const after = await records.people.update([person], record =>
    record?.cred?.sealed === cred.sealed && isIdle(record) ? { ...record, cred: null } : record,
  )
  if (after?.cred?.sealed === cred.sealed) return
  const access = await credentials.open(person, cred)
  if (access) await host.revoke(access)
}
