import { GRANTS_PER_PERSON } from '#core/limits.ts'
import type { PeopleHost, PersonAccess, PersonAnswer } from '#core/ports/people-host.ts'
import type { PeopleContext } from './context.ts'
import type { HostCredentials } from './host-credentials.ts'
import type { PersonRecord } from './records.ts'
import { newRecordId, type RecordId } from './token-text.ts'

export interface ForgetOptions {
  context: Pick<PeopleContext, 'records' | 'clock' | 'random'>
  host: Pick<PeopleHost, 'forget'>
  credentials: Pick<HostCredentials, 'ask'>
}

/**
 * Deletes all data of the person, and ends their authorization of the App at the host.
 *
 * @returns `pending`: the host could not be asked. Only the credential is left, sealed, for `forgetAtHost`
 */
export async function forget(options: ForgetOptions, person: RecordId): Promise<'done' | 'pending'> {
  const { records, clock, random } = options.context
  const isEnded = await endAtHost(options, person, await records.people.read(person), async () => true)
  const removeGrants = async () => {
    for (;;) {
      const grants = await records.grantsOf(person, GRANTS_PER_PERSON)
      if (grants.length === 0) break
      for (const grant of grants) await records.grants.remove(person, grant.id)
    }
  }
  await removeGrants()
  // Another `since`: approvals of before are void.
  const after = { forgottenAt: clock.now().toISOString(), since: newRecordId(random) }
  if (isEnded) await records.people.remove(person)
  else await records.people.update([person], record => record && forgotten(record, after))
  // A code that was redeemed meanwhile made a grant, which saw the record; nothing later does.
  await removeGrants()
  return isEnded ? 'done' : 'pending'
}

/** Asks the host again for a person who had everything deleted, and removes what was left for that. */
export async function forgetAtHost(options: ForgetOptions, record: PersonRecord): Promise<void> {
  const { people } = options.context.records
  const { uk, forgottenAt } = record
  const isLeft = (one: PersonRecord | null) => one?.forgottenAt === forgottenAt
  // Who signed in again meanwhile keeps that authorization.
  if (await endAtHost(options, uk, record, async () => isLeft(await people.read(uk)))) await people.removeIf([uk], isLeft)
}

/** Whether the host has ended the authorization, or accepts the credential no longer, so that it cannot be asked. */
async function endAtHost(
  { host, credentials }: ForgetOptions,
  person: RecordId,
  record: PersonRecord | null,
  isWanted: () => Promise<boolean>,
): Promise<boolean> {
  const end = async (access: PersonAccess) => ((await isWanted()) ? await host.forget(access) : KEPT)
  const { status } = await credentials.ask(person, end, record)
  return status !== 'unavailable' && status !== 'rate_limited'
}

const KEPT: PersonAnswer<null> = { status: 'unavailable', retryAfterSeconds: null }

function forgotten({ v, uk, cred }: PersonRecord, after: Pick<PersonRecord, 'forgottenAt' | 'since'>): PersonRecord {
  return { v, uk, ...after, host: null, cred, sessions: [], tokens: [] }
}
