import type { Clock } from '#core/ports/system.ts'
import type { Family, GrantRecord, Records } from './records.ts'
import type { RecordId } from './token-text.ts'

/** Grants of one person that are read at most. Those that ended are there until a sweep removes them. */
export const RECORDS_PER_PERSON = 1_000

/** Whether an app can still read in the name of the person. */
export async function hasActiveGrant(
  { records, clock }: { records: Pick<Records, 'grantsOf'>; clock: Clock },
  person: RecordId,
): Promise<boolean> {
  const now = clock.now()
  return (await records.grantsOf(person, RECORDS_PER_PERSON)).some(grant => isActive(grant, now))
}

/** Whether some app can still read by the grant. Of one that ended, a record without families may be left. */
export function isActive(record: GrantRecord, now: Date): boolean {
  return activeFamilies(record, now).length > 0
}

export function activeFamilies({ families }: GrantRecord, now: Date): Family[] {
  return families.filter(family => endOf(family) > now.getTime())
}

/** When the family ends, unless it is refreshed. Milliseconds since 1970. */
export function endOf({ exp, idleExp }: Family): number {
  return Math.min(Date.parse(exp), Date.parse(idleExp))
}
