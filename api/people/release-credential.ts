import type { PeopleHost } from '#core/ports/people-host.ts'
import { livingTokens } from './agent-tokens.ts'
import type { Foundation } from './foundation.ts'
import type { HostCredentials } from './host-credentials.ts'
import { hasLivingGrant } from './living-grants.ts'
import type { PersonRecord } from './records.ts'
import { livingSessions } from './sessions.ts'
import type { Locator } from './token-text.ts'

export interface ReleaseOptions {
  foundation: Pick<Foundation, 'records' | 'clock'>
  host: Pick<PeopleHost, 'revoke'>
  credentials: Pick<HostCredentials, 'open' | 'refresh'>
}

/**
 * Has the host end the credential of a person once nothing acts in their name: no session, no token, no grant. So a record holds no credential
 * that its person does not use.
 */
export async function releaseCredential({ foundation, host, credentials }: ReleaseOptions, person: Locator): Promise<void> {
  const { records, clock } = foundation
  const isIdle = (record: PersonRecord) =>
    livingSessions(record.sessions, clock.now()).length === 0 && livingTokens(record.tokens, clock.now()).length === 0
  const before = await records.people.read(person)
  if (!before?.cred || !isIdle(before) || (await hasLivingGrant(foundation, person))) return
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
