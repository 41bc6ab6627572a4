import { mapFew } from '#core/concurrency/map-few.ts'
import { hasActiveGrant } from './active-grants.ts'
import { activeTokens } from './agent-tokens.ts'
import type { PeopleContext } from './context.ts'
import { type ForgetOptions, forgetAtHost } from './forget.ts'
import type { HostCredentials } from './host-credentials.ts'
import { type ReleaseOptions, releaseCredential } from './release-credential.ts'
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
