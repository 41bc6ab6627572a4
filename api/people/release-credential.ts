import type { PeopleHost } from '#core/ports/people-host.ts'
import { hasActiveGrant } from './active-grants.ts'
import { activeTokens } from './agent-tokens.ts'
import type { PeopleContext } from './context.ts'
import type { HostCredentials } from './host-credentials.ts'
import type { PersonRecord } from './records.ts'
import { activeSessions } from './sessions.ts'
import type { RecordId } from './token-text.ts'

export interface ReleaseOptions {
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
