import { GRANTS_PER_PERSON } from '#core/limits.ts'
import type { PeopleHost } from '#core/ports/people-host.ts'
import type { Foundation } from './foundation.ts'
import type { HostCredentials } from './host-credentials.ts'
import type { PersonRecord } from './records.ts'
import { type Locator, newLocator } from './token-text.ts'

export interface ForgetOptions {
  foundation: Pick<Foundation, 'records' | 'clock' | 'random'>
  host: Pick<PeopleHost, 'forget'>
  credentials: Pick<HostCredentials, 'ask'>
}

/**
 * Deletes all data of the person, and ends their authorization of the App at the host.
 *
 * @returns `pending`: the host could not be asked. Only the credential is left, sealed, for `forgetAtHost`
 */
export async function forget(options: ForgetOptions, person: Locator): Promise<'done' | 'pending'> {
  const { records, clock, random } = options.foundation
  const isEnded = await endAtHost(options, person)
  const removeGrants = async () => {
    for (;;) {
      const grants = await records.grantsOf(person, GRANTS_PER_PERSON)
      if (grants.length === 0) break
      for (const grant of grants) await records.grants.remove(person, grant.id)
    }
  }
  await removeGrants()
  // Another `since`: approvals of before are void.
  const after = { forgottenAt: clock.now().toISOString(), since: newLocator(random) }
  if (isEnded) await records.people.remove(person)
  else await records.people.update([person], record => record && forgotten(record, after))
  // A code that was redeemed meanwhile made a grant, which saw the record; nothing later does.
  await removeGrants()
  return isEnded ? 'done' : 'pending'
}

/** Asks the host again for a person who had everything deleted, and removes what was left for that. */
export async function forgetAtHost(options: ForgetOptions, { uk, forgottenAt }: PersonRecord): Promise<void> {
  if (await endAtHost(options, uk)) await options.foundation.records.people.removeIf([uk], one => one.forgottenAt === forgottenAt)
}

/** Whether the host has ended the authorization, or accepts the credential no longer, so that it cannot be asked. */
async function endAtHost({ host, credentials }: ForgetOptions, person: Locator): Promise<boolean> {
  const { status } = await credentials.ask(person, access => host.forget(access))
  return status !== 'unavailable' && status !== 'rate_limited'
}

function forgotten({ v, uk, cred }: PersonRecord, after: Pick<PersonRecord, 'forgottenAt' | 'since'>): PersonRecord {
  return { v, uk, ...after, host: null, cred, sessions: [], tokens: [] }
}
